"""What the parser did: every attachment in the order it was decided (Algorithm 1's ``arcs``, with scores)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    """How far the action's score was above that of the best action that would have changed the arc.

    Such an action gives the modifier another head, or takes the head away: it makes one of the two a modifier of its
    other neighbour, or the head the modifier of its modifier. An action elsewhere in the sentence changes nothing,
    since this arc can still come after it, and neither does another relation. Infinite if there was none, which needs
    a constraint: any two neighbours can be attached the other way round."""
    label_margin: float
    """How far the action's score was above that of the same arc with the best other relation; infinite if there is
    no other."""

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
    label_margins: Floats


@dataclass(frozen=True, slots=True)
class Derivations:
    """All steps of a batch: ``steps[t]`` holds the t-th attachment of every sentence that has one."""

    starts: Ints
    lengths: Ints
    heads: list[Ints]
    modifiers: list[Ints]
    actions: list[Actions]


@dataclass(frozen=True, slots=True)
class Steps:
    """The order in which the words of a sentence found their heads: one value per attachment, the easiest first."""

    modifiers: npt.NDArray[np.int32]  # ids, from 1
    scores: npt.NDArray[np.float32]
    margins: npt.NDArray[np.float32]
    label_margins: npt.NDArray[np.float32]


def finite(margin: float) -> float | None:
    """A score or a margin for JSON, which knows nothing infinite."""
    return round(margin, 4) if math.isfinite(margin) else None


def head_and_modifier(left: Ints, right: Ints, directions: Ints) -> tuple[Ints, Ints]:
    """Of the pairs (left, right): which is the head, and which the modifier."""
    is_left = directions == LEFT
    return np.where(is_left, right, left), np.where(is_left, left, right)
