"""The bundled model in the core: the same tokens, tags and trees as in NumPy, but for rounding."""

from __future__ import annotations

import pickle
from functools import cache

import pytest

from easyfirst import load
from easyfirst.constraints.records import Constraints
from easyfirst.parser import Parser
from easyfirst.parsing.engine import NumpyEngine
from easyfirst.parsing.native_engine import NativeEngine
from easyfirst.treebank.conllu import read_conllu
from tests.native.cores import BYTES, each_precision
from tests.small_models import TREEBANK

TEXT = """The quick brown fox didn't jump over the lazy dog; it walked around it, slowly. "Who's there?" she asked.
Dr. Smith, who lives in Washington D.C., paid $3.50 for 2 coffees at 9:30 a.m. -- too much, he'd say! See
http://example.com/a?b=c or write to me@example.com.

I saw the man with the telescope. They gave her cat food :-) Colorless green ideas sleep furiously, don't they?
"""


@cache
def parser(engine: str, precision: str = "float32") -> Parser:
    return load("en", engine=engine, precision=precision)


def toy_sentences() -> list[list[str]]:
    return [list(sentence.forms) for sentence in read_conllu(TREEBANK.with_name("dev.conllu"))][:200]


def test_float32_gives_the_same_document() -> None:
    expected, found = parser("numpy")(TEXT), parser("native")(TEXT)
    assert len(expected.sentences) > 5
    assert found.to_conllu() == expected.to_conllu()


def test_float32_gives_the_same_trees_and_tags() -> None:
    sentences = toy_sentences()
    expected, found = parser("numpy").parse(sentences), parser("native").parse(sentences)
    for one, other in zip(expected, found, strict=True):
        assert (other.heads, other.relations, other.sentence) == (one.heads, one.relations, one.sentence)
        for a, b in zip(one.derivation, other.derivation, strict=True):
            assert (b.step, b.head, b.modifier, b.relation) == (a.step, a.head, a.modifier, a.relation)
            assert b.score == pytest.approx(a.score, abs=1e-4)
            assert b.margin == pytest.approx(a.margin, abs=1e-4)
            assert b.label_margin == pytest.approx(a.label_margin, abs=1e-4)


@pytest.mark.parametrize("precision", BYTES)
def test_weights_of_8_bits_change_few_arcs(precision: str) -> None:
    sentences = toy_sentences()
    expected, found = parser("numpy").parse(sentences), parser("native", precision).parse(sentences)
    before = [arc for parse in expected for arc in zip(parse.heads, parse.relations, strict=True)]
    after = [arc for parse in found for arc in zip(parse.heads, parse.relations, strict=True)]
    n_wrong = sum(one != other for one, other in zip(before, after, strict=True))
    assert n_wrong <= len(before) * (0.01 if precision == "int8" else 0.04)


@each_precision
def test_the_engine_is_the_core(precision: str) -> None:
    assert isinstance(parser("native", precision)._engine, NativeEngine)
    assert isinstance(parser("numpy")._engine, NumpyEngine)


WORDS = ["They", "gave", "her", "cat", "food"]


def test_constraints_use_numpy() -> None:
    """Only sentences with constraints do; the others are parsed as if they were alone."""
    known = Constraints.of(heads={4: 2})
    [expected] = parser("numpy").parse([WORDS], constraints=[known])
    native = parser("native", "int8")
    found, free = native.parse([WORDS, WORDS], constraints=[known, None])
    assert found.heads[3] == 2
    assert found.derivation == expected.derivation
    assert free.derivation == native.parse([WORDS])[0].derivation


@each_precision
def test_an_explanation_is_that_of_the_parse(precision: str) -> None:
    """Every step shows what the core chose, among the alternatives that it had."""
    native = parser("native", precision)
    explained = native.explain(WORDS, runners_up=100)
    assert explained.parse.derivation == native.parse([WORDS])[0].derivation
    for step, attachment in zip(explained.steps, explained.parse.derivation, strict=True):
        assert step.attachment == attachment
        assert max(other.score for other in step.runners_up) <= attachment.score
        assert step.rival is not None
        assert attachment.score - step.rival.score == pytest.approx(attachment.margin, abs=1e-5)


def test_explanations_are_those_of_numpy() -> None:
    def shown(engine: str) -> list[object]:
        steps = parser(engine).explain(WORDS).steps
        return [
            (step.pending, [(other.head, other.modifier, other.relation) for other in step.runners_up])
            for step in steps
        ]

    assert shown("native") == shown("numpy")


@each_precision
def test_a_parser_can_be_pickled(precision: str) -> None:
    native = parser("native", precision)
    copy = pickle.loads(pickle.dumps(native))
    assert isinstance(copy._engine, NativeEngine)
    assert copy(TEXT).to_conllu(confidence=True) == native(TEXT).to_conllu(confidence=True)
