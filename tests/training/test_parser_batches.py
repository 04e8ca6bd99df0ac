"""An epoch of the parser with a stand-in for its loss: which sentences are explored when, and when updates follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easyfirst.model.lexicon import UNKNOWN
from easyfirst.model.parser_config import NetworkConfig, ParserConfig, TrainingConfig
from easyfirst.training.corpus import ParserBatch
from easyfirst.training.data import Job, TrainingData, Treebank
from easyfirst.training.parser_loss import BatchLoss
from easyfirst.training.parser_task import MAX_WORDS, MIN_RATE, ParserTask
from easyfirst.treebank.sentence import Sentence

Rule = Callable[[ParserBatch], int]
TINY = NetworkConfig(word_dim=1, tag_dim=1, relation_dim=1, vector_dim=2, tree_dim=1, hidden_dim=1, tags="none")


@dataclass
class Note:
    """A batch that was explored."""

    batch: ParserBatch
    n_violations: int


class Task(ParserTask):
    """Sentences of given lengths in which no word occurs twice; ``rule`` says how many violations a batch has."""

    def __init__(self, lengths: Sequence[int], rule: Rule, **training: Any) -> None:
        sentences = [
            Sentence.from_words(
                [f"word-{number}-{m}" for m in range(length)],
                heads=[*range(length)],
                relations=["root", *["next"] * (length - 1)],
            )
            for number, length in enumerate(lengths)
        ]
        data = TrainingData(Treebank("any", "", tuple(sentences)), is_trainable=[True] * len(sentences))
        config = ParserConfig(network=TINY, training=TrainingConfig(**{"word_dropout": 0} | training))
        super().__init__(Job(Path("any"), Path("any")), config, data)
        self.rule = rule
        self.explored: list[Note] = []
        self.updates: list[list[Note]] = []
        self.done: list[float] = []

    def run_epoch(self) -> Mapping[str, Any]:
        """Return the statistics of an epoch, with batches in ``explored`` and grouped by update in ``updates``."""
        self.explored.clear()
        self.updates.clear()
        self.done.clear()
        waiting: list[Note] = []
        stats: Mapping[str, Any] = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("easyfirst.training.parser_task.ParserLoss", partial(FakeLoss, self))
            for step in self.steps({}):
                assert step.n_decisions == self.explored[-1].n_violations
                assert step.rate_at == step.done
                waiting.append(self.explored[-1])
                if step.is_update:
                    self.updates.append(waiting)
                    self.done.append(step.done)
                    waiting = []
                stats = step.stats
        assert not waiting  # whatever is left at the end is an update
        return stats

    def order(self) -> list[int]:
        """Return the numbers of the sentences in the order in which they were explored."""
        names = {row: word for word, row in self.vocabulary.words.items()}
        words = [names[row] for note in self.explored for row in note.batch.ids.words.tolist()]
        return [int(word.split("-")[1]) for word in words if word.endswith("-0")]

    def batch_words(self) -> list[int]:
        return [note.batch.n_words for note in self.explored]


class FakeLoss:
    """Stands in for a :class:`ParserLoss`."""

    def __init__(self, task: Task, *_: object) -> None:
        self._task = task

    def weights_changed(self) -> None: ...

    def of(self, batch: ParserBatch) -> BatchLoss:
        n_violations = self._task.rule(batch)
        self._task.explored.append(Note(batch, n_violations))
        return BatchLoss(None, n_violations, 0.5 * n_violations)


def every_word(batch: ParserBatch) -> int:
    return batch.n_words


def never(batch: ParserBatch) -> int:
    return 0


LENGTHS = np.random.default_rng(4).integers(1, 30, size=200).tolist()


@pytest.mark.parametrize("rule", [every_word, never, lambda batch: batch.n_words // 10, lambda batch: 1])
def test_every_sentence_comes_once_in_an_epoch(rule: Rule) -> None:
    task = Task(LENGTHS, rule)
    for _ in range(3):
        stats = task.run_epoch()
        assert sorted(task.order()) == list(range(200))
        assert (stats["sentences"], stats["words"]) == (200, sum(LENGTHS))
        assert stats["violations"] == sum(note.n_violations for note in task.explored)
        assert stats["loss"] == (0.5 if stats["violations"] else 0)
        assert stats["violations_per_sentence"] == stats["violations"] / 200


def test_each_epoch_has_an_order_of_its_own() -> None:
    task, again = Task(LENGTHS, every_word), Task(LENGTHS, every_word)
    orders = []
    for _ in range(3):
        task.run_epoch()
        again.run_epoch()
        assert task.order() == again.order()  # with the same seed
        orders.append(task.order())
    assert len({tuple(order) for order in orders}) == 3
    assert orders[0] != list(range(200))


@pytest.mark.parametrize("update_after", [0, 1, 20, 50, 333])
@pytest.mark.parametrize("divisor", [1, 3, 10])
def test_an_update_follows_more_violations_than_the_limit(update_after: int, divisor: int) -> None:
    task = Task(LENGTHS, lambda batch: batch.n_words // divisor, update_after=update_after)
    for _ in range(3):
        stats = task.run_epoch()
        *updates, last = task.updates
        for update in updates:
            assert sum(note.n_violations for note in update) > update_after
            assert sum(note.n_violations for note in update[:-1]) <= update_after  # and not one batch later
        # all batches, in order, each in one update: what is left at the end of the epoch is used too
        assert [note for update in task.updates for note in update] == task.explored
        assert stats["updates"] == len(updates) + (sum(note.n_violations for note in last) > 0)


def test_exactly_the_limit_is_not_enough() -> None:
    """Sentences of one violation each, so that none can be skipped over."""
    task = Task([1] * 30, every_word, update_after=9)
    for _ in range(5):
        task.run_epoch()
        assert [sum(note.n_violations for note in update) for update in task.updates] == [10, 10, 10]


@pytest.mark.parametrize("rule", [every_word, never, lambda batch: batch.n_words // 10])
def test_batches_of_a_fixed_number_of_sentences(rule: Rule) -> None:
    """Each is an update, however many violations it brings; the last has what is left."""
    task = Task(LENGTHS, rule, batch_sentences=12)
    stats = task.run_epoch()
    assert [len(note.batch.lengths) for note in task.explored] == [12] * 16 + [8]
    assert [len(update) for update in task.updates] == [1] * 17
    assert stats["updates"] == sum(note.n_violations > 0 for note in task.explored)
    assert sorted(task.order()) == list(range(200))


def test_many_sentences_an_update_are_explored_in_parts() -> None:
    """Their memory is bounded like that of others."""
    task = Task([400] * 45, every_word, batch_sentences=22)
    stats = task.run_epoch()
    assert [len(note.batch.lengths) for note in task.explored] == [10, 10, 2, 10, 10, 2, 1]
    assert [len(update) for update in task.updates] == [3, 3, 1]
    assert stats["updates"] == 3


def test_what_is_left_at_the_end_is_an_update() -> None:
    task = Task([3] * 10, lambda batch: len(batch.lengths))
    stats = task.run_epoch()
    assert stats["updates"] == len(task.updates) == 1
    assert sum(note.n_violations for note in task.updates[0]) == 10


def test_the_learning_rate_is_that_of_the_sentences_done() -> None:
    task = Task([2] * 40, lambda batch: len(batch.lengths), update_after=3)
    task.run_epoch()
    n_learnt = np.cumsum([sum(len(note.batch.lengths) for note in update) for update in task.updates])
    assert task.done == (n_learnt / 40).tolist()
    assert task.done[-1] == 1


def test_an_epoch_without_a_violation_has_no_update() -> None:
    task = Task(LENGTHS, never)
    assert task.run_epoch()["updates"] == 0


def test_nothing_is_carried_over_into_the_next_epoch() -> None:
    task = Task([2] * 30, lambda batch: len(batch.lengths), update_after=1000)
    for _ in range(2):
        task.run_epoch()
        [update] = task.updates
        assert sum(note.n_violations for note in update) == 30


class TestBatchSize:
    def test_in_the_beginning_every_word_is_taken_for_a_violation(self) -> None:
        task = Task([1] * 500, every_word, update_after=50)
        task.run_epoch()
        assert task.batch_words()[0] == 44  # 85 % of 51, rounded up
        assert task.batch_words()[1] == 6  # and 85 % of the 7 that are still wanted

    def test_batches_grow_as_violations_get_rarer(self) -> None:
        task = Task([10] * 3000, every_word)
        sizes = []
        for divisor in (1, 5, 25, 125):
            task.rule = lambda batch, divisor=divisor: batch.n_words // divisor
            task.run_epoch()
            task.run_epoch()  # the first one learns the rate
            assert task.violation_rate == pytest.approx(1 / divisor, rel=0.2)
            sizes.append(max(task.batch_words()))
        assert sizes == sorted(sizes)
        assert sizes[0] <= 60
        assert 150 < sizes[1] < 300
        assert 800 < sizes[2] < 1300
        assert sizes[3] == MAX_WORDS

    def test_batches_shrink_again(self) -> None:
        task = Task([10] * 2000, never)
        for _ in range(10):
            task.run_epoch()
        assert max(task.batch_words()) == MAX_WORDS
        task.rule = every_word
        task.run_epoch()
        assert task.batch_words()[0] > 1000 > 100 > task.batch_words()[-1]

    def test_most_updates_take_few_more_violations_than_they_must(self) -> None:
        rng = np.random.default_rng(0)
        lengths = rng.integers(3, 40, size=2000).tolist()
        task = Task(lengths, lambda batch: int(rng.binomial(batch.n_words, 0.2)), update_after=50)
        task.run_epoch()
        sizes = [sum(note.n_violations for note in update) for update in task.updates[:-1]]
        assert np.mean(sizes) < 65
        assert np.mean([len(update) for update in task.updates]) < 3

    def test_no_batch_has_more_words_than_the_limit(self) -> None:
        lengths = np.random.default_rng(5).integers(1, 900, size=100).tolist()
        task = Task(lengths, never, update_after=100_000)
        for _ in range(3):
            task.run_epoch()
            assert max(task.batch_words()) <= MAX_WORDS
            assert min(task.batch_words()[:-1]) > MAX_WORDS - 900  # and yet they are as full as they can be

    def test_a_sentence_longer_than_the_limit_is_a_batch_of_its_own(self) -> None:
        task = Task([MAX_WORDS + 1, MAX_WORDS, 5, MAX_WORDS + 7, 5], never)
        task.run_epoch()
        assert sorted(task.order()) == list(range(5))
        for note in task.explored:
            assert note.batch.n_words <= MAX_WORDS or len(note.batch.lengths) == 1

    def test_the_rate_never_becomes_zero(self) -> None:
        task = Task([2] * 10, never)
        for _ in range(200):
            task.run_epoch()
        assert task.violation_rate == pytest.approx(MIN_RATE, rel=1e-3)


def test_every_batch_is_a_step_with_the_statistics_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(LENGTHS, every_word)
    monkeypatch.setattr("easyfirst.training.parser_task.ParserLoss", partial(FakeLoss, task))
    steps = list(task.steps({}))
    seen = [(step.stats["sentences"], step.stats["words"], step.stats["updates"]) for step in steps]
    assert len(seen) == len(task.explored)
    assert seen == sorted(seen)
    assert seen[-1] == (200, sum(LENGTHS), sum(step.is_update for step in steps))
    assert [step.done for step in steps] == [step.stats["sentences"] / 200 for step in steps]


def test_words_are_dropped_with_the_papers_probability() -> None:
    """Each comes once, so with alpha = 3 three of four become unknown."""
    task = Task([10] * 400, every_word, word_dropout=3.0)
    task.run_epoch()
    words = np.concatenate([note.batch.ids.words for note in task.explored])
    assert abs((words == UNKNOWN).mean() - 0.75) < 0.035
