"""The confidence of a parse: probabilities that a calibration computes from the margins of the derivation.

- An *arc*: its margin, the margin over its best rival of the whole derivation, the doubt in the rest of the sentence
  (the mean of exp(-margin / scale) over the other steps), how late the arc was decided, the lengths of the sentence and
  of the arc, and the relation. A word loses a possible head whenever a neighbour is attached, so the best rival is that
  of the step of the arc or one that was lost before, whichever was closer.
- The *root* has no step of its own. Each step that gave it a modifier could have made it a modifier instead, so the
  smallest margin of these steps replaces its own.
- A *label* is correct if both the arc and the relation are. Its probability is that of the arc times that of the
  relation given a correct arc, which is computed from the margin over the best other relation, and from the relation.
- The *tree* is correct if all labels are. Its log-odds are computed from the product of their probabilities, corrected
  because errors are not independent.

None of the four decreases if a margin increases. A sentence of one word is certain, and so are heads and relations that
constraints fix. The other probabilities are computed as for an unconstrained parse. Where a head or relation was
changed after the parse, its probability is that of an error of the parser: an upper bound, since the change may be
wrong too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from easyfirst.confidence.calibration import Calibration, Logistic, Offsets, Scales
from easyfirst.errors import ModelError
from easyfirst.nn.arrays import Floats

DOUBT_OFFSET = 0.02
"""Added to a mean doubt, so that its logarithm is finite."""
MAX_LOG_PROBABILITY = -1e-9
"""The largest log-probability of a whole tree."""
_NO_OFFSETS = [0.0, 0.0]


@dataclass(frozen=True, slots=True)
class Confidence:
    """Probabilities that a parse is correct, one for each word in ``arcs`` and ``labels``."""

    tree: float
    """The probability that all heads and relations are correct."""
    arcs: tuple[float, ...]
    """The probabilities that the head of each word is correct."""
    labels: tuple[float, ...]
    """The probabilities that both the head and the relation of each word are correct."""


class Decisions(Protocol):
    """The attachments of one sentence in the order of the parser: one value for each step."""

    @property
    def heads(self) -> npt.NDArray[np.int32]: ...  # word ids, from 1

    @property
    def modifiers(self) -> npt.NDArray[np.int32]: ...

    @property
    def margins(self) -> npt.NDArray[np.float32]: ...

    @property
    def label_margins(self) -> npt.NDArray[np.float32]: ...

    @property
    def lost_margins(self) -> npt.NDArray[np.float32] | None: ...  # by word

    @property
    def relations(self) -> Sequence[str]: ...

    @property
    def root(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one parse, of two words or more."""

    arcs: Floats  # (n - 1, ...) by step
    labels: Floats  # (n - 1, ...) by step
    root: Floats  # (...)


def confidence_of(
    steps: Decisions,
    calibration: Calibration,
    *,
    fixed_heads: Sequence[int] = (),
    fixed_relations: Sequence[int] = (),
    changed_heads: Sequence[int] = (),
    changed_relations: Sequence[int] = (),
) -> Confidence:
    """Return the confidence of a parse. ``fixed_heads`` and ``fixed_relations``: words for which these are certain;
    ``changed_heads`` and ``changed_relations``: words for which they are not those of the derivation."""
    n = len(steps.modifiers) + 1
    if n == 1:
        return Confidence(1.0, (1.0,), (1.0,))
    features = features_of(steps, calibration.scales)
    words = steps.modifiers - 1
    root = steps.root - 1
    arcs, relations = np.empty(n), np.empty(n)
    offsets = _offsets_of(steps.relations, calibration.relations)
    arcs[words] = probability(features.arcs, calibration.arc, offsets[:, 0])
    relations[words] = probability(features.labels, calibration.label, offsets[:, 1])
    arcs[root] = probability(features.root, calibration.root)
    relations[root] = calibration.root_label
    arcs[[m - 1 for m in fixed_heads]] = 1
    relations[[m - 1 for m in fixed_relations]] = 1
    for values, changed in ((arcs, changed_heads), (relations, changed_relations)):
        rows = [m - 1 for m in changed]
        values[rows] = 1 - values[rows]
    labels = arcs * relations
    in_doubt = labels[labels < 1]
    tree = 1.0
    if len(in_doubt):
        tree = min(float(probability(tree_features(in_doubt), calibration.tree)), float(labels.min()))
    return Confidence(tree, tuple(arcs.tolist()), tuple(labels.tolist()))


