"""The subtrees of a batch as one network encodes them (Algorithm 2), and the scores of their pairs.

The scorer's hidden layer is linear in each slot of the window, so every node keeps its projection by every slot, and a
pair's hidden layer is a sum of rows. An attachment changes one side of one node: its projections are updated by the
difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn import scorer, trees
from easyfirst.nn.activations import MINUS_TWO, TWO, sigmoid_of_negated_
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.lstm import Stack, stack_of
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import Network
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.workspace import Workspace

BLOCK = 128
"""How many rows are processed at a time where there are many, so that intermediate results stay in the cache."""

FEW_WINDOWS = 24
"""Up to this many windows, gathering all their rows at once is faster than slot by slot."""


@dataclass(frozen=True, slots=True)
class Member:
    """One network of an ensemble, with the tables that the loop needs, computed once for given weights."""

    network: Network
    stack: Stack

    slots: Floats  # (2 * tree_dim, n_slots * hidden)
    hidden_bias: Floats  # (hidden,)
    relations: Floats | None  # (n_relations, vector_dim)
    unlabelled: Floats  # (hidden_dim, 2)
    labelled: Floats  # (hidden_dim, 2 * n_relations)
    output_bias: Floats  # (2 * n_relations,) of both

    @classmethod
    def of(cls, network: Network, n_members: int) -> Member:
        """Prepare a network whose scores are averaged with those of ``n_members - 1`` others."""
        share = np.float32(1 / n_members)
        slots = scorer.slot_weights(network.scorer, network.n_slots)
        relations = trees.relation_table(NUMPY, network.trees) if network.trees.layers else None
        weights = network.scorer
        output, output_bias = scorer.output_weights(NUMPY, weights)
        # tanh(x) = 2 sigmoid(2x) - 1: with the factors in the tables only the sigmoid of the negated sum remains
        return cls(
            network=network,
            stack=stack_of(network.trees),
            slots=slots * MINUS_TWO,
            hidden_bias=weights.hidden_bias * MINUS_TWO,
            relations=relations,
            unlabelled=weights.unlabelled * (TWO * share),
            labelled=weights.labelled * (TWO * share),
            output_bias=(output_bias - output.sum(axis=0)) * share,
        )


class Nodes:
    """The states of all nodes of a batch, and their projections by each slot of the window, in one network."""

    __slots__ = ("_by_side", "_by_slot", "c", "member", "parts", "projections", "slots")

    def __init__(self, member: Member, c: Floats, projections: Floats, parts: Sequence[Floats]) -> None:
        self.member = member
        self.c = c  # (n_rows + 1, 2 * dim)
        self.projections = projections  # (n_rows + 1, n_slots * hidden)
        self.parts = parts  # of the RNN states, each (2, n_rows + 1, dim)
        self.slots = np.arange(member.network.n_slots)
        self._by_side = c.reshape(-1, self._dim)  # row * 2 + side
        self._by_slot = projections.reshape(-1, len(member.hidden_bias))  # row * n_slots + slot

    @property
    def _dim(self) -> int:
        return self.member.network.trees.output_dim

    @classmethod
    def leaves(cls, member: Member, vectors: Floats, workspace: Workspace) -> Nodes:
        """Encode the words of a batch, before anything is attached; the last row is the padding."""
        weights, n_slots = member.network.trees, member.network.n_slots
        padded = np.concatenate([vectors, weights.padding[None]])
        n_rows, width, dim = len(padded), len(member.hidden_bias), weights.output_dim
        pair_slot = (n_slots // 2 - 1) * width  # pend[i] is in every window, so its projection includes the bias
        projections = workspace.array("projections", (n_rows, n_slots * width), padded.dtype)
        c = workspace.array("c", (n_rows, 2 * dim), padded.dtype)
        parts: list[Floats] = []
        for begin in range(0, n_rows, BLOCK):
            rows = slice(begin, min(begin + BLOCK, n_rows))
            leaves = member.stack.start(padded[rows])
            if not parts:
                shape = (2, n_rows, dim)
                parts = [workspace.array(f"part {k}", shape, padded.dtype) for k in range(len(leaves))]
            for part, leaf_part in zip(parts, leaves, strict=True):
                part[:, rows] = leaf_part
            for side in (LEFT, RIGHT):
                c[rows, side * dim : (side + 1) * dim] = leaves[-1][side]
            projected = np.matmul(c[rows], member.slots, out=projections[rows])
            projected[:, pair_slot : pair_slot + width] += member.hidden_bias
        return cls(member, c, projections, parts)

    def select(self, rows: Ints) -> Nodes:
        """Copy some rows, and the padding."""
        rows = np.append(rows, len(self.c) - 1)
        return Nodes(self.member, self.c[rows], self.projections[rows], [part[:, rows] for part in self.parts])

    def with_room(self, n_rows: int) -> Nodes:
        """Copy all rows into a larger table, whose other rows are not initialised."""
        n = len(self.c)
        c, projections = (np.empty((n_rows, array.shape[1]), array.dtype) for array in (self.c, self.projections))
        parts = [np.empty((2, n_rows, part.shape[2]), part.dtype) for part in self.parts]
        c[:n], projections[:n] = self.c, self.projections
        for part, old in zip(parts, self.parts, strict=True):
            part[:, :n] = old
        return Nodes(self.member, c, projections, parts)

    def copy(self, rows: Ints, to: Ints) -> None:
        """Copy rows to others."""
        self.c[to], self.projections[to] = self.c[rows], self.projections[rows]
        for part in self.parts:
            part[:, to] = part[:, rows]

    def score(self, windows: Ints) -> Floats:
        """Return what this network adds to the scores of pairs: (n, n_slots) rows -> (n, 2 * n_relations)."""
        hidden = self._sum_projections(windows * len(self.slots) + self.slots)
        sigmoid_of_negated_(hidden)
        middle = len(self.member.unlabelled)
        scores = hidden[:, middle:] @ self.member.labelled
        scores += self.member.output_bias
        unlabelled = hidden[:, :middle] @ self.member.unlabelled
        by_direction = scores.reshape(len(scores), 2, -1)
        by_direction += unlabelled[:, :, None]
        return scores

    def _sum_projections(self, rows: Ints) -> Floats:
        """Sum (n, n_slots) rows of projections: (n, hidden)."""
        if len(rows) <= FEW_WINDOWS:
            return np.add.reduce(self._by_slot.take(rows, 0), axis=1)
        by_column: list[Ints] = list(rows.T.copy())
        total = self._by_slot.take(by_column[0], 0)
        for column in by_column[1:]:
            total += self._by_slot.take(column, 0)
        return total

    def attach(self, h: Ints, m: Ints, directions: Ints, relations: Ints) -> None:
        """Attach modifiers to their heads: advance one RNN of each head by the encoded modifier."""
        if self.member.relations is None:
            return
        of_relations = self.member.relations.take(relations, 0)
        encoded = trees.encode_modifiers(NUMPY, self.member.network.trees, self.c.take(m, 0), of_relations)
        is_right = directions == RIGHT
        n_right = np.count_nonzero(is_right)
        if n_right in (0, len(h)):
            self._attach_on_side(h, encoded, RIGHT if n_right else LEFT)
            return
        for side, here in ((LEFT, np.flatnonzero(~is_right)), (RIGHT, np.flatnonzero(is_right))):
            self._attach_on_side(h.take(here), encoded.take(here, 0), side)

    def _attach_on_side(self, h: Ints, encoded: Floats, side: int) -> None:
        parts = [part[side] for part in self.parts]
        old = [part.take(h, 0) for part in parts]
        new = self.member.stack.advance(old, encoded, side=side)
        for part, rows in zip(parts, new, strict=True):
            part[h] = rows
        self._by_side[2 * h + side] = new[-1]
        change = new[-1] - old[-1]
        projections = self.projections.take(h, 0)
        projections += change @ self.member.slots[side * self._dim : (side + 1) * self._dim]
        self.projections[h] = projections
