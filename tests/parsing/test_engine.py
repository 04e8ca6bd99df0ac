"""Sentences in, derivations out: the same trees however the input is cut, and a derivation that rebuilds them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import InputError, ModelError
from easyfirst.native.backend import Backend
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parser import Parser
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.engine import NumpyEngine
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.parsing.finishing import finish
from easyfirst.results.parses import Parse
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import find_cycle
from tests.derivations import derive
from tests.parsing.small_parsers import FORMS, engine_of, small_parser, tagged


def assert_is_tree(parse: Parse) -> None:
    assert parse.heads.count(0) == 1
    assert not find_cycle(parse.heads)
    assert len(parse.heads) == len(parse.relations) == len(parse.sentence)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return small_parser()


# Words the vocabulary knows, each once in a sentence: equal windows have equal scores, and a tie may go either way.
KNOWN = ["Do", "n't", "salt", "the", "soup", ".", "Ana", "cooks", "rice", "and", "#"]
sentences = st.lists(st.lists(st.sampled_from(KNOWN), min_size=1, max_size=9, unique=True), max_size=12)


@settings(max_examples=30, deadline=None)
@given(
    forms=sentences,
    batch_size=st.integers(1, 5),
    max_words=st.integers(1, 20),
    seed=st.integers(0, 20),
    name=st.sampled_from(["bottom-up", "htlstm", "paper"]),
)
def test_every_way_to_cut_the_input_gives_the_same_trees(
    forms: list[list[str]], batch_size: int, max_words: int, seed: int, name: str
) -> None:
    parser = small_parser(seed=seed, name=name)
    given_sentences = [tagged(words) for words in forms]
    parses = parser.parse(given_sentences, batch_size=batch_size)
    assert [parse.sentence for parse in parses] == given_sentences
    assert parses == [parser.parse([sentence])[0] for sentence in given_sentences]
    for parse in parses:
        assert_is_tree(parse)
    derivations = engine_of(parser).derive(given_sentences, batch_size=batch_size, max_words=max_words)
    assert [finish(derivation) for derivation in derivations] == [(parse.heads, parse.relations) for parse in parses]


def test_the_derivation_is_that_of_the_loop(parser: Parser) -> None:
    given_sentences = [tagged(FORMS[:n]) for n in (5, 3, 1)]
    vocabulary, network = parser.model.vocabulary, network_of(parser.model.arrays, rnn="lstm")
    vectors = encode_words(NUMPY, network.words, vocabulary.encode(given_sentences), Packing.of([5, 3, 1]))
    found = derive([network], vectors, [5, 3, 1], vocabulary.relations)
    assert [list(parse.derivation) for parse in parser.parse(given_sentences)] == found


def test_the_derivation_rebuilds_the_tree(parser: Parser) -> None:
    [parse] = parser.parse([tagged(FORMS)])
    steps = parse.derivation
    assert [attachment.step for attachment in steps] == list(range(1, len(FORMS)))
    root = parse.tree.root
    assert sorted(attachment.modifier for attachment in steps) == [m for m in range(1, len(FORMS) + 1) if m != root]
    for attachment in steps:
        assert parse.heads[attachment.modifier - 1] == attachment.head
        assert parse.relations[attachment.modifier - 1] == attachment.relation
        assert attachment.direction == ("left" if attachment.modifier < attachment.head else "right")
        assert math.isfinite(attachment.score)
        assert attachment.margin >= 0


def test_the_root_has_the_root_relation(parser: Parser) -> None:
    [parse] = parser.parse([tagged(FORMS)])
    assert parse.relations[parse.tree.root - 1] == "root"


def test_sentences_of_one_word_need_no_step(parser: Parser) -> None:
    parses = parser.parse([tagged(["Yes"]), tagged(["No"])])
    assert [(parse.heads, parse.relations, parse.derivation) for parse in parses] == [((0,), ("root",), ())] * 2


def test_a_sentence_longer_than_a_batch_goes_alone(parser: Parser) -> None:
    long = tagged(["salt"] * 2000)
    short = tagged(["soup", "."])
    sizes: list[int] = []
    derivations = engine_of(parser).derive(
        [short, long, short], max_words=100, wrap=lambda numbers, choose: sizes.append(len(numbers)) or choose
    )
    assert sizes == [1, 2]
    assert [len(derivation.modifiers) for derivation in derivations] == [1, 1999, 1]


def test_no_sentences(parser: Parser) -> None:
    assert parser.parse([]) == []


def test_batch_size_must_be_positive(parser: Parser) -> None:
    with pytest.raises(InputError, match="batch_size is 0"):
        parser.parse([tagged(["a"])], batch_size=0)


@pytest.mark.parametrize("is_native", [False, True])
def test_the_scores_of_all_relations(parser: Parser, is_native: bool) -> None:
    vocabulary = parser.model.vocabulary
    backend = Backend.choose(None if is_native else "numpy", "float32" if is_native else None)
    engine = make_engine(parser.model.arrays, parser.config, vocabulary, backend)
    for derivation in engine.derive([tagged(FORMS[:n]) for n in (5, 1, 7)]):
        scores = derivation.relation_scores
        assert scores is not None
        assert scores.shape == (len(derivation.modifiers), len(vocabulary.relations))
        assert scores.argmax(axis=1).tolist() == [vocabulary.relations.index(name) for name in derivation.relations]
        np.testing.assert_array_equal(scores.max(axis=1, initial=-np.inf), derivation.scores)
        others = np.sort(scores, axis=1)[:, -2]
        np.testing.assert_array_equal(derivation.scores - others, derivation.label_margins)
        assert derivation.without_relation_scores().relation_scores is None


def test_an_engine_of_networks() -> None:
    parser = small_parser(tags="none")
    engine = NumpyEngine(parser.model.vocabulary, network_of(parser.model.arrays, rnn="lstm"))
    [derivation] = engine.derive([Sentence.from_words(FORMS)])
    [parse] = parser.parse([FORMS])
    assert derivation.attachments() == parse.derivation
    assert_is_tree(parse)


def test_scores_that_are_not_finite_are_no_tree() -> None:
    parser = small_parser()
    parser.model.arrays["scorer.unlabelled_bias"][:] = -np.inf
    with np.errstate(invalid="ignore"), pytest.raises(ModelError, match="not finite"):
        engine_of(parser).derive([tagged(FORMS)])


class TestFinish:
    @pytest.fixture
    def derivation(self, parser: Parser) -> Derivation:
        return engine_of(parser).derive([tagged(FORMS)])[0]

    def test_the_root_is_the_word_that_was_never_attached(self, derivation: Derivation) -> None:
        heads, relations = finish(derivation)
        assert heads.index(0) + 1 == derivation.root
        assert relations[derivation.root - 1] == derivation.root_relation == "root"

    def test_a_fixed_relation_of_the_root_leaves_the_derivation_as_it_is(self, derivation: Derivation) -> None:
        before = derivation.attachments()
        others = dict.fromkeys(range(1, len(FORMS) + 1), "dep")
        heads, relations = finish(derivation, others)
        assert heads == finish(derivation)[0]
        assert relations[derivation.root - 1] == "dep"
        assert relations.count("dep") == 1
        assert derivation.attachments() == before