def require_confidence(confidence: Confidence | None) -> Confidence:
    """Return the confidence, or raise a :class:`ModelError` if the model has no calibration."""
    if confidence is None:
        raise no_calibration("the model", "MODEL")
    return confidence


def no_calibration(subject: str, name: str, otherwise: str = "") -> ModelError:
    """Return the error for a model without a calibration. ``name``: the model as the user typed it. ``otherwise``: what
    the user can do instead of calibrating it."""
    return ModelError(
        f"{subject} has no calibration, so it cannot compute confidence; add one with 'easyfirst calibrate {name} "
        f"DEV', where DEV is CoNLL-U that was not used for training{otherwise}"
    )


def rounded(confidence: float) -> float:
    """Round to four decimals, but never an uncertain answer to 1 nor a possible one to 0."""
    if confidence in (0, 1):
        return confidence
    return min(max(round(confidence, 4), 0.0001), 0.9999)


def features_of(steps: Decisions, scales: Scales) -> Features:
    """Return the features of the regressions for arcs, labels and the root, except relations."""
    n = len(steps.modifiers) + 1
    margins = steps.margins.astype(np.float64)
    modifiers, head_of = steps.modifiers.astype(np.intp), steps.heads.astype(np.intp)
    doubts = np.exp(-margins / scales.doubt)
    total = doubts.sum()
    others = np.log(DOUBT_OFFSET + (total - doubts) / max(n - 2, 1))
    lateness = np.arange(1, n) / n
    length = np.full(n - 1, math.log(n))
    distances = np.log(np.abs(head_of - modifiers))
    of_root = margins[head_of == steps.root].min(keepdims=True)
    root_rivals = of_root if steps.lost_margins is None else np.minimum(of_root, steps.lost_margins[steps.root - 1])
    doubt = math.log(DOUBT_OFFSET + total / (n - 1))
    return Features(
        arcs=np.column_stack([_of_margins(margins, rival_margins(steps), scales), others, lateness, length, distances]),
        labels=np.column_stack([_segments(steps.label_margins.astype(np.float64), scales.label_margins), lateness]),
        root=np.concatenate([_of_margins(of_root, root_rivals, scales)[0], [doubt, math.log(n)]]),
    )


def rival_margins(steps: Decisions) -> Floats:
    """Return the margin of each step over the best rival of the whole derivation."""
    lost = steps.lost_margins
    rivals = steps.margins if lost is None else np.minimum(steps.margins, lost[steps.modifiers - 1])
    return rivals.astype(np.float64)


def tree_features(labels: Floats) -> Floats:
    """Return the features of the regression for the tree, given the probabilities of uncertain labels."""
    together = min(float(np.log(labels).sum()), MAX_LOG_PROBABILITY)
    return np.array([together - math.log(-math.expm1(together)), math.log(len(labels))])


def probability(features: Floats, logistic: Logistic, offsets: Floats | float = 0.0) -> Floats:
    """Return the probabilities (...) for features (..., n), and what is added to their log-odds (...)."""
    log_odds = features @ np.array(logistic.weights) + logistic.bias + offsets
    return 1 / (1 + np.exp(-np.minimum(np.maximum(log_odds, -50), 50)))  # np.clip is slower for few numbers


def _of_margins(margins: Floats, rivals: Floats, scales: Scales) -> Floats:
    return np.column_stack([_segments(margins, scales.margins), _segments(rivals, scales.rivals)])


def _segments(margins: Floats, knots: Sequence[float]) -> Floats:
    """Return the part of each margin between successive knots: (n,) -> (n, len(knots)).

    A weighted sum of them is a piecewise linear function, constant after the last knot. With weights that are not
    negative it never decreases."""
    low, width = _intervals(tuple(knots))
    return np.minimum(np.maximum(margins[:, None] - low, 0), width)


def _offsets_of(relations: Sequence[str], known: Offsets) -> Floats:
    """Return what the relations of steps add to the log-odds of arcs and of labels: (n, 2)."""
    by_name = {name: offsets for name, *offsets in known}
    return np.array([by_name.get(name, _NO_OFFSETS) for name in relations])


@lru_cache(maxsize=32)
def _intervals(knots: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return the lower ends and the widths of the intervals between knots."""
    high = np.array(knots)
    low = np.array([0.0, *knots][:-1])
    return low, high - low
