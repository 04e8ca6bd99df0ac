"""Batches: sentences longest first, their gold trees over the batch's rows, and words that become unknown by chance."""

from __future__ import annotations

import numpy as np
import pytest

from easyfirst.model.lexicon import UNKNOWN
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.nn.words import WordIds
from easyfirst.parsing.oracle import Gold
from easyfirst.training.corpus import ParserCorpus, drop_words, unknown_probabilities
from easyfirst.treebank.sentence import Sentence

SENTENCES = [
    Sentence.from_words(["Foxes", "jump"], ["N", "V"], heads=[2, 0], relations=["nsubj", "root"]),
    Sentence.from_words(["Go"], ["V"], heads=[0], relations=["root"]),
    Sentence.from_words(
        ["a", "fox", "saw", "dogs"], list("DNVN"), heads=[2, 3, 0, 3], relations=["d", "nsubj", "root", "obj"]
    ),
    Sentence.from_words(["dogs", "bark"], ["N", "V"], heads=[0, 1], relations=["root", "obj"]),
]
NEVER = np.zeros(100)


@pytest.fixture
def vocabulary() -> ParserVocabulary:
    return ParserVocabulary.of(SENTENCES, tag_kinds=["upos"], external=["fox", "dogs"])


def test_a_batch_has_its_sentences_longest_first_and_its_gold_in_rows(vocabulary: ParserVocabulary) -> None:
    corpus = ParserCorpus(SENTENCES, vocabulary)
    batch = corpus.batch(np.array([1, 3, 2, 0]), unknown_prob=NEVER, rng=np.random.default_rng(0))
    ordered = [SENTENCES[number] for number in (2, 3, 0, 1)]  # of equal lengths in the order asked for
    assert len(corpus) == 4
    assert batch.lengths.tolist() == [4, 2, 2, 1]
    assert batch.n_words == 9
    numbers = {relation: number for number, relation in enumerate(vocabulary.relations)}
    gold = Gold.of(
        [sentence.heads for sentence in ordered],  # pyright: ignore[reportArgumentType]
        [[numbers.get(relation or "", 0) for relation in sentence.relations] for sentence in ordered],
    )
    assert batch.gold.heads.tolist() == gold.heads.tolist() == [1, 2, 9, 2, 9, 4, 7, 9, 9, 9]
    not_roots = gold.heads != 9
    assert batch.gold.relations[not_roots].tolist() == gold.relations[not_roots].tolist()
    expected = vocabulary.encode(ordered)
    assert batch.ids.words.tolist() == expected.words.tolist()
    assert batch.ids.external is not None
    assert expected.external is not None
    assert batch.ids.external.tolist() == expected.external.tolist()
    assert [tags.tolist() for tags in batch.ids.tags] == [tags.tolist() for tags in expected.tags]


def test_what_is_not_known_of_a_tree() -> None:
    sentence = Sentence.from_words(["a", "b", "c"], heads=[2, None, 2], relations=["x", "y", None])
    vocabulary = ParserVocabulary.of([sentence], tag_kinds=[])
    assert vocabulary.relations == ("x",)
    batch = ParserCorpus([sentence], vocabulary).batch(np.array([0]), unknown_prob=NEVER, rng=np.random.default_rng(0))
    assert batch.gold.heads.tolist() == [1, 4, 1, 3]
    assert batch.gold.relations[[0, 2]].tolist() == [0, -1]


def test_part_of_a_corpus_can_be_a_batch(vocabulary: ParserVocabulary) -> None:
    batch = ParserCorpus(SENTENCES, vocabulary).batch(np.array([1]), unknown_prob=NEVER, rng=np.random.default_rng(0))
    assert batch.lengths.tolist() == [1]
    assert batch.gold.heads.tolist() == [1, 1]


