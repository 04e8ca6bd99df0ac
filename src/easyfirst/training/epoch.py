"""One pass over the training sentences (Algorithm 3): shuffled, with an update after more than 50 violations, or, if
it is so set, after a fixed number of sentences.

How many sentences that takes is guessed from the running rate of violations, so that they can be explored as one batch;
if the guess falls short, more are explored with the same weights before the update.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Ints
from easyfirst.training.corpus import ParserCorpus, unknown_probabilities
from easyfirst.training.learner import Learner

MAX_WORDS = 4000
"""No batch of several sentences is larger, however rare violations are and however many sentences an update is to
have: this bounds the memory a batch takes."""
CAUTION = 0.85
"""A batch is meant to bring this share of the violations that are still wanted, so that few bring too many."""
RATE_MEMORY = 0.9
MIN_RATE = 1e-4


@dataclass(slots=True)
class EpochStats:
    """What happened so far in an epoch."""

    sentences: int = 0
    words: int = 0
    updates: int = 0
    violations: int = 0
    loss: float = 0.0
    """Summed over violations."""


class Teacher:
    """Takes a learner through epochs of a corpus."""

    def __init__(self, learner: Learner, corpus: ParserCorpus, counts: Ints) -> None:
        self.learner = learner
        self.corpus = corpus
        self.violation_rate = 1.0
        """Violations a word, as a running mean; in the beginning every word is one."""
        self._unknown_prob = unknown_probabilities(counts, learner.config.training.word_dropout)

    def run_epoch(self, number: int, on_progress: Callable[[EpochStats], None]) -> EpochStats:
        """Pass ``number``, from 1, over the corpus; ``on_progress`` is called after every batch."""
        training = self.learner.config.training
        stats = EpochStats()
        order = self.learner.rng.permutation(len(self.corpus))
        begin = updated = 0
        while begin < len(order):
            end = self._batch_end(order, begin, updated)
            self._learn(order[begin:end], stats)
            begin = end
            if self._is_due(begin - updated) or begin == len(order):
                updated = begin
                stats.updates += self.learner.n_waiting > 0
                past = (number - 1 + begin / len(order)) / training.epochs
                self.learner.update(rate_share=1 - (1 - training.final_rate) * min(past, 1))
            on_progress(stats)
        return stats

    def _learn(self, numbers: Ints, stats: EpochStats) -> None:
        batch = self.corpus.batch(numbers, unknown_prob=self._unknown_prob, rng=self.learner.rng)
        explored = self.learner.explore(batch)
        self.learner.learn(explored)
        n_violations = explored.explorer.n_violations
        rate = max(n_violations / batch.n_words, MIN_RATE)
        self.violation_rate = RATE_MEMORY * self.violation_rate + (1 - RATE_MEMORY) * rate
        stats.sentences += len(numbers)
        stats.words += batch.n_words
        stats.violations += n_violations
        stats.loss += explored.explorer.loss

    def _is_due(self, n_sentences: int) -> bool:
        """Whether the weights are to be updated after so many sentences."""
        training = self.learner.config.training
        if training.batch_sentences:
            return n_sentences >= training.batch_sentences
        return self.learner.n_waiting > training.update_after

    def _batch_end(self, order: Ints, begin: int, updated: int) -> int:
        """Up to where in ``order`` the next batch goes, to bring the violations past the limit, or to have as many
        sentences as are wanted; ``updated``: where the weights last changed."""
        training = self.learner.config.training
        reach = np.cumsum(self.corpus.lengths[order[begin : begin + MAX_WORDS]])
        n_possible = int(np.searchsorted(reach, MAX_WORDS, side="right"))
        if training.batch_sentences:
            n_enough = updated + training.batch_sentences - begin
        else:
            n_wanted = training.update_after + 1 - self.learner.n_waiting
            n_enough = 1 + int(np.searchsorted(reach, CAUTION * n_wanted / self.violation_rate))
        return begin + max(1, min(n_enough, n_possible))
