"""What the parser did: every attachment in the order it was decided (Algorithm 1's ``arcs``, with scores)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.trees import LEFT


@dataclass(frozen=True, slots=True)
class Attachment:
    """One step of a derivation. Words are numbered from 1."""

    step: int
    """From 1: the first step is the decision the parser found easiest."""
    head: int
    modifier: int
    relation: str
    score: float
    margin: float
    """How far the action's score was above the next best action's; infinite if there was no other."""

    @property
    def direction(self) -> str:
        """On which side of its head the modifier is."""
        return "left" if self.modifier < self.head else "right"


@dataclass(frozen=True, slots=True)
class Actions:
    """What was done in one step, one action for each sentence still running, in the batch's order."""

    left: Ints  # rows of pend[i]
    directions: Ints
    relations: Ints
    scores: Floats
    margins: Floats


@dataclass(frozen=True, slots=True)
class Derivations:
    """All steps of a batch: ``steps[t]`` holds the t-th attachment of every sentence that has one."""

    starts: Ints
    lengths: Ints
    heads: list[Ints]
    modifiers: list[Ints]
    actions: list[Actions]


def head_and_modifier(left: Ints, right: Ints, directions: Ints) -> tuple[Ints, Ints]:
    """Of the pairs (left, right): which is the head, and which the modifier."""
    is_left = directions == LEFT
    return np.where(is_left, right, left), np.where(is_left, left, right)
