"""The tree encoder with gradients (section 3), batched by tree level instead of by parsing step.

Attachments form a graph: the version of a head after an attachment depends on its version before and on the
modifier's last versions. A version's *level* is the longest way down to a leaf, and all versions of one level, of all
sentences, are computed at once, so a batch takes as many products as its deepest tree has levels.

The states live in one pool of rows that is written level by level. Its gradient is a pool of the same shape that is
read in the opposite order; so each row is touched as often as it is used, whatever the number of levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn import trees
from easyfirst.nn.trees import LEFT, RIGHT, TreeWeights
from easyfirst.parsing.exploration import Attachments
from easyfirst.nn.namespace import Namespace


class _Pool:
    """Rows written once each, and their gradients."""

    def __init__(self, n_rows: int, width: int, like: Tensor) -> None:
        self.rows = like.new_empty((n_rows, width))
        self.grads: Tensor | None = None

    def gradient(self) -> Tensor:
        if self.grads is None:
            self.grads = torch.zeros_like(self.rows)
        return self.grads


class _Write(torch.autograd.Function):
    """Put rows into the pool. The ``turn`` passed from write to write keeps the backward pass in order."""

    @staticmethod
    def forward(ctx: Any, pool: _Pool, begin: int, rows: Tensor, turn: Tensor) -> Tensor:
        ctx.pool, ctx.begin, ctx.end = pool, begin, begin + len(rows)
        pool.rows[begin : ctx.end] = rows
        return turn.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, ctx.pool.gradient()[ctx.begin : ctx.end], grads[0]


class _Read(torch.autograd.Function):
    """Take rows from the pool, from a column on; what they get of gradient is added up there."""

    @staticmethod
    def forward(ctx: Any, pool: _Pool, index: Tensor, column: int, turn: Tensor) -> Tensor:
        ctx.pool, ctx.column = pool, column
        ctx.save_for_backward(index, turn)
        return pool.rows[:, column:].index_select(0, index)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        index, turn = ctx.saved_tensors
        ctx.pool.gradient()[:, ctx.column :].index_add_(0, index, grads[0])
        return None, None, None, torch.zeros_like(turn)


@dataclass(frozen=True, slots=True)
class Plan:
    """In which order, and where in the pool, the versions needed are computed."""

    leaves: np.ndarray  # rows whose leaf states are needed
    levels: list[tuple[int, np.ndarray]]  # (side, numbers of attachments), lower levels first
    places: np.ndarray  # (2, n_versions) where each version lies in the pool; -1: not needed
    n_rows: int

    @classmethod
    def of(cls, attachments: Attachments, wanted: np.ndarray, n_leaves: int) -> Plan:
        """``wanted``: versions by side (..., 2); ``n_leaves``: how many rows there are, the outside included."""
        is_needed = needed_versions(attachments, wanted, n_leaves)
        level = levels_of(attachments, is_needed, n_leaves)
        leaves = np.flatnonzero(is_needed[:, :n_leaves].any(axis=0))
        places = np.full(is_needed.shape, -1, dtype=np.int64)
        places[LEFT, leaves] = np.arange(len(leaves))
        places[RIGHT, leaves] = np.arange(len(leaves)) + len(leaves)
        needed = np.flatnonzero(is_needed[:, n_leaves:].any(axis=0))
        keys = level[needed] * 2 + attachments.sides[needed]
        order = np.argsort(keys, kind="stable")
        needed, keys = needed[order], keys[order]
        n_rows = 2 * len(leaves) + len(needed)
        places[:, n_leaves + needed] = np.arange(2 * len(leaves), n_rows)
        bounds = np.flatnonzero(np.diff(keys)) + 1
        groups = np.split(needed, bounds) if len(needed) else []
        return cls(leaves, [(int(attachments.sides[g[0]]), g) for g in groups], places, n_rows)


def needed_versions(attachments: Attachments, wanted: np.ndarray, n_leaves: int) -> np.ndarray:
    """Which versions those wanted depend on, themselves included: (2, n_versions)."""
    n_versions = n_leaves + len(attachments.sides)
    is_needed = np.zeros((2, n_versions), dtype=bool)
    for side in (LEFT, RIGHT):
        is_needed[side, wanted[..., side]] = True
    rows = zip(attachments.sides.tolist(), attachments.before.tolist(), attachments.modifiers.tolist(), strict=True)
    numbered = list(zip(range(n_leaves, n_versions), rows, strict=True))
    left, right = is_needed.tolist()
    either = (left, right)
    for version, (side, before, (of_left, of_right)) in reversed(numbered):
        if either[side][version]:
            either[side][before] = left[of_left] = right[of_right] = True
    return np.array(either)


def levels_of(attachments: Attachments, is_needed: np.ndarray, n_leaves: int) -> np.ndarray:
    """The level of every attachment needed: one more than the highest it depends on."""
    level = [0] * is_needed.shape[1]
    rows = zip(attachments.before.tolist(), attachments.modifiers.tolist(), strict=True)
    needed = is_needed[:, n_leaves:].any(axis=0).tolist()
    for version, ((before, (of_left, of_right)), is_wanted) in enumerate(zip(rows, needed, strict=True), n_leaves):
        if is_wanted:
            level[version] = 1 + max(level[before], level[of_left], level[of_right])
    return np.array(level[n_leaves:], dtype=np.int64)


class TreeEncoder:
    """States of subtrees, with gradients, for any set of attachments."""

    def __init__(
        self, xp: Namespace, weights: TreeWeights, vectors: Tensor, attachments: Attachments, wanted: np.ndarray
    ) -> None:
        """``vectors``: v of every row, without the outside; ``wanted``: the versions that will be asked for."""
        n_leaves = len(vectors) + 1
        self._xp = xp
        self._weights = weights
        self._plan = Plan.of(attachments, wanted, n_leaves)
        self._dim = weights.output_dim
        padded = torch.concat([vectors, weights.padding[None]])
        leaf_states = trees.leaf_states(xp, weights, padded.index_select(0, torch.from_numpy(self._plan.leaves)))
        width = leaf_states.shape[-1]
        self._pool = _Pool(self._plan.n_rows, width, vectors)
        self._turn = vectors.new_zeros(()).requires_grad_()
        self._write(0, leaf_states.reshape(-1, width))
        if weights.has_layers:
            self._climb(attachments, 2 * len(self._plan.leaves))

    def _climb(self, attachments: Attachments, begin: int) -> None:
        table = trees.relation_table(self._xp, self._weights)
        left_of, right_of = self._plan.places
        for side, numbers in self._plan.levels:
            before = torch.from_numpy(self._plan.places[side, attachments.before[numbers]])
            modifiers = attachments.modifiers[numbers]
            both = np.concatenate([left_of[modifiers[:, LEFT]], right_of[modifiers[:, RIGHT]]])
            n = len(numbers)
            outputs = self._read(torch.from_numpy(both), -self._dim)
            c = torch.concat([outputs[:n], outputs[n:]], 1)
            relations = table.index_select(0, torch.from_numpy(attachments.relations[numbers]))
            encoded = trees.encode_modifiers(self._xp, self._weights, c, relations)
            self._write(begin, trees.attach(self._xp, self._weights, self._read(before, 0), encoded, side=side))
            begin += n

    def vectors(self, versions: np.ndarray) -> Tensor:
        """c = e_l ∘ e_r of subtrees given by their versions: (.., 2) -> (.., 2 * tree_dim)."""
        places = np.stack([self._plan.places[side, versions[..., side]] for side in (LEFT, RIGHT)], axis=-1)
        outputs = self._read(torch.from_numpy(places.reshape(-1)), -self._dim)
        return outputs.reshape(*versions.shape[:-1], 2 * self._dim)

    def _write(self, begin: int, rows: Tensor) -> None:
        self._turn = _Write.apply(self._pool, begin, rows, self._turn)

    def _read(self, index: Tensor, column: int) -> Tensor:
        column %= self._pool.rows.shape[1]
        return _Read.apply(self._pool, index, column, self._turn)  # type: ignore[no-any-return]
