"""Beam search: the best derivations of a sentence that lead to different trees.

The greedy loop takes the best-scored action of each step. The beam keeps several hypotheses, which are partial trees,
and extends all of them by an arc in each step. Easy-first reaches one tree by many orders, so hypotheses with the same
labelled arcs are merged. Nothing is lost by that, since what can follow, and its scores, depend on the arcs alone
(:mod:`easyfirst.parsing.subtrees`).

A *measure* decides what the score of a hypothesis is (docs/development/experiments.md has the comparison):

- ``log_probabilities``: the logarithm of the probability that the parser builds this partial tree, in any order, if it
  draws each action from softmax(3 * score). The scores of a parser that is trained step by step compare the actions of
  one state, and nothing else.
- ``sums``: the sum of the scores of the actions, in the best order. Parsers are trained for it by a beam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.parsing.actions import head_and_modifier
from easyfirst.parsing.subtrees import Subtrees

Totals = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
Judge = Callable[[Ints, Floats], Floats]
"""``judge(words, scores)`` returns what actions add to the scores of hypotheses: (n, n_pairs, 2, n_relations), as the
scores of the network. Minus infinity rules an action out. ``words``: the heads of the pending subtrees, counted from 0
in the sentence, (n, n_pending)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What actions add to the score of a hypothesis, and whether that of merged ones is the sum of probabilities (in
    logarithms) or the best of the scores."""

    judge: Judge
    adds_orders: bool = False


SHARPNESS = np.float32(3)
"""The factor of scores in the softmax, chosen on the dev set of UD_English-EWT. Scores are trained with a margin of 1,
so one factor suits all parsers."""


def _log_softmax(words: Ints, scores: Floats) -> Floats:
    flat = SHARPNESS * scores.reshape(len(scores), -1)
    best = flat.max(axis=1, keepdims=True)
    total = best + np.log(np.exp(flat - best).sum(axis=1, keepdims=True))
    return (flat - total).reshape(scores.shape)


log_probabilities = Measure(_log_softmax, adds_orders=True)
sums = Measure(lambda words, scores: scores)


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """The hypotheses after a step, best first, and the action that led to each of them."""

    pending: Ints  # (n, n_pending) rows of subtrees
    words: Ints  # (n, n_pending) their heads, counted from 0 in the sentence
    pairs: Ints  # (n, n_pending - 1) where the scores of pairs are
    totals: Totals  # (n,) the score of a hypothesis
    keys: Keys  # (n,) the same for the same labelled arcs
    parents: Ints  # (n,) which hypothesis of the step before
    places: Ints  # (n,) i: the action is on pend[i] and pend[i+1] of the parent
    directions: Ints  # (n,)
    relations: Ints  # (n,)

    def __len__(self) -> int:
        return len(self.totals)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The actions that extend hypotheses."""

    parents: Ints
    places: Ints
    directions: Ints
    relations: Ints
    totals: Totals
    keys: Keys


def search(
    subtrees: Subtrees, lengths: Sequence[int], width: int, measures: Sequence[Measure]
) -> list[list[Hypotheses]]:
    """Search for the best trees of sentences in lock step, with at most ``width`` hypotheses for each.

    ``subtrees`` has their words and nothing else; ``measures``: one for each sentence. Return the hypotheses of each
    sentence after every step, the start first. There are as many as words, or fewer if a measure rules out all actions.
    """
    steps = [[start] for start in _start(subtrees, lengths)]
    active = [number for number, length in enumerate(lengths) if length > 1]
    while active:
        chosen = {number: _choose(steps[number][-1], subtrees, width, measures[number]) for number in active}
        active = [number for number in active if len(chosen[number].keys)]
        extended = _extend(subtrees, [steps[number][-1] for number in active], [chosen[number] for number in active])
        for number, hypotheses in zip(active, extended, strict=True):
            steps[number].append(hypotheses)
        active = [number for number in active if steps[number][-1].pairs.shape[1]]
    return steps


def _start(subtrees: Subtrees, lengths: Sequence[int]) -> Iterator[Hypotheses]:
    """Yield the only hypothesis of each sentence without arcs."""
    none, start = np.zeros(1, dtype=np.intp), 0
    for length in lengths:
        words = np.arange(length)[None]
        pairs = np.empty((1, 0), dtype=np.intp)
        if length > 1:
            pairs = subtrees.score(subtrees.windows(words + start)[0])[None]
        yield Hypotheses(words + start, words, pairs, np.zeros(1), np.zeros(1, np.uint64), none, none, none, none)
        start += length


