"""The state of a parse: pending lists, candidates and encoded subtrees of a batch, which attachments change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.parsing.actions import Actions, head_and_modifier
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.nodes import BLOCK, Member, Nodes
from easyfirst.parsing.pending import Pending
from easyfirst.parsing.workspace import Workspace


@dataclass(frozen=True, slots=True)
class State:
    """A batch of sentences between two steps. :meth:`select` copies it, for one sentence or for several."""

    candidates: Candidates
    nodes: tuple[Nodes, ...]
    """One for each network of the ensemble; the score of an action is the sum of what they add to it."""

    @classmethod
    def start(cls, members: Sequence[Member], vectors: Floats, lengths: Sequence[int], workspace: Workspace) -> State:
        """Encode and score sentences, longest first. ``vectors``: v_i of their words, of all members side by side."""
        nodes: list[Nodes] = []
        begin = 0
        for number, member in enumerate(members):
            end = begin + len(member.network.trees.padding)
            nodes.append(Nodes.leaves(member, vectors[:, begin:end], workspace.part(number)))
            begin = end
        state = cls(Candidates.empty(Pending(lengths), members[0].network.scorer.n_relations), tuple(nodes))
        left = np.flatnonzero(state.pending.next[:-1] != state.pending.outside)
        k = state._n_slots // 2 - 1
        for first in range(0, len(left), BLOCK):
            rows = left[first : first + BLOCK]
            state.candidates.update(rows, state._score(state.pending.around(rows, k, k + 1)))
        return state

    @property
    def pending(self) -> Pending:
        return self.candidates.pending

    @property
    def _n_slots(self) -> int:
        return len(self.nodes[0].slots)

    def select(self, sentences: Ints) -> State:
        """Copy some sentences, longest first, into a state of their own. A sentence may occur repeatedly: a beam forks
        it this way."""
        rows = self.pending.rows_of(sentences)
        return State(self.candidates.select(sentences), tuple(nodes.select(rows) for nodes in self.nodes))

    def arcs_of(self, actions: Actions) -> tuple[Ints, Ints]:
        """Return the heads and modifiers of actions, as rows."""
        return head_and_modifier(actions.left, self.pending.next.take(actions.left), actions.directions)

    def attach(self, h: Ints, m: Ints, actions: Actions) -> None:
        """Attach modifiers to heads, in the first ``len(h)`` sentences for which actions were chosen."""
        n = len(h)
        for nodes in self.nodes:
            nodes.attach(h, m, actions.directions[:n], actions.relations[:n])
        self.pending.remove(m)
        self.candidates.invalidate(np.concatenate([h, m]))
        self._rescore(h)

    def _rescore(self, h: Ints) -> None:
        """Score the pairs whose window holds a head again: at most as many as the window has slots."""
        pending, n_slots, slots = self.pending, self._n_slots, self.nodes[0].slots
        around = pending.around(h, n_slots - 1, n_slots - 1)  # (n, 2 * n_slots - 1)
        windows = around.take(slots[:, None] + slots, axis=1).reshape(-1, n_slots)
        k = n_slots // 2 - 1
        is_pair = np.maximum(windows[:, k], windows[:, k + 1]) != pending.outside  # the last row of all
        windows = windows.compress(is_pair, 0)
        self.candidates.update(windows[:, k], self._score(windows))

    def _score(self, windows: Ints) -> Floats:
        """Return the scores of pairs by their windows: (n, n_slots) rows -> (n, 2 * n_relations)."""
        total = self.nodes[0].score(windows)
        for nodes in self.nodes[1:]:
            total += nodes.score(windows)
        return total
