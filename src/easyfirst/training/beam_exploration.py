"""Sequence-level training for beam search: where the parser prefers a wrong partial tree to all correct ones.

A parser that is trained greedily learns which of two actions is better in one state, so the sums that a beam compares
mean little. Here a sentence is searched twice: freely, and by correct actions only, which the oracle decides. Both
beams merge orders, so the best correct hypothesis is that of the order the parser likes most. The update is made after
the step with the greatest violation (Huang et al. 2012; Ma et al. 2013 for easy-first): the actions of the best correct
hypothesis gain, and those of the best free one lose. A wrong arc adds the margin to the free score, so that correct
trees must win by more the more arcs are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Bools, Floats, Ints
from easyfirst.nn.parser_network import Network
from easyfirst.parsing.beam import Hypotheses, Measure, paths_of, search, sums
from easyfirst.parsing.exploration import Attachments, Explored, Violations
from easyfirst.parsing.nodes import Member
from easyfirst.parsing.oracle import NOT_ANNOTATED, Gold
from easyfirst.parsing.subtrees import Subtrees


@dataclass(frozen=True, slots=True)
class GoldTree:
    """The gold tree of one sentence; words are counted from 0."""

    heads: Ints  # (n,) n for the root
    relations: Ints  # (n,)

    def is_gold(self, words: Ints, n_relations: int, *, complete: bool) -> Bools:
        """Return which actions make a gold arc with its gold relation: (n, n_pairs, 2, n_relations). ``words``: the
        heads of the pending subtrees. ``complete``: only those whose modifier has all of its gold modifiers, if all
        arcs so far are correct."""
        heads = self.heads[words]
        left, right = words[:, :-1], words[:, 1:]
        arcs = np.stack([heads[:, :-1] == right, heads[:, 1:] == left], axis=2)  # LEFT, RIGHT
        if complete:
            is_done = ~(heads[:, None, :] == words[:, :, None]).any(axis=2)
            arcs &= np.stack([is_done[:, :-1], is_done[:, 1:]], axis=2)
        relations = np.stack([self.relations[left], self.relations[right]], axis=2)
        return arcs[..., None] & (relations[..., None] == np.arange(n_relations))

    def only_correct(self, measure: Measure = sums) -> Measure:
        """Return a measure that rules out all but correct actions."""

        def judge(words: Ints, scores: Floats) -> Floats:
            is_correct = self.is_gold(words, scores.shape[-1], complete=True)
            return np.where(is_correct, measure.judge(words, scores), np.float32(-np.inf))

        return Measure(judge, measure.adds_orders)

    def with_cost(self, margin: float) -> Measure:
        """Return the measure that sums scores, and adds the margin for every wrong arc."""

        def judge(words: Ints, scores: Floats) -> Floats:
            return scores + np.float32(margin) * ~self.is_gold(words, scores.shape[-1], complete=False)

        return Measure(judge)


class BeamExploration:
    """Explores batches with a network whose arrays training changes in place."""

    def __init__(self, network: Network, width: int, margin: float) -> None:
        self._network, self._width, self._margin = network, width, margin
        self.weights_changed()

    def weights_changed(self) -> None:
        """Recompute what is derived from the weights. Call it after every update."""
        self._members = [Member.of(self._network, 1)]

    def explore(self, vectors: Floats, lengths: Sequence[int], gold: Gold) -> Explored | None:
        """Explore sentences given by the vectors v_i of their words. Return None without violations."""
        trees = _trees(lengths, gold)
        with overflow_is_fine():
            subtrees = Subtrees(self._members, vectors)
            free = search(subtrees, lengths, self._width, [tree.with_cost(self._margin) for tree in trees])
            correct = search(subtrees, lengths, self._width, [tree.only_correct() for tree in trees])
        versions = _versions(subtrees)
        found = [self._violation(subtrees, versions, *of_sentence) for of_sentence in zip(free, correct, strict=True)]
        parts = [part for part in found if part is not None]
        if not parts:
            return None
        violations = Violations(
            windows=np.concatenate([part.windows for part in parts]),
            actions=np.concatenate([part.actions for part in parts]),
            losses=np.concatenate([part.losses for part in parts]),
        )
        return Explored(_attachments(subtrees, versions), violations, float(violations.losses.sum()))

    def _violation(
        self, subtrees: Subtrees, versions: Ints, free: Sequence[Hypotheses], correct: Sequence[Hypotheses]
    ) -> Violations | None:
        """Return the greatest violation in a sentence: a row for each step up to it, with a share of the loss."""
        leads = [wrong.totals[0] - right.totals[0] for wrong, right in zip(free, correct, strict=False)]
        last = int(np.argmax(leads))
        if leads[last] <= 0:
            return None
        paths = [_path(steps[: last + 1], subtrees, versions) for steps in (correct, free)]
        windows, actions = (np.stack([path[number] for path in paths], axis=1) for number in (0, 1))
        differs = (windows[:, 0] != windows[:, 1]).any(axis=(1, 2)) | (actions[:, 0] != actions[:, 1])
        n = int(differs.sum())
        return Violations(windows[differs], actions[differs], np.full(n, leads[last] / max(n, 1)))


def _trees(lengths: Sequence[int], gold: Gold) -> list[GoldTree]:
    """Return the gold trees of sentences. If one is partial, no arc of it counts as correct, so that the search by
    correct actions stays at the start, where nothing is violated."""
    trees: list[GoldTree] = []
    outside, start = len(gold.heads) - 1, 0
    for length in lengths:
        heads, relations = gold.heads[start : start + length], gold.relations[start : start + length]
        is_whole = (heads <= outside).all() and (relations[heads < outside] != NOT_ANNOTATED).all()
        local = np.where(heads < outside, heads - start, length)
        trees.append(GoldTree(local if is_whole else np.full(length, length), relations))
        start += length
    return trees


def _versions(subtrees: Subtrees) -> Ints:
    """Return the versions of both sides of each subtree: (n_rows, 2). An attachment makes the version of its row."""
    n_leaves, attachments = subtrees.outside + 1, subtrees.attachments
    versions = np.repeat(np.arange(n_leaves + len(attachments))[:, None], 2, axis=1)
    for row, (h, _, direction, _) in enumerate(attachments, n_leaves):
        versions[row, 1 - direction] = versions[h, 1 - direction]
    return versions


def _path(steps: Sequence[Hypotheses], subtrees: Subtrees, versions: Ints) -> tuple[Ints, Ints]:
    """Return the windows (n_steps, n_slots, 2) and the actions (n_steps,) that lead to the best hypothesis."""
    windows: list[Ints] = []
    actions: list[int] = []
    for before, after, ancestors in zip(steps, steps[1:], paths_of(steps), strict=False):
        number = ancestors[0]
        pending = before.pending[after.parents[number]][None]
        windows.append(versions[subtrees.windows(pending)[0, after.places[number]]])
        actions.append(int(after.directions[number]) * subtrees.n_relations + int(after.relations[number]))
    return np.stack(windows), np.array(actions)


def _attachments(subtrees: Subtrees, versions: Ints) -> Attachments:
    h, m, sides, relations = np.array(subtrees.attachments, dtype=np.intp).reshape(-1, 4).T
    return Attachments(sides, versions[h, sides], versions[m], relations)
