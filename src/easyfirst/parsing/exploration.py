"""Error exploration (section 5.2 and Algorithm 4): which action training follows, and where the margin was violated.

Exploration needs no gradient. It is the parser's own loop with another chooser, which also records what the loss needs:
the violating pairs of actions, and which *version* of each subtree stood in their windows.

A version numbers the state of one side of a node: the leaves come first, by row, then every attachment, in order, gives
the next number to the side of the head that it changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Bools, Floats, Ints
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.actions import Actions, head_and_modifier
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.oracle import Gold, Oracle


@dataclass(frozen=True, slots=True)
class Attachments:
    """The attachments that made the versions after the leaves."""

    sides: Ints  # (n,) which RNN of the head took the modifier
    before: Ints  # (n,) the head's version on that side before
    modifiers: Ints  # (n, 2) the modifier's last versions, left and right
    relations: Ints  # (n,)


@dataclass(frozen=True, slots=True)
class Violations:
    """The steps at which the best correct action did not lead the best wrong one by the margin."""

    windows: Ints  # (n, 2, n_slots, 2) versions, (correct, wrong) by slot by side
    actions: Ints  # (n, 2) direction * n_relations + relation, (correct, wrong)
    losses: Floats  # (n,) margin - correct + wrong, as the exploring parser scored it


@dataclass(frozen=True, slots=True)
class Explored:
    """What the loss of a batch needs: at least one violation, and all attachments."""

    attachments: Attachments
    violations: Violations
    loss: float  # the summed losses of the violations

    @property
    def n_violations(self) -> int:
        return len(self.violations.losses)


@dataclass(frozen=True, slots=True)
class Policy:
    """How to explore: the settings of the same names in ``TrainingConfig``."""

    margin: float
    explore_prob: float
    use_dynamic_oracle: bool


class Explorer:
    """A chooser that follows the parser's mistakes and records the violations of the margin."""

    def __init__(
        self,
        gold: Gold,
        *,
        window: int,
        margin: float,
        explore_prob: float,
        use_dynamic_oracle: bool,
        rng: np.random.Generator,
    ) -> None:
        self._oracle = Oracle(gold)
        self._window = window
        self._margin = margin
        self._explore_prob = explore_prob
        self._use_dynamic_oracle = use_dynamic_oracle
        self._rng = rng
        n_rows = len(gold.heads)
        self._versions = np.stack([np.arange(n_rows), np.arange(n_rows)])  # (2, n_rows + 1)
        self._n_versions = n_rows
        self._attachments: list[Attachments] = []
        self._violations: list[Violations] = []
        self.n_violations = 0
        self.loss = 0.0

    def __call__(self, candidates: Candidates, n_active: int) -> Actions:
        correct, wrong = self.best_of_each(candidates, n_active)
        lead = correct.scores - wrong.scores
        is_close = lead < self._margin
        self._record_violations(candidates, correct, wrong, np.flatnonzero(is_close))
        chosen = self._follow(correct, wrong, lead, is_close) if self._use_dynamic_oracle else correct
        self._record_attachments(candidates, chosen)
        return chosen

    def best_of_each(self, candidates: Candidates, n_active: int) -> tuple[Actions, Actions]:
        """Return the best correct and the best wrong action of every sentence."""
        gold = self._oracle.gold
        best = candidates.best(n_active)
        rows, h, m = candidates.arcs(n_active)
        is_pair = best > -np.inf
        is_gold, is_free = self._oracle.judge(h, m)
        is_gold &= is_pair
        is_free &= is_pair

        correct = np.where(is_free, best, np.float32(-np.inf))
        wrong = np.where(is_free, np.float32(-np.inf), best)
        correct_relations = candidates.best_relations(n_active).copy()
        wrong_relations = correct_relations.copy()
        lines, cells = np.nonzero(is_gold)  # under the gold relation correct, under any other wrong
        relations = gold.relations[m[lines, cells]]
        scores = candidates.scores_of(rows[lines, cells >> 1], cells & 1)  # (n, n_relations)
        each = np.arange(len(lines))
        correct[lines, cells] = scores[each, relations]
        correct_relations[lines, cells] = relations
        scores[each, relations] = -np.inf
        others = scores.argmax(axis=1)
        wrong[lines, cells] = scores[each, others]
        wrong_relations[lines, cells] = others
        return (
            _best_actions(candidates, correct, correct_relations),
            _best_actions(candidates, wrong, wrong_relations),
        )

    def _follow(self, correct: Actions, wrong: Actions, lead: Floats, is_close: Bools) -> Actions:
        """Choose the wrong action where it leads, and sometimes where it is close; otherwise the correct one."""
        is_bold = self._rng.random(len(lead)) < self._explore_prob
        use_wrong = (lead < 0) | (is_close & is_bold)
        return Actions(
            left=np.where(use_wrong, wrong.left, correct.left),
            directions=np.where(use_wrong, wrong.directions, correct.directions),
            relations=np.where(use_wrong, wrong.relations, correct.relations),
            scores=np.where(use_wrong, wrong.scores, correct.scores),
        )

    def _record_violations(self, candidates: Candidates, correct: Actions, wrong: Actions, at: Ints) -> None:
        if not len(at):
            return
        windows: list[Ints] = []
        actions: list[Ints] = []
        for action in (correct, wrong):
            nodes = candidates.pending.around(action.left[at], self._window, self._window + 1)
            windows.append(np.stack([self._versions[LEFT, nodes], self._versions[RIGHT, nodes]], axis=-1))
            actions.append(action.directions[at] * candidates.n_relations + action.relations[at])
        losses = np.float32(self._margin) - correct.scores[at] + wrong.scores[at]
        self._violations.append(Violations(np.stack(windows, axis=1), np.stack(actions, axis=1), losses))
        self.n_violations += len(at)
        self.loss += float(losses.sum())

    def _record_attachments(self, candidates: Candidates, chosen: Actions) -> None:
        h, m = head_and_modifier(chosen.left, candidates.pending.next[chosen.left], chosen.directions)
        before = self._versions[chosen.directions, h]
        self._attachments.append(Attachments(chosen.directions, before, self._versions[:, m].T, chosen.relations))
        self._versions[chosen.directions, h] = self._n_versions + np.arange(len(h))
        self._n_versions += len(h)
        self._oracle.attached(m)

    def attachments(self) -> Attachments:
        """Return all attachments, in order."""
        return Attachments(
            sides=np.concatenate([part.sides for part in self._attachments]),
            before=np.concatenate([part.before for part in self._attachments]),
            modifiers=np.concatenate([part.modifiers for part in self._attachments]),
            relations=np.concatenate([part.relations for part in self._attachments]),
        )

    def violations(self) -> Violations:
        """Return all violations, in order. There must be at least one."""
        return Violations(
            windows=np.concatenate([part.windows for part in self._violations]),
            actions=np.concatenate([part.actions for part in self._violations]),
            losses=np.concatenate([part.losses for part in self._violations]),
        )


def _best_actions(candidates: Candidates, scores: Floats, relations: Ints) -> Actions:
    lines = np.arange(len(scores))
    cells = scores.argmax(axis=1)
    left = candidates.pending.starts[: len(scores)] + (cells >> 1)
    return Actions(left, cells & 1, relations[lines, cells], scores[lines, cells])