def test_a_batch_spells_the_forms_it_has() -> None:
    """As encoding these sentences alone does, whatever other forms the corpus has."""
    vocabulary = ParserVocabulary.of(SENTENCES, tag_kinds=["upos"], reads_characters=True)
    batch = ParserCorpus(SENTENCES, vocabulary).batch(
        np.array([3, 0]), unknown_prob=NEVER, rng=np.random.default_rng(0)
    )
    expected = vocabulary.encode([SENTENCES[3], SENTENCES[0]])
    assert batch.ids.spelling is not None
    assert expected.spelling is not None
    assert batch.ids.forms is not None
    assert expected.forms is not None
    assert batch.ids.forms.tolist() == expected.forms.tolist()
    assert batch.ids.spelling.lengths.tolist() == expected.spelling.lengths.tolist()
    assert batch.ids.spelling.characters.tolist() == expected.spelling.characters.tolist()
    assert len(expected.spelling) == len({form for n in (3, 0) for form in SENTENCES[n].forms})


def test_cutting_batches_leaves_the_corpus_as_it_was(vocabulary: ParserVocabulary) -> None:
    corpus = ParserCorpus(SENTENCES, vocabulary)
    kept = corpus.ids.words.copy()
    batch = corpus.batch(np.arange(4), unknown_prob=np.ones(100), rng=np.random.default_rng(0))
    assert (batch.ids.words == UNKNOWN).all()
    assert np.array_equal(corpus.ids.words, kept)


def test_the_probability_of_becoming_unknown_is_the_papers() -> None:
    counts = np.array([0, 1, 3, 100])
    np.testing.assert_allclose(unknown_probabilities(counts, 0.25)[1:], [0.25 / (n + 0.25) for n in (1, 3, 100)])
    assert unknown_probabilities(counts, 0.25)[UNKNOWN] == 0  # it cannot become more unknown
    assert unknown_probabilities(counts, 0.0).tolist() == [0, 0, 0, 0]  # and nothing is dropped without alpha


def test_words_become_unknown_as_often_as_they_should() -> None:
    n = 20_000
    prob = unknown_probabilities(np.array([0, 1, 3, 100]), 0.25)
    words = np.repeat([1, 2, 3], n)
    ids = WordIds(words, None, (words + 4,))
    dropped = drop_words(ids, prob, np.random.default_rng(1))
    assert set(dropped.words[dropped.words != words]) == {UNKNOWN}
    for row in (1, 2, 3):
        share = (dropped.words[words == row] == UNKNOWN).mean()
        assert abs(share - prob[row]) < 4.5 * np.sqrt(prob[row] * (1 - prob[row]) / n)
    assert dropped.external is None
    assert np.array_equal(dropped.tags[0], words + 4)  # tags stay


def test_half_of_the_unknown_words_lose_their_external_vector_too() -> None:
    n = 20_000
    ids = WordIds(np.full(n, 1), np.full(n, 7), ())
    dropped = drop_words(ids, np.array([0, 0.5]), np.random.default_rng(1))
    assert dropped.external is not None
    is_unknown = dropped.words == UNKNOWN
    assert (dropped.external[~is_unknown] == 7).all()
    assert abs((dropped.external[is_unknown] == UNKNOWN).mean() - 0.5) < 0.03


def test_rare_words_that_the_vocabulary_leaves_out_keep_their_external_vector() -> None:
    vocabulary = ParserVocabulary.of(SENTENCES, tag_kinds=["upos"], external=["fox", "dogs"], min_count=2)
    corpus = ParserCorpus(SENTENCES, vocabulary)
    prob = unknown_probabilities(vocabulary.counts, 0.25)
    fox = vocabulary.encode(SENTENCES).external
    assert fox is not None
    for seed in range(20):
        batch = corpus.batch(np.array([2]), unknown_prob=prob, rng=np.random.default_rng(seed))
        assert batch.ids.words[1] == UNKNOWN
        assert batch.ids.external is not None
        assert batch.ids.external[1] == fox[4] != UNKNOWN
