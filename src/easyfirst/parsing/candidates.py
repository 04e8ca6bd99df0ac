"""Every action open to the parser, with its score, kept up to date while the pending lists shrink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.pending import Pending


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the best action of each pair and direction is stored: one line for each sentence, two cells (LEFT, RIGHT)
    for each of its words. The best action of every sentence is then one ``argmax``."""

    width: int  # words of the longest sentence
    pairs: Ints  # (n_rows + 1,) row of pend[i] -> the number of its pair of cells; that of the outside is the last
    places: Ints  # (n_rows + 1,) row of pend[i] -> the place of its LEFT cell in the flat grid

    @classmethod
    def of(cls, pending: Pending) -> Grid:
        """Lay out the grid of a batch."""
        n_sentences, outside, width = len(pending.lengths), pending.outside, int(pending.lengths[0])
        sentence = np.repeat(np.arange(n_sentences), pending.lengths)
        pairs = np.empty(outside + 1, dtype=np.intp)
        pairs[:outside] = np.arange(outside) - pending.starts[sentence] + sentence * width
        pairs[outside] = n_sentences * width
        return cls(width, pairs, 2 * pairs)

    @property
    def n_pairs(self) -> int:
        return int(self.pairs[-1]) + 1


class Candidates:
    """The scores of all actions on all pairs and, in a grid, the best relation of each pair and direction.

    A word without a pair has minus infinity in the grid.
    """

    __slots__ = ("_best", "_best_flat", "_relations", "_relations_flat", "grid", "n_relations", "pending", "scores")

    def __init__(
        self, pending: Pending, n_relations: int, grid: Grid, scores: Floats, best: Floats, relations: Ints
    ) -> None:
        self.pending = pending
        self.n_relations = n_relations
        self.grid = grid
        self.scores = scores  # (n_rows + 1, 2 * n_relations) by row of pend[i]
        self._best = best  # (n_pairs, 2)
        self._relations = relations  # (n_pairs, 2)
        self._best_flat, self._relations_flat = best.reshape(-1), relations.reshape(-1)  # views

    @classmethod
    def empty(cls, pending: Pending, n_relations: int) -> Candidates:
        """Return the candidates of a batch of which no pair has been scored."""
        grid = Grid.of(pending)
        return cls(
            pending,
            n_relations,
            grid,
            scores=np.zeros((pending.outside + 1, 2 * n_relations), dtype=np.float32),
            best=np.full((grid.n_pairs, 2), -np.inf, dtype=np.float32),
            relations=np.zeros((grid.n_pairs, 2), dtype=np.intp),
        )

    def select(self, sentences: Ints) -> Candidates:
        """Copy the candidates of some sentences, longest first, together with their pending lists."""
        copy, rows = Candidates.empty(self.pending.select(sentences), self.n_relations), self.pending.rows_of(sentences)
        copy.scores[:-1] = self.scores[rows]
        pairs, old = copy.grid.pairs[:-1], self.grid.pairs[rows]
        copy._best[pairs], copy._relations[pairs] = self._best[old], self._relations[old]
        return copy

    def copy_grid(self) -> tuple[Floats, Ints]:
        """Return copies of the best scores and relations, for a view that masks some of them."""
        return self._best.copy(), self._relations.copy()

    def best(self, n_active: int) -> Floats:
        """Return the best score of each pair and direction: (n_active, width * 2), a view."""
        width = self.grid.width
        return self._best[: n_active * width].reshape(n_active, width * 2)

    def best_relations(self, n_active: int) -> Ints:
        """Return the relations those scores belong to: (n_active, width * 2), a view."""
        width = self.grid.width
        return self._relations[: n_active * width].reshape(n_active, width * 2)

    def arcs(self, n_active: int) -> tuple[Ints, Ints, Ints]:
        """Return the words of each line of the grid as rows (n_active, width), and the heads and modifiers of its
        cells: (n_active, width * 2). Where there is no pair, the values are meaningless."""
        pending = self.pending
        rows = np.minimum(pending.starts[:n_active, None] + np.arange(self.grid.width), pending.outside)
        ends = np.concatenate([pending.next[rows], rows], axis=1).reshape(n_active, 2, -1)
        h = ends.swapaxes(1, 2).reshape(n_active, -1)  # LEFT, RIGHT
        m = ends[:, ::-1].swapaxes(1, 2).reshape(n_active, -1)
        return rows, h, m

    def update(self, left: Ints, scores: Floats) -> None:
        """Store new scores (n, 2 * n_relations) of pairs, given by the rows of pend[i]."""
        by_direction = scores.reshape(-1, self.n_relations)
        relations: Ints = by_direction.argmax(axis=1)
        best = scores.reshape(-1).take(relations + np.arange(0, scores.size, self.n_relations)).reshape(-1, 2)
        self.scores[left] = scores
        pairs = self.grid.pairs.take(left)
        self._best[pairs] = best
        self._relations[pairs] = relations.reshape(-1, 2)

    def invalidate(self, rows: Ints) -> None:
        """Invalidate the pairs of these rows. A row that has a new right neighbour must be scored again."""
        self._best[self.grid.pairs.take(rows)] = -np.inf

    def scores_of(self, left: Ints, directions: Ints) -> Floats:
        """Return the scores of all relations for pairs and directions: (n, n_relations), a copy."""
        return self.scores.reshape(-1, self.n_relations).take(2 * left + directions, 0)

    def best_of(self, left: Ints, directions: Ints) -> tuple[Floats, Ints]:
        """Return the best score of each pair and direction, and its relation."""
        places = self.grid.places.take(left) + directions
        return self._best_flat.take(places), self._relations_flat.take(places)

    def rival_arcs(self, left: Ints, directions: Ints) -> Floats:
        """Return the best score of an action that would change the arc (see ``Attachment.margin``).

        Such an action makes one of the two words a modifier in another way: pend[i] of pend[i-1], pend[i+1] of
        pend[i+2], or the head of its modifier."""
        pending, places, best = self.pending, self.grid.places, self._best_flat
        left_goes = best.take(places.take(pending.previous.take(left)) + RIGHT)
        right_goes = best.take(places.take(pending.next.take(left)) + LEFT)
        np.maximum(left_goes, right_goes, out=left_goes)
        return np.maximum(left_goes, best.take((places.take(left) + directions) ^ 1), out=left_goes)

    def lost_arcs(self, left: Ints, directions: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Yield the words that lose a possible head by actions, whose modifiers leave the pending list, and the best
        scores of the lost arcs: first the heads of these actions, then the other neighbours of the modifiers, which may
        be outside."""
        pending, places, best = self.pending, self.grid.places, self._best_flat
        right, is_left = pending.next.take(left), directions == LEFT
        before, after = pending.previous.take(left), pending.next.take(right)
        yield np.where(is_left, right, left), best.take((places.take(left) + directions) ^ 1)
        lost = places.take(np.where(is_left, before, right)) + directions
        yield np.where(is_left, before, after), best.take(lost)

    def rival_cells(self, start: int, cell: int) -> list[int]:
        """Return the cells, in the line of the sentence whose first row is ``start``, that :meth:`rival_arcs` compares
        with the action in this cell, and those of its :meth:`lost_arcs`."""
        pending, left = self.pending, start + (cell >> 1)
        before, right = int(pending.previous[left]), int(pending.next[left])
        pairs = ((before, RIGHT), (right, LEFT), (right, RIGHT) if cell & 1 else (before, LEFT))
        return [cell ^ 1, *(2 * (row - start) + direction for row, direction in pairs if row != pending.outside)]

    def rival_relations(self, left: Ints, directions: Ints, relations: Ints) -> Floats:
        """Return the best score of the same arcs with another relation."""
        scores = self.scores_of(left, directions)
        scores.put(relations + np.arange(0, scores.size, self.n_relations), -np.inf)
        return scores.max(axis=1)

    def is_feasible(self, left: int, direction: int) -> bool:
        """Return whether an action on a scored pair may be chosen: always, unless constraints rule it out."""
        return True
