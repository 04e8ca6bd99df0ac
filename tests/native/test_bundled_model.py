"""The bundled model in the core: the same tokens, tags and trees as in NumPy, but for rounding."""

from __future__ import annotations

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
    pairs = [
        pair
        for one, other in zip(expected, found, strict=True)
        for pair in zip(zip(one.heads, one.relations), zip(other.heads, other.relations), strict=True)
    ]
    n_wrong = sum(one != other for one, other in pairs)
    assert n_wrong <= len(pairs) * (0.01 if precision == "int8" else 0.04)


@each_precision
def test_the_engine_is_the_core(precision: str) -> None:
    assert isinstance(parser("native", precision)._engine, NativeEngine)
    assert isinstance(parser("numpy")._engine, NumpyEngine)


def test_constraints_and_explanations_use_numpy() -> None:
    native, by_numpy = parser("native"), parser("numpy")
    words = ["They", "gave", "her", "cat", "food"]
    known = Constraints.of(heads={4: 2})
    [expected] = by_numpy.parse([words], constraints=[known])
    [found] = native.parse([words], constraints=[known])
    assert found.heads[3] == 2
    assert (found.heads, found.relations) == (expected.heads, expected.relations)
    assert native.explain(words).steps == by_numpy.explain(words).steps