def _choose(before: Hypotheses, subtrees: Subtrees, width: int, measure: Measure) -> _Chosen:
    """Choose the best actions with different results.

    The actions on one hypothesis have different results, so nothing below the ``width`` best of the first is needed,
    unless it could be added to others."""
    added = measure.judge(before.words, subtrees.scores_at(before.pairs))
    n, n_actions = len(before), added[0].size
    totals = (before.totals[:, None] + added.reshape(n, n_actions)).reshape(-1)
    least = -np.inf
    if width < n_actions:
        least = np.partition(totals[:n_actions], n_actions - width)[n_actions - width]
        least -= np.log(n) if measure.adds_orders else 0.0
    numbers = np.flatnonzero((totals >= least) & (totals > -np.inf))
    numbers = numbers[np.argsort(-totals[numbers], kind="stable")]
    parents, actions = np.divmod(numbers, n_actions)
    places, directions, relations = np.unravel_index(actions, added.shape[1:])
    h, m = head_and_modifier(before.words[parents, places], before.words[parents, places + 1], directions)
    keys = before.keys[parents] + _mixed((h << 40) + (m << 20) + relations)
    _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
    merged = totals[numbers[firsts]]
    if measure.adds_orders:
        merged = np.full(len(firsts), -np.inf)
        np.logaddexp.at(merged, groups, totals[numbers])
    order = np.lexsort((firsts, -merged))[:width]
    kept = firsts[order]
    return _Chosen(parents[kept], places[kept], directions[kept], relations[kept], merged[order], keys[kept])


def _extend(subtrees: Subtrees, before: Sequence[Hypotheses], chosen: Sequence[_Chosen]) -> Iterator[Hypotheses]:
    """Yield the extended hypotheses of each sentence. The subtrees of all are encoded together, and so are windows."""
    arguments: list[tuple[Ints, Ints, Ints, Ints]] = []
    for old, new in zip(before, chosen, strict=True):
        if old.pending.shape[1] > 2:  # the last attachment's new subtree is never scored, so skip it
            pairs = old.pending[new.parents, new.places], old.pending[new.parents, new.places + 1]
            arguments.append((*head_and_modifier(*pairs, new.directions), new.directions, new.relations))
    rows = iter(_together(subtrees.attach, arguments))
    pending = [_remove(old, new, rows) for old, new in zip(before, chosen, strict=True)]
    near = [_near(new, lists.shape[1], subtrees.n_slots) for (lists, _), new in zip(pending, chosen, strict=True)]
    windows = [(subtrees.windows(lists)[at],) for (lists, _), at in zip(pending, near, strict=True) if len(at[0])]
    places = iter(_together(subtrees.score, windows))
    for old, new, (lists, words), at in zip(before, chosen, pending, near, strict=True):
        pairs = np.take_along_axis(old.pairs[new.parents], _without(new.places, lists.shape[1] - 1), axis=1)
        if len(at[0]):
            pairs[at] = next(places)
        rest = new.parents, new.places, new.directions, new.relations
        yield Hypotheses(lists, words, pairs, new.totals, new.keys, *rest)


def _together(function: Callable[..., Ints], arguments: Sequence[tuple[Ints, ...]]) -> list[Ints]:
    """Call a function for several sentences at once; return the results of each."""
    if not arguments:
        return []
    ends = np.cumsum([len(each[0]) for each in arguments])[:-1]
    return np.split(function(*map(np.concatenate, zip(*arguments, strict=True))), ends)


def _remove(before: Hypotheses, chosen: _Chosen, rows: Iterator[Ints]) -> tuple[Ints, Ints]:
    """Return the pending lists without modifiers, and their words. ``rows``: the new subtrees of the heads."""
    _, m_places = head_and_modifier(chosen.places, chosen.places + 1, chosen.directions)
    columns = _without(m_places, before.pending.shape[1] - 1)
    lists, words = (np.take_along_axis(each[chosen.parents], columns, 1) for each in (before.pending, before.words))
    if lists.shape[1] > 1:
        lists[np.arange(len(lists)), chosen.places] = next(rows)
    return lists, words


def _without(places: Ints, n_left: int) -> Ints:
    """Return the columns that are left of each row without one of them: (n,) -> (n, n_left)."""
    columns: Ints = np.arange(n_left)
    return columns + (columns >= places[:, None])


def _near(chosen: _Chosen, n_pending: int, n_slots: int) -> tuple[Ints, Ints]:
    """Return the pairs whose windows hold a new subtree: the numbers of hypotheses, and of pairs."""
    k = n_slots // 2 - 1
    near = chosen.places[:, None] + np.arange(-1 - k, k + 1)
    which, column = np.nonzero((near >= 0) & (near < n_pending - 1))
    return which, near[which, column]


def paths_of(steps: Sequence[Hypotheses]) -> list[Ints]:
    """Return the way to each hypothesis of the last step: after each step, from the first on, its ancestor (n,)."""
    found = [np.arange(len(steps[-1]))]
    for step in reversed(steps[2:]):
        found.append(step.parents[found[-1]])
    return found[::-1]


def _mixed(numbers: Ints) -> Keys:
    """Hash numbers (splitmix64), so that the sum of several hardly ever equals that of others."""
    z = numbers.astype(np.uint64) + np.uint64(1)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
