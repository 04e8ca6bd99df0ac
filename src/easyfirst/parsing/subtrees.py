"""The subtrees that hypotheses consist of, each encoded once, and their windows, each scored once.

A subtree is a row. The words of a batch come first, then one row for the outside of the pending lists, then a row for
each attachment. Rows never change, so all hypotheses share them: an attachment copies its head into a new row and
advances that one. A subtree's state depends on its arcs alone, since the two sides of a head are encoded separately,
each from the inside out. Hypotheses that build the same subtree in different orders therefore share its row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.parsing.nodes import Member, Nodes
from easyfirst.parsing.workspace import Workspace


class Subtrees:
    """All subtrees and scored windows of a batch so far."""

    def __init__(self, members: Sequence[Member], vectors: Floats) -> None:
        """``vectors``: v_i of the words, of all members side by side."""
        self.outside = len(vectors)
        self.n_slots = members[0].network.n_slots
        self.n_relations = members[0].network.scorer.n_relations
        self._nodes: list[Nodes] = []
        begin = 0
        for member in members:
            end = begin + len(member.network.trees.padding)
            self._nodes.append(Nodes.leaves(member, vectors[:, begin:end], Workspace()))
            begin = end
        self._rows: dict[tuple[int, int, int, int], int] = {}  # by attachment
        self._places: dict[bytes, int] = {}  # by window
        self._scores: Floats = np.empty((4 * len(vectors), 2 * self.n_relations), np.float32)

    @property
    def attachments(self) -> list[tuple[int, int, int, int]]:
        """The head, the modifier, the direction and the relation of every row after the outside."""
        return list(self._rows)

    def windows(self, pending: Ints) -> Ints:
        """Return the windows of all pairs of pending lists: (n, n_pending) -> (n, n_pending - 1, n_slots), a view."""
        n, n_pending = pending.shape
        k = self.n_slots // 2 - 1
        padded = np.full((n, n_pending + 2 * k), self.outside)
        padded[:, k : k + n_pending] = pending
        return np.lib.stride_tricks.sliding_window_view(padded, self.n_slots, axis=1)

    def attach(self, h: Ints, m: Ints, directions: Ints, relations: Ints) -> Ints:
        """Attach modifiers to heads, and return the rows of the results."""
        n_rows = first = self.outside + 1 + len(self._rows)
        keys = list(zip(h.tolist(), m.tolist(), directions.tolist(), relations.tolist(), strict=True))
        new: list[int] = []
        for number, key in enumerate(keys):
            if key not in self._rows:
                self._rows[key] = n_rows
                n_rows += 1
                new.append(number)
        if new:
            rows = np.arange(first, n_rows)
            for place, nodes in enumerate(self._nodes):
                if len(nodes.c) < n_rows:
                    nodes = self._nodes[place] = nodes.with_room(2 * n_rows)
                nodes.copy(h[new], rows)
                nodes.attach(rows, m[new], directions[new], relations[new])
        return np.array([self._rows[key] for key in keys], dtype=np.intp)

    def score(self, windows: Ints) -> Ints:
        """Return where the scores of pairs are, given their windows: (n, n_slots) rows -> (n,)."""
        keys = [window.tobytes() for window in windows]
        first = len(self._places)
        new: list[int] = []
        for number, key in enumerate(keys):
            if key not in self._places:
                self._places[key] = len(self._places)
                new.append(number)
        if new:
            scored = windows[new]
            total = self._nodes[0].score(scored)
            for nodes in self._nodes[1:]:
                total += nodes.score(scored)
            if len(self._scores) < len(self._places):
                self._scores = np.concatenate([self._scores, np.empty_like(self._scores), total])
            self._scores[first : len(self._places)] = total
        return np.array([self._places[key] for key in keys], dtype=np.intp)

    def scores_at(self, places: Ints) -> Floats:
        """Return the scores of all actions on pairs: (...) -> (..., 2, n_relations)."""
        return self._scores.take(places, 0).reshape(*places.shape, 2, self.n_relations)
