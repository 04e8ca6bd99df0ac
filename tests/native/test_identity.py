"""A sentence's derivation is the same to the bit whatever it is parsed with, and however."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst import load
from easyfirst.model.lexicon import tags_of
from easyfirst.native.backend import Backend
from easyfirst.native.compiled import Members, Steps
from easyfirst.native.encoder import Given
from easyfirst.native.library import Core
from easyfirst.nn.arrays import Ints
from easyfirst.nn.words import WordIds
from easyfirst.parser import Parser
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.native.cores import ALL_PRECISIONS, ISAS, each_isa, each_precision, the_core
from tests.native.networks import LivelyModel, ensemble, lstm_models, random_ids, small_config
from tests.nn.random_models import Model
from tests.parsing.small_parsers import small_parser
from tests.small_models import TREEBANK

LENGTHS = [31, 24, 24, 17, 9, 9, 9, 8, 7, 6, 5, 4, 4, 4, 3, 3, *[2] * 40, *[1] * 20]


def bits(steps: Sequence[np.ndarray], rows: slice | None = None) -> list[bytes]:
    return [array[rows or slice(None)].tobytes() for array in steps]


def some_words(ids: WordIds, rows: Ints) -> WordIds:
    external = None if ids.external is None else ids.external[rows]
    forms = None if ids.forms is None else ids.forms[rows]
    return WordIds(ids.words[rows], external, tuple(tags[rows] for tags in ids.tags), forms, ids.spelling)


@each_isa
@each_precision
@pytest.mark.parametrize("n_members", [1, 2])
def test_groups_and_rows_change_nothing(isa: str, precision: str, n_members: int) -> None:
    model = LivelyModel(small_config(), 1, n_relations=7)
    members = Members(the_core(isa), ensemble(model, n_members), precision)
    words = Given.of_words(LENGTHS, random_ids(model, sum(LENGTHS), 1))
    expected = bits(members.parse(words, group=1, rows=1))
    for group in (1, 2, 5, 16, 64, 1000):
        for rows in (1, 2, 3, 5, 8, 12, 100) if group in (1, 16) else (1, 4):
            assert bits(members.parse(words, group=group, rows=rows)) == expected, (group, rows)


@each_isa
@each_precision
def test_a_sentence_alone_and_among_others(isa: str, precision: str) -> None:
    model = LivelyModel(small_config(window=2, tree_layers=1), 2, n_relations=5)
    members, ids = Members(the_core(isa), [model.network], precision), random_ids(model, sum(LENGTHS), 2)
    together = members.parse(Given.of_words(LENGTHS, ids))
    start = 0
    for length in LENGTHS[:20]:
        rows = np.arange(start, start + length)
        alone = members.parse(Given.of_words([length], some_words(ids, rows)))
        assert bits(alone) == bits(together, slice(start, start + length))
        start += length


@settings(max_examples=40, deadline=None)
@given(
    model=lstm_models(),
    lengths=st.lists(st.integers(1, 20), min_size=1, max_size=12).map(lambda lengths: sorted(lengths, reverse=True)),
    group=st.integers(1, 20),
    rows=st.integers(1, 12),
    precision=st.sampled_from(ALL_PRECISIONS),
    isa=st.sampled_from(ISAS),
)
def test_any_network(model: Model, lengths: list[int], group: int, rows: int, precision: str, isa: str) -> None:
    members = Members(the_core(isa), ensemble(model, 2), precision)
    words = Given.of_words(lengths, random_ids(model, sum(lengths), 3))
    assert bits(members.parse(words, group=group, rows=rows)) == bits(members.parse(words, group=1, rows=1))


@pytest.mark.parametrize("precision", ["int8", "int8-fast"])
def test_machines_with_fused_products_parse_the_same(precision: str) -> None:
    model = LivelyModel(small_config(), 4, n_relations=7)
    words = Given.of_words(LENGTHS, random_ids(model, sum(LENGTHS), 4))
    found: list[Steps] = [
        Members(the_core(isa), [model.network], precision).parse(words) for isa in ISAS if isa != "base"
    ]
    assert all(bits(steps) == bits(found[0]) for steps in found)


@each_precision
def test_the_order_of_sentences_and_the_size_of_batches(core: Core, precision: str) -> None:
    parser, vocabulary = small_parser(), small_parser().model.vocabulary
    engine = make_engine(parser.model.arrays, parser.config, vocabulary, Backend(core, precision))
    words = ["Do", "n't", "salt", "the", "soup", ".", "Ana"]
    sentences = [Sentence.from_words(words[: 1 + n % 7] * (1 + n % 3), upos=None) for n in range(40)]
    expected = [derivation_bits(engine.derive([sentence])[0]) for sentence in sentences]
    for batch_size in (1, 3, 256):
        assert list(map(derivation_bits, engine.derive(sentences, batch_size=batch_size))) == expected
    assert list(map(derivation_bits, engine.derive(sentences[::-1]))) == expected[::-1]


def derivation_bits(derivation: Derivation) -> tuple[object, ...]:
    arrays = (derivation.heads, derivation.modifiers, derivation.scores)
    margins = (derivation.margins, derivation.label_margins, derivation.lost_margins)
    return (derivation.relations, *(array.tobytes() for array in (*arrays, *margins)))


@cache
def bundled(precision: str) -> Parser:
    return load("en", engine="native", precision=precision)


@each_precision
def test_threads_share_a_parser(precision: str) -> None:
    """Eight threads tokenize, tag and parse at once, and start together."""
    parser, n_threads = bundled(precision), 8
    treebank = list(read_conllu(TREEBANK.with_name("dev.conllu")))
    texts = [" ".join(sentence.forms) for sentence in treebank][:48]
    expected = [parser(text).to_conllu(confidence=True) for text in texts]
    barrier = threading.Barrier(n_threads)

    def work(number: int) -> list[str]:
        barrier.wait()
        turned = texts[number:] + texts[:number]
        found = [document.to_conllu(confidence=True) for document in parser.read(turned, batch_size=1 + number * 7)]
        return found[len(texts) - number :] + found[: len(texts) - number]

    with ThreadPoolExecutor(n_threads) as pool:
        for found in pool.map(work, range(n_threads)):
            assert found == expected


@each_precision
def test_tags_do_not_depend_on_other_sentences(precision: str) -> None:
    tagger = bundled(precision).tagger
    assert tagger is not None
    sentences = [Sentence.from_words(sentence.forms) for sentence in read_conllu(TREEBANK)]
    together = tagger.tag(sentences)
    assert [tagger.tag([sentence])[0] for sentence in sentences] == together
    kinds = [kind for kind in tagger.kinds if kind != "feats"]  # where a word may have none
    assert all("_" not in tags_of(sentence, kind) for sentence in together for kind in kinds)
