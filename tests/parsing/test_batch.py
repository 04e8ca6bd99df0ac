"""Batches in, parses out: the same trees however the input is cut, and a derivation that tells how they came about."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import DataError, InputError, ModelError
from easyfirst.model.parser_config import NetworkConfig, preset
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.parser_weights import Sizes, initial_parser
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.batch import BatchParser, _batches, check_tags
from easyfirst.parsing.engine import Engine, easiest
from easyfirst.results.parses import Parse
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree, find_cycle
from tests.derivations import derivation_of

DATA = Path(__file__).parent.parent / "data"
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}
FORMS = ["Do", "n't", "salt", "soup", "the", ".", "zebra", "1", "👩‍🍳", "10\u00a0000", "ספר"]


def small_parser(*, seed: int = 0, tags: str = "upos", name: str = "paper") -> BatchParser:
    config = preset(name, network={**SMALL, "tags": tags})
    vocabulary = ParserVocabulary.of(read_conllu(DATA / "multiword.conllu"), tag_kinds=config.network.tag_kinds)
    arrays = initial_parser(config.network, sizes_of(vocabulary, config.network), np.random.default_rng(seed))
    return BatchParser.of(arrays, config, vocabulary)


def sizes_of(vocabulary: ParserVocabulary, network: NetworkConfig) -> Sizes:
    tags = {kind: len(vocabulary.tags[kind]) + 1 for kind in network.tag_kinds}
    return Sizes(len(vocabulary.words) + 1, tags, len(vocabulary.relations))


def tagged(forms: list[str]) -> Sentence:
    return Sentence.from_words(forms, upos=["NOUN"] * len(forms))


def assert_is_tree(parse: Parse) -> None:
    assert parse.heads.count(0) == 1
    assert not find_cycle(parse.heads)
    assert len(parse.heads) == len(parse.relations) == len(parse.sentence)


@pytest.fixture(scope="module")
def parser() -> BatchParser:
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
    parses = parser.parse(given_sentences, batch_size=batch_size, max_words=max_words)
    assert [parse.sentence for parse in parses] == given_sentences
    assert parses == [parser.parse([sentence])[0] for sentence in given_sentences]
    for parse in parses:
        assert_is_tree(parse)


def test_the_derivation_is_that_of_the_engine(parser: BatchParser) -> None:
    given_sentences = [tagged(FORMS[:n]) for n in (5, 3, 1)]
    ids = parser.vocabulary.encode(given_sentences)
    vectors = encode_words(NUMPY, parser.engine.members[0].network.words, ids, Packing.of([5, 3, 1]))
    derivations = parser.engine.run(vectors, [5, 3, 1], easiest)
    for number, parse in enumerate(parser.parse(given_sentences)):
        assert parse.derivation == tuple(derivation_of(derivations, number, parser.vocabulary.relations))


def test_the_derivation_rebuilds_the_tree(parser: BatchParser) -> None:
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


def test_the_root_has_the_root_relation(parser: BatchParser) -> None:
    [parse] = parser.parse([tagged(FORMS)])
    assert parse.relations[parse.tree.root - 1] == "root"


def test_sentences_of_one_word_need_no_step(parser: BatchParser) -> None:
    parses = parser.parse([tagged(["Yes"]), tagged(["No"])])
    assert [(parse.heads, parse.relations, parse.derivation) for parse in parses] == [((0,), ("root",), ())] * 2


def test_a_sentence_longer_than_a_batch_goes_alone(parser: BatchParser) -> None:
    long = tagged(["salt"] * 2000)
    short = tagged(["soup", "."])
    parses = parser.parse([short, long, short], max_words=100)
    assert [len(parse) for parse in parses] == [2, 2000, 2]
    assert_is_tree(parses[1])


def test_no_sentences(parser: BatchParser) -> None:
    assert parser.parse([]) == []


def test_batch_size_must_be_positive(parser: BatchParser) -> None:
    with pytest.raises(InputError, match="batch_size is 0"):
        parser.parse([tagged(["a"])], batch_size=0)


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 6), st.integers(1, 50))
def test_batches_are_bounded_sorted_and_complete(lengths: list[int], batch_size: int, max_words: int) -> None:
    batches = list(_batches(lengths, batch_size=batch_size, max_words=max_words))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        sizes = [lengths[number] for number in batch]
        assert sizes == sorted(sizes, reverse=True)
        assert 1 <= len(batch) <= batch_size
        assert sum(sizes) <= max_words or len(batch) == 1


def test_weights_of_an_engine_made_elsewhere(parser: BatchParser) -> None:
    engine = Engine(parser.engine.members[0].network)
    assert BatchParser(engine, parser.vocabulary).parse([tagged(FORMS)]) == parser.parse([tagged(FORMS)])


def test_arrays_of_a_model() -> None:
    config = preset("paper", network={**SMALL, "tags": "none"})
    vocabulary = ParserVocabulary.of(read_conllu(DATA / "multiword.conllu"), tag_kinds=())
    arrays = initial_parser(config.network, sizes_of(vocabulary, config.network), np.random.default_rng(1))
    parser = BatchParser.of(arrays, config, vocabulary)
    assert parser.tag_kinds == ()
    assert parser.engine.members[0].network.n_slots == network_of(arrays, rnn="lstm").n_slots
    assert_is_tree(parser.parse([Sentence.from_words(FORMS)])[0])


class TestParse:
    @pytest.fixture
    def parse(self, parser: BatchParser) -> Parse:
        return parser.parse(list(read_conllu(DATA / "multiword.conllu")))[0]

    def test_only_heads_and_relations_are_written(self, parse: Parse) -> None:
        before = parse.sentence.to_bytes().decode().split("\n")
        after = parse.to_conllu().split("\n")
        assert parse.to_bytes() == parse.to_conllu().encode()
        for old, new in zip(before, after, strict=True):
            old_cells, new_cells = old.split("\t"), new.split("\t")
            if old_cells[0].isdigit():
                m = int(old_cells[0])
                old_cells[6:8] = str(parse.heads[m - 1]), parse.relations[m - 1]
            assert old_cells == new_cells

    def test_deps_on_request(self, parse: Parse) -> None:
        rows = [line.split("\t") for line in parse.to_conllu(deps=True).split("\n") if line[:1].isdigit()]
        assert [row[8] for row in rows if row[0].isdigit()] == [
            f"{head}:{relation}" for head, relation in zip(parse.heads, parse.relations, strict=True)
        ]

    def test_tree_and_words(self, parse: Parse) -> None:
        assert parse.tree == Tree(parse.heads, parse.relations)
        assert tuple(word.head for word in parse.words) == parse.heads
        assert tuple(word.relation for word in parse.words) == parse.relations
        assert parse.words[2].lemma == "salt"
        assert len(parse) == 6

    def test_the_sentence_keeps_its_own_tree(self, parse: Parse) -> None:
        assert parse.sentence.heads == (3, 3, 0, 5, 3, 3)

    def test_frozen_and_without_a_dictionary(self, parse: Parse) -> None:
        with pytest.raises(FrozenInstanceError):
            parse.heads = ()  # pyright: ignore[reportAttributeAccessIssue]
        assert not hasattr(parse, "__dict__")
        assert parse in {parse}

    def test_how_it_looks(self, parser: BatchParser) -> None:
        [parse] = parser.parse([tagged(["the", "zebra"])])
        root = parse.tree.root
        heads, relation = ("(0, 1)", parse.relations[1]) if root == 1 else ("(2, 0)", parse.relations[0])
        relations = ("root", relation) if root == 1 else (relation, "root")
        assert repr(parse) == f"Parse('the zebra', heads={heads}, relations={relations})"
        assert str(parse).split("\n") == [
            f"1 the   {parse.heads[0]} {parse.relations[0]}",
            f"2 zebra {parse.heads[1]} {parse.relations[1]}",
        ]


class TestCheckTags:
    def test_from_no_file(self) -> None:
        with pytest.raises(InputError, match=r"needs UPOS tags and this sentence has none.*'a'.*pairs.*--tags none"):
            check_tags(Sentence.from_words(["a", "b"]), ("upos",))

    def test_both_kinds(self) -> None:
        sentence = Sentence.from_words(["a"], upos=["X"])
        check_tags(sentence, ("upos",))
        with pytest.raises(InputError, match=r"needs XPOS tags.*\(word, upos, xpos\) triples"):
            check_tags(sentence, ("upos", "xpos"))

    def test_from_a_file(self) -> None:
        sentence = next(read_conllu(DATA / "scripts.conllu"))
        with pytest.raises(DataError, match=r"scripts\.conllu:3: the model needs XPOS tags") as caught:
            check_tags(sentence, ("xpos",))
        assert caught.value.line == 3

    def test_one_tag_is_enough(self) -> None:
        check_tags(Sentence.from_words(["a", "b"], upos=[None, "X"]), ("upos",))

    def test_no_tags_needed(self) -> None:
        check_tags(Sentence.from_words(["a", "b"]), ())


def test_scores_that_are_not_finite_are_no_tree() -> None:
    parser = small_parser()
    parser.engine.members[0].output_bias[:] = -np.inf
    with np.errstate(invalid="ignore"), pytest.raises(ModelError, match="not finite"):
        parser.parse([tagged(FORMS)])


def test_no_tag_is_a_tag_to_a_vocabulary_that_knows_it() -> None:
    untagged = Sentence.from_words(["a", "b"], heads=[2, 0], relations=["x", "root"])
    check_tags(untagged, ("upos",), ParserVocabulary.of([untagged], tag_kinds=["upos"]))
    tagged = Sentence.from_words(["a"], upos=["X"], heads=[0], relations=["root"])
    with pytest.raises(InputError, match="needs UPOS"):
        check_tags(untagged, ("upos",), ParserVocabulary.of([tagged], tag_kinds=["upos"]))
