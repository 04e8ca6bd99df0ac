"""The tree encoder of a training step, with gradients (section 3), batched by tree level instead of by parsing step.

It encodes the unfinished trees of a derivation. ``tree_module`` encodes finished trees, and is public.

Attachments form a graph: the version of a head after an attachment depends on its version before and on the
modifier's last versions. The *level* of a version is its longest path down to a leaf. All versions of a level, of all
sentences, are computed at once, so a batch takes as many matrix products as its deepest tree has levels.

One pool of rows holds all states: the leaves' left states, their right ones, then the levels.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn import trees
from easyfirst.nn.arrays import Bools, Ints
from easyfirst.nn.tree_levels import Level
from easyfirst.nn.trees import LEFT, RIGHT, TreeWeights
from easyfirst.parsing.exploration import Attachments
from easyfirst.training.kernels import LstmTrees
from easyfirst.training.torch_namespace import TORCH


@dataclass(frozen=True, slots=True)
class Plan:
    """The order in which the needed versions are computed, and their places in the pool."""

    leaves: Ints  # rows whose leaf states are needed
    levels: list[Level]  # lower levels first
    relations: Ints  # of every attachment needed, in the order of the levels
    places: Ints  # (2, n_versions) where each version lies in the pool; -1: not needed

    @classmethod
    def of(cls, attachments: Attachments, wanted: Ints, n_leaves: int) -> Plan:
        """Plan for the ``wanted`` versions by side (..., 2). ``n_leaves``: the number of rows with the outside."""
        is_needed = needed_versions(attachments, wanted, n_leaves)
        leaves = np.flatnonzero(is_needed[:, :n_leaves].any(axis=0))
        places = np.full(is_needed.shape, -1, dtype=np.int64)
        places[LEFT, leaves] = np.arange(len(leaves))
        places[RIGHT, leaves] = np.arange(len(leaves)) + len(leaves)
        needed = np.flatnonzero(is_needed[:, n_leaves:].any(axis=0))
        keys = levels_of(attachments, needed, n_leaves) * 2 + attachments.sides[needed]
        order = np.argsort(keys, kind="stable")
        needed, keys = needed[order], keys[order]
        places[:, n_leaves + needed] = 2 * len(leaves) + np.arange(len(needed))
        bounds = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(needed)]
        modifiers = np.stack([places[side, attachments.modifiers[needed, side]] for side in (LEFT, RIGHT)], axis=1)
        before = places[attachments.sides[needed], attachments.before[needed]]
        levels = [
            Level(int(keys[begin]) % 2, begin, before[begin:end], modifiers[begin:end])
            for begin, end in itertools.pairwise(bounds)
            if begin < end
        ]
        return cls(leaves, levels, attachments.relations[needed], places)

    @classmethod
    def of_heads_alone(cls, attachments: Attachments, n_leaves: int) -> Plan:
        """Plan for a network without tree layers, in which every version of a node is its leaf."""
        leaf_of = list(range(n_leaves))
        for before in attachments.before.tolist():
            leaf_of.append(leaf_of[before])
        places = np.stack([leaf_of, np.array(leaf_of) + n_leaves])
        return cls(np.arange(n_leaves), [], attachments.relations[:0], places)


def needed_versions(attachments: Attachments, wanted: Ints, n_leaves: int) -> Bools:
    """Return which versions are wanted, or needed to compute them: (2, n_versions)."""
    is_needed = np.zeros((2, n_leaves + len(attachments.sides)), dtype=bool)
    for side in (LEFT, RIGHT):
        is_needed[side, wanted[..., side]] = True
    rows = zip(attachments.sides.tolist(), attachments.before.tolist(), attachments.modifiers.tolist(), strict=True)
    left, right = either = is_needed.tolist()
    for version, (side, before, (of_left, of_right)) in reversed(list(enumerate(rows, n_leaves))):
        if either[side][version]:
            either[side][before] = left[of_left] = right[of_right] = True
    return np.array(either)


def levels_of(attachments: Attachments, needed: Ints, n_leaves: int) -> Ints:
    """Return the level of every needed attachment: one more than the highest level it depends on."""
    level = [0] * (n_leaves + len(attachments.sides))
    versions, before, modifiers = n_leaves + needed, attachments.before[needed], attachments.modifiers[needed]
    rows = zip(versions.tolist(), before.tolist(), modifiers.tolist(), strict=True)
    for version, version_before, (of_left, of_right) in rows:
        level[version] = 1 + max(level[version_before], level[of_left], level[of_right])
    return np.array(level, dtype=np.int64)[versions]


class TreeEncoder:
    """The states of subtrees, with gradients, for any set of attachments."""

    def __init__(self, weights: TreeWeights, vectors: Tensor, attachments: Attachments, wanted: Ints) -> None:
        """``vectors``: v of every row, without the outside; ``wanted``: the versions that :meth:`vectors` may get."""
        self._weights = weights
        n_leaves = len(vectors) + 1
        if weights.layers:
            self._plan = Plan.of(attachments, wanted, n_leaves)
        else:
            self._plan = Plan.of_heads_alone(attachments, n_leaves)
        self._dim = weights.output_dim
        padded = torch.concat([vectors, weights.padding[None]])
        leaf_states = trees.leaf_states(TORCH, weights, padded.index_select(0, torch.from_numpy(self._plan.leaves)))
        self._pool: Tensor = leaf_states.reshape(-1, leaf_states.shape[-1])
        if self._plan.levels:
            table = trees.relation_table(TORCH, weights)
            relations = table.index_select(0, torch.from_numpy(self._plan.relations))
            self._pool = self._climb_fast(relations) if weights.cell.name == "lstm" else self._climb(relations)

    def _climb(self, relations: Tensor) -> Tensor:
        """Compute all levels, with any kind of RNN."""
        pool = self._pool
        for level in self._plan.levels:
            pool = torch.concat([pool, level.climb(TORCH, self._weights, pool, relations)])
        return pool

    def _climb_fast(self, relations: Tensor) -> Tensor:
        """Compute all levels with the LSTM kernel."""
        weights = self._weights
        layers = [array for layer in weights.layers for array in (layer.input, layer.recurrent, layer.bias)]
        assert weights.encode is not None
        return LstmTrees.apply(self._pool, relations, weights.encode[: 2 * self._dim], self._plan.levels, *layers)

    def vectors(self, versions: Ints) -> Tensor:
        """Return c = e_l ∘ e_r of subtrees given by their versions: (.., 2) -> (.., 2 * tree_dim)."""
        places = np.stack([self._plan.places[side, versions[..., side]] for side in (LEFT, RIGHT)], axis=-1)
        outputs = self._pool[:, -self._dim :].index_select(0, torch.from_numpy(places.reshape(-1)))
        return outputs.reshape(*versions.shape[:-1], 2 * self._dim)
