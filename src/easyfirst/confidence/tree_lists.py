"""The probabilities of the trees that a beam finds for a sentence.

The probability of a tree is that all its heads and relations are correct. It is the product of two:

- the probability that the right tree is among those that were found, computed from the confidence of the first tree
  and the length of the sentence;
- the share of the tree among them: softmax(score / temperature).

So the probabilities of the trees of a sentence add up to the first of the two, and what is missing to 1 is the
probability that all of them are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from easyfirst.confidence.calibration import BeamCalibration, Calibration
from easyfirst.confidence.estimates import Confidence, Decisions, confidence_of, probability
from easyfirst.confidence.regression import fit_logistic
from easyfirst.nn.arrays import Floats
from easyfirst.treebank.sentence import Sentence

FITTED_WIDTH = 8
"""The width of the beam whose trees a calibration is fitted to."""
LEAST, MOST = 0.05, 50.0
"""The limits of the temperature."""
CERTAIN = 1e-6
"""The least doubt in a tree, so that its log-odds are finite."""


class RankedParse(Protocol):
    """A tree, and the derivation that led to it."""

    @property
    def heads(self) -> Sequence[int]: ...

    @property
    def relations(self) -> Sequence[str]: ...

    @property
    def steps(self) -> Decisions: ...


@dataclass(frozen=True, slots=True)
class TreeList:
    """The scores of the trees of a sentence, the confidence of the first, and which tree is the right one."""

    scores: tuple[float, ...]
    confidence: Confidence
    right: int | None  # None: all are wrong

    @classmethod
    def of(
        cls, parses: Sequence[RankedParse], scores: Sequence[float], gold: Sentence, calibration: Calibration
    ) -> TreeList:
        """Compare the trees of a sentence with the gold tree."""
        wanted = (gold.heads, gold.relations)
        is_right = [(tuple(parse.heads), tuple(parse.relations)) == wanted for parse in parses]
        first = confidence_of(parses[0].steps, calibration)
        return cls(tuple(scores), first, is_right.index(True) if any(is_right) else None)


def tree_probabilities(
    calibration: Calibration | None, scores: Sequence[float], confidence: Confidence | None
) -> list[float] | None:
    """Return the probability of each tree of a sentence, best first, given the confidence of the first. Return None
    without a calibration for beams."""
    if calibration is None or calibration.beam is None or confidence is None:
        return None
    share = _shares(np.array(scores), calibration.beam.temperature)
    if len(confidence.arcs) > 1:
        share = share * probability(_features(confidence), calibration.beam.found)
    return share.tolist()


def with_beam(calibration: Calibration, lists: Iterable[TreeList]) -> Calibration:
    """Return a calibration that is fitted to the trees that a beam found too. Sentences of one word are ignored."""
    longer = [each for each in lists if len(each.confidence.arcs) > 1]
    features = np.array([_features(each.confidence) for each in longer]).reshape(len(longer), 2)
    found = fit_logistic(features, np.array([each.right is not None for each in longer], dtype=bool), [1])
    return replace(calibration, beam=BeamCalibration(_temperature(longer), found, FITTED_WIDTH))


def _features(confidence: Confidence) -> Floats:
    """Return the log-odds of the first tree and the logarithm of the number of words."""
    doubt = max(1 - confidence.tree, CERTAIN)
    return np.array([math.log(max(confidence.tree, CERTAIN) / doubt), math.log(len(confidence.arcs))])


def _shares(scores: Floats, temperature: float) -> Floats:
    weights = np.exp((scores - scores.max()) / temperature)
    return weights / weights.sum()


def _temperature(lists: Sequence[TreeList]) -> float:
    """Return the temperature with the highest likelihood of the right trees, by golden section on its logarithm, of
    which the likelihood has one maximum; 1 if no right tree has a rival."""
    known = [(np.array(each.scores), each.right) for each in lists if each.right is not None and len(each.scores) > 1]
    if not known:
        return 1.0

    def loss(log_temperature: float) -> float:
        return -sum(math.log(_shares(s, math.exp(log_temperature))[right] + 1e-300) for s, right in known)

    ratio, low, high = (math.sqrt(5) - 1) / 2, math.log(LEAST), math.log(MOST)
    for _ in range(30):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if loss(left) < loss(right) else (left, high)
    return math.exp((low + high) / 2)
