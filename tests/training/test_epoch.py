"""Epochs with a learner that only pretends: what is explored when, and when the weights change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pytest

from easyfirst.model.lexicon import UNKNOWN
from easyfirst.model.parser_config import ParserConfig, TrainingConfig
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.training.corpus import ParserBatch, ParserCorpus
from easyfirst.training.epoch import MAX_WORDS, MIN_RATE, EpochStats, Teacher
from easyfirst.training.learner import Learner
from easyfirst.treebank.sentence import Sentence

Rule = Callable[[ParserBatch], int]


@dataclass
class Note:
    """A batch that was explored: takes the place of an ``Explored`` and of its explorer."""

    batch: ParserBatch
    n_violations: int

    @property
    def explorer(self) -> Note:
        return self

    @property
    def loss(self) -> float:
        return 0.5 * self.n_violations


class FakeLearner:
    """Writes down what it is asked to do; ``rule`` says how many violations a batch has."""

    def __init__(self, rule: Rule, training: TrainingConfig, seed: int = 1) -> None:
        self.rule = rule
        self.config = ParserConfig(training=training)
        self.rng = np.random.default_rng(seed)
        self.explored: list[Note] = []
        self.updates: list[list[Note]] = []
        self.waiting: list[Note] = []
        self.rate_shares: list[float] = []

    def explore(self, batch: ParserBatch) -> Note:
        self.explored.append(Note(batch, self.rule(batch)))
        return self.explored[-1]

    @property
    def n_waiting(self) -> int:
        return sum(note.n_violations for note in self.waiting)

    def learn(self, explored: Note) -> None:
        self.waiting.append(explored)

    def update(self, *, rate_share: float) -> None:
        self.rate_shares.append(rate_share)
        self.updates.append(self.waiting)
        self.waiting = []


class School:
    """A teacher, its pupil, and sentences of given lengths in which no word comes twice."""

    def __init__(self, lengths: Sequence[int], rule: Rule, **training: Any) -> None:
        self.sentences = [
            Sentence.from_words(
                [f"word-{number}-{m}" for m in range(length)],
                heads=[*range(length)],
                relations=["root", *["next"] * (length - 1)],
            )
            for number, length in enumerate(lengths)
        ]
        self.vocabulary = ParserVocabulary.of(self.sentences, tag_kinds=())
        self.learner = FakeLearner(rule, replace(TrainingConfig(word_dropout=0), **training))
        corpus = ParserCorpus(self.sentences, self.vocabulary)
        self.teacher = Teacher(cast(Learner, self.learner), corpus, self.vocabulary.counts)

    def run_epoch(self) -> EpochStats:
        self.learner.explored.clear()
        self.learner.updates.clear()
        return self.teacher.run_epoch(1, lambda _: None)

    def order(self) -> list[int]:
        """The numbers of the sentences in the order in which they were explored."""
        names = {row: word for word, row in self.vocabulary.words.items()}
        words = [names[row] for note in self.learner.explored for row in note.batch.ids.words.tolist()]
        return [int(word.split("-")[1]) for word in words if word.endswith("-0")]

    def batch_words(self) -> list[int]:
        return [note.batch.n_words for note in self.learner.explored]


def every_word(batch: ParserBatch) -> int:
    return batch.n_words


def never(batch: ParserBatch) -> int:
    return 0


LENGTHS = np.random.default_rng(4).integers(1, 30, size=200).tolist()


@pytest.mark.parametrize("rule", [every_word, never, lambda batch: batch.n_words // 10, lambda batch: 1])
def test_every_sentence_comes_once_in_an_epoch(rule: Rule) -> None:
    school = School(LENGTHS, rule)
    for _ in range(3):
        stats = school.run_epoch()
        assert sorted(school.order()) == list(range(200))
        assert (stats.sentences, stats.words) == (200, sum(LENGTHS))
        assert stats.violations == sum(note.n_violations for note in school.learner.explored)
        assert stats.loss == 0.5 * stats.violations


def test_each_epoch_has_an_order_of_its_own() -> None:
    school, again = School(LENGTHS, every_word), School(LENGTHS, every_word)
    orders = []
    for _ in range(3):
        school.run_epoch()
        again.run_epoch()
        assert school.order() == again.order()  # with the same seed
        orders.append(school.order())
    assert len({tuple(order) for order in orders}) == 3
    assert orders[0] != list(range(200))


@pytest.mark.parametrize("update_after", [0, 1, 20, 50, 333])
@pytest.mark.parametrize("divisor", [1, 3, 10])
def test_an_update_follows_more_violations_than_the_limit(update_after: int, divisor: int) -> None:
    school = School(LENGTHS, lambda batch: batch.n_words // divisor, update_after=update_after)
    for _ in range(3):
        stats = school.run_epoch()
        *updates, last = school.learner.updates
        for update in updates:
            assert sum(note.n_violations for note in update) > update_after
            assert sum(note.n_violations for note in update[:-1]) <= update_after  # and not one batch later
        # all batches, in order, each in one update: what is left at the end of the epoch is used too
        assert [note for update in school.learner.updates for note in update] == school.learner.explored
        assert stats.updates == len(updates) + (sum(note.n_violations for note in last) > 0)


def test_exactly_the_limit_is_not_enough() -> None:
    """Sentences of one violation each, so that none can be skipped over."""
    school = School([1] * 30, every_word, update_after=9)
    for _ in range(5):
        school.run_epoch()
        assert [sum(note.n_violations for note in update) for update in school.learner.updates] == [10, 10, 10]


@pytest.mark.parametrize("rule", [every_word, never, lambda batch: batch.n_words // 10])
def test_batches_of_a_fixed_number_of_sentences(rule: Rule) -> None:
    """Each is an update, however many violations it brings; the last has what is left."""
    school = School(LENGTHS, rule, batch_sentences=12)
    stats = school.run_epoch()
    assert [len(note.batch.lengths) for note in school.learner.explored] == [12] * 16 + [8]
    assert [len(update) for update in school.learner.updates] == [1] * 17
    assert stats.updates == sum(note.n_violations > 0 for note in school.learner.explored)
    assert sorted(school.order()) == list(range(200))


def test_many_sentences_an_update_are_explored_in_parts() -> None:
    """So that they take no more memory than others."""
    school = School([400] * 45, every_word, batch_sentences=22)
    stats = school.run_epoch()
    assert [len(note.batch.lengths) for note in school.learner.explored] == [10, 10, 2, 10, 10, 2, 1]
    assert [len(update) for update in school.learner.updates] == [3, 3, 1]
    assert stats.updates == 3


def test_what_is_left_at_the_end_is_an_update() -> None:
    school = School([3] * 10, lambda batch: len(batch.lengths))
    stats = school.run_epoch()
    assert stats.updates == len(school.learner.updates) == 1
    assert sum(note.n_violations for note in school.learner.updates[0]) == 10


def test_the_rate_falls_in_a_straight_line_over_all_epochs() -> None:
    school = School([2] * 40, lambda batch: len(batch.lengths), update_after=3, epochs=2, final_rate=0.5)
    for number in (1, 2):
        school.teacher.run_epoch(number, lambda _: None)
    shares = school.learner.rate_shares
    n_learnt = np.cumsum([sum(len(note.batch.lengths) for note in update) for update in school.learner.updates])
    assert shares == pytest.approx(1 - 0.5 * n_learnt / 80)
    assert shares[-1] == pytest.approx(0.5)


def test_an_epoch_without_a_violation_has_no_update() -> None:
    school = School(LENGTHS, never)
    assert school.run_epoch().updates == 0


def test_nothing_is_carried_over_into_the_next_epoch() -> None:
    school = School([2] * 30, lambda batch: len(batch.lengths), update_after=1000)
    for _ in range(2):
        school.run_epoch()
        [update] = school.learner.updates
        assert sum(note.n_violations for note in update) == 30


class TestBatchSize:
    def test_in_the_beginning_every_word_is_taken_for_a_violation(self) -> None:
        school = School([1] * 500, every_word, update_after=50)
        school.run_epoch()
        assert school.batch_words()[0] == 44  # 85 % of 51, rounded up
        assert school.batch_words()[1] == 6  # and 85 % of the 7 that are still wanted

    def test_batches_grow_as_violations_get_rarer(self) -> None:
        school = School([10] * 3000, every_word)
        sizes = []
        for divisor in (1, 5, 25, 125):
            school.learner.rule = lambda batch, divisor=divisor: batch.n_words // divisor
            school.run_epoch()
            school.run_epoch()  # the first one learns the rate
            assert school.teacher.violation_rate == pytest.approx(1 / divisor, rel=0.2)
            sizes.append(max(school.batch_words()))
        assert sizes == sorted(sizes)
        assert sizes[0] <= 60
        assert 150 < sizes[1] < 300
        assert 800 < sizes[2] < 1300
        assert sizes[3] == MAX_WORDS

    def test_batches_shrink_again(self) -> None:
        school = School([10] * 2000, never)
        for _ in range(10):
            school.run_epoch()
        assert max(school.batch_words()) == MAX_WORDS
        school.learner.rule = every_word
        school.run_epoch()
        assert school.batch_words()[0] > 1000 > 100 > school.batch_words()[-1]

    def test_most_updates_take_few_more_violations_than_they_must(self) -> None:
        rng = np.random.default_rng(0)
        lengths = rng.integers(3, 40, size=2000).tolist()
        school = School(lengths, lambda batch: int(rng.binomial(batch.n_words, 0.2)), update_after=50)
        school.run_epoch()
        sizes = [sum(note.n_violations for note in update) for update in school.learner.updates[:-1]]
        assert np.mean(sizes) < 65
        assert np.mean([len(update) for update in school.learner.updates]) < 3

    def test_no_batch_has_more_words_than_the_limit(self) -> None:
        lengths = np.random.default_rng(5).integers(1, 900, size=100).tolist()
        school = School(lengths, never, update_after=100_000)
        for _ in range(3):
            school.run_epoch()
            assert max(school.batch_words()) <= MAX_WORDS
            assert min(school.batch_words()[:-1]) > MAX_WORDS - 900  # and yet they are as full as they can be

    def test_a_sentence_longer_than_the_limit_is_a_batch_of_its_own(self) -> None:
        school = School([MAX_WORDS + 1, MAX_WORDS, 5, MAX_WORDS + 7, 5], never)
        school.run_epoch()
        assert sorted(school.order()) == list(range(5))
        for note in school.learner.explored:
            assert note.batch.n_words <= MAX_WORDS or len(note.batch.lengths) == 1

    def test_the_rate_never_becomes_zero(self) -> None:
        school = School([2] * 10, never)
        for _ in range(200):
            school.run_epoch()
        assert school.teacher.violation_rate == pytest.approx(MIN_RATE, rel=1e-3)


def test_progress_is_told_after_every_batch() -> None:
    school = School(LENGTHS, every_word)
    seen: list[tuple[int, int, int]] = []
    stats = school.teacher.run_epoch(1, lambda stats: seen.append((stats.sentences, stats.words, stats.updates)))
    assert len(seen) == len(school.learner.explored)
    assert seen == sorted(seen)
    assert seen[-1] == (200, sum(LENGTHS), stats.updates)


def test_words_are_dropped_with_the_papers_probability() -> None:
    """Each comes once, so with alpha = 3 three of four become unknown."""
    school = School([10] * 400, every_word, word_dropout=3.0)
    school.run_epoch()
    words = np.concatenate([note.batch.ids.words for note in school.learner.explored])
    assert abs((words == UNKNOWN).mean() - 0.75) < 0.035
