"""Decisions: which action each sentence of a batch takes in one step (``select`` of section 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.trees import LEFT
from easyfirst.parsing.candidates import Candidates


@dataclass(frozen=True, slots=True)
class Actions:
    """The decisions of one step: one action for each sentence still running, in the batch's order."""

    left: Ints  # rows of pend[i]
    directions: Ints
    relations: Ints
    scores: Floats


Choose = Callable[[Candidates, int], Actions]
"""``choose(candidates, n_active)`` returns an action for each of the first ``n_active`` sentences."""


def easiest(candidates: Candidates, n_active: int) -> Actions:
    """Choose the best-scored action of each sentence."""
    cells: Ints = candidates.best(n_active).argmax(axis=1)
    left, directions = candidates.pending.starts[:n_active] + (cells >> 1), cells & 1
    scores, relations = candidates.best_of(left, directions)
    return Actions(left, directions, relations, scores)


def head_and_modifier(left: Ints, right: Ints, directions: Ints) -> tuple[Ints, Ints]:
    """Return which word of each pair (left, right) is the head, and which the modifier."""
    is_left = directions == LEFT
    return np.where(is_left, right, left), np.where(is_left, left, right)
