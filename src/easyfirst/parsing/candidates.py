"""Every action open to the parser, with its score, kept up to date while the pending lists shrink."""

from __future__ import annotations

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.parsing.pending import Pending


class Candidates:
    """The scores of all actions on all pairs, and for each pair and direction the best relation.

    The best ones lie in a grid, a line for each sentence and a cell for each word and direction, so that the best
    action of every sentence is one ``argmax``. A word that has no pair has minus infinity.
    """

    __slots__ = ("_best", "_cells", "_relations", "n_relations", "pending", "scores", "width")

    def __init__(self, pending: Pending, n_relations: int) -> None:
        self.pending = pending
        self.n_relations = n_relations
        self.width = int(pending.lengths[0])
        n_sentences, outside = len(pending.lengths), pending.outside
        self.scores = np.zeros((outside + 1, 2 * n_relations), dtype=np.float32)  # by row of pend[i]
        self._best = np.full((n_sentences * self.width + 1, 2), -np.inf, dtype=np.float32)
        self._relations = np.zeros((n_sentences * self.width + 1, 2), dtype=np.int64)
        sentence = np.repeat(np.arange(n_sentences), pending.lengths)
        self._cells = np.empty(outside + 1, dtype=np.int64)  # row -> line of the grid
        self._cells[:outside] = np.arange(outside) - pending.starts[sentence] + sentence * self.width
        self._cells[outside] = n_sentences * self.width

    def best(self, n_active: int) -> Floats:
        """The best score of each pair and direction: (n_active, width * 2), a view."""
        return self._best[: n_active * self.width].reshape(n_active, self.width * 2)

    def best_relations(self, n_active: int) -> Ints:
        """The relations those scores belong to: (n_active, width * 2), a view."""
        return self._relations[: n_active * self.width].reshape(n_active, self.width * 2)

    def arcs(self, n_active: int) -> tuple[Ints, Ints, Ints]:
        """The words of each line of the grid as rows (n_active, width), and the heads and modifiers that its cells are
        about: (n_active, width * 2). Where there is no pair, they mean nothing."""
        pending = self.pending
        rows = np.minimum(pending.starts[:n_active, None] + np.arange(self.width), pending.outside)
        ends = np.concatenate([pending.next[rows], rows], axis=1).reshape(n_active, 2, -1)
        h = ends.swapaxes(1, 2).reshape(n_active, -1)  # LEFT, RIGHT
        m = ends[:, ::-1].swapaxes(1, 2).reshape(n_active, -1)
        return rows, h, m

    def update(self, left: Ints, scores: Floats) -> None:
        """New scores (n, 2 * n_relations) of pairs, known by the rows of pend[i]."""
        by_direction = scores.reshape(-1, self.n_relations)
        relations: Ints = by_direction.argmax(axis=1)
        best = scores.reshape(-1).take(relations + np.arange(0, scores.size, self.n_relations)).reshape(-1, 2)
        self.scores[left] = scores
        cells = self._cells.take(left)
        self._best[cells] = best
        self._relations[cells] = relations.reshape(-1, 2)

    def scores_of(self, left: Ints, directions: Ints) -> Floats:
        """The scores of all relations for pairs and directions: (n, n_relations), a copy."""
        return self.scores.reshape(-1, self.n_relations).take(2 * left + directions, 0)

    def withdraw(self, rows: Ints) -> None:
        """The pairs of these rows are no more; those that have another neighbour now are to be scored anew."""
        self._best[self._cells.take(rows)] = -np.inf
