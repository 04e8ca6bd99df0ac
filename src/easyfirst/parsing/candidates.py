"""Every action open to the parser, with its score, kept up to date while the pending lists shrink."""

from __future__ import annotations

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.pending import Pending


class Candidates:
    """The scores of all actions on all pairs, and for each pair and direction the best relation.

    The best ones lie in a grid, a line for each sentence and a cell for each word and direction, so that the best
    action of every sentence is one ``argmax``. A word that has no pair has minus infinity.
    """

    __slots__ = (
        "_best",
        "_best_of_each",
        "_cells",
        "_left_places",
        "_relation_lines",
        "_relation_of_each",
        "_relations",
        "_right_places",
        "lines",
        "n_relations",
        "pending",
        "scores",
        "width",
    )

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
        self.lines = np.arange(n_sentences) * (2 * self.width)  # (n_sentences,) the place of its first cell
        self._relation_lines = np.arange(n_sentences) * n_relations
        self._best_of_each = self._best.reshape(-1)  # a view
        self._relation_of_each = self._relations.reshape(-1)
        self._left_places = 2 * self._cells + LEFT  # row -> where the best of its pair's actions to the left is
        self._right_places = 2 * self._cells + RIGHT

    def _share(self, other: Candidates) -> None:
        """Be like another one, but with a grid that can be changed without changing the other's."""
        for name in Candidates.__slots__:
            setattr(self, name, getattr(other, name))
        self._best, self._relations = other._best.copy(), other._relations.copy()
        self._best_of_each, self._relation_of_each = self._best.reshape(-1), self._relations.reshape(-1)

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

    def best_at(self, places: Ints) -> tuple[Floats, Ints]:
        """Scores and relations at places of the grid, counted through all its lines."""
        return self._best_of_each.take(places), self._relation_of_each.take(places)

    def rival_arcs(self, left: Ints, places: Ints) -> Floats:
        """The best score of an action that would change the arc of a pair (see ``Attachment.margin``), which stands at
        that place of the grid.

        Such an action makes one of the two a modifier in another way: pend[i] of pend[i-1], pend[i+1] of pend[i+2], or
        the head of its modifier."""
        pending = self.pending
        left_goes = self._best_of_each.take(self._right_places.take(pending.previous.take(left)))
        right_goes = self._best_of_each.take(self._left_places.take(pending.next.take(left)))
        np.maximum(left_goes, right_goes, out=left_goes)
        return np.maximum(left_goes, self._best_of_each.take(places ^ 1), out=left_goes)

    def rival_cells(self, start: int, cell: int) -> list[int]:
        """Where in the line of the sentence that begins in row ``start`` those actions are that :meth:`rival_arcs`
        looks at, for the action in this cell."""
        pending, left = self.pending, start + (cell >> 1)
        before, right = int(pending.previous[left]), int(pending.next[left])
        pairs = ((before, RIGHT), (right, LEFT))
        return [cell ^ 1, *(2 * (row - start) + direction for row, direction in pairs if row != pending.outside)]

    def rival_relations(self, left: Ints, directions: Ints, relations: Ints) -> Floats:
        """The best score of the same arcs with another relation."""
        scores = self.scores_of(left, directions)
        scores.put(relations + self._relation_lines[: len(left)], -np.inf)
        return scores.max(axis=1)

    def is_open(self, left: int, direction: int) -> bool:
        """Whether an action on a pair that has a score could be chosen: here always."""
        return True

    def withdraw(self, rows: Ints) -> None:
        """The pairs of these rows are no more; those that have another neighbour now are to be scored anew."""
        self._best[self._cells.take(rows)] = -np.inf
