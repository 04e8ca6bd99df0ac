"""How sure a parse is: probabilities made of the margins of its derivation by a model's calibration.

- An *arc* is the surer, the larger its margin. What else tells: how much doubt there is in the rest of the sentence
  (the mean of exp(-margin / scale) over the other steps), how late it was decided, and how long sentence and arc are.
- The *root* has no step of its own. It would not be the root if it had become a modifier, and that is among the
  alternatives of each step that gave it a modifier: the smallest of those margins stands for its own.
- A *label* is right if arc and relation are. It is the arc's probability times that of the relation, if the arc is
  right, from the margin over the best other relation.
- The *tree* is right if all labels are. Its log-odds come from the product of their probabilities, corrected because
  mistakes keep company.

All four rise with every margin, or at least never fall. A sentence of one word is certain, and so is what constraints
fix; what is left is judged as if the parser had found all of it, given that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.confidence.calibration import Calibration, Logistic, Scales
from easyfirst.errors import ModelError
from easyfirst.nn.arrays import Floats
from easyfirst.parsing.derivation import Steps
from easyfirst.treebank.misc import ARC_CONFIDENCE, LABEL_CONFIDENCE, STEP

LITTLE_DOUBT = 0.02
"""What is added to a mean doubt, so that its logarithm is finite."""
ALMOST_CERTAIN = -1e-9
"""The largest log-probability of a whole tree."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """Probabilities that a parse is right, one for each word in ``arcs`` and ``labels``."""

    tree: float
    """All heads and relations are right."""
    arcs: tuple[float, ...]
    """The word's head is right."""
    labels: tuple[float, ...]
    """The word's head and its relation are right."""


@dataclass(frozen=True, slots=True)
class Features:
    """What the regressions read of one parse of two words or more."""

    arcs: Floats  # (n - 1, ...) by step
    labels: Floats  # (n - 1, ...) by step
    root: Floats  # (...)


def confidence_of(
    heads: Sequence[int],
    steps: Steps,
    calibration: Calibration,
    *,
    fixed_heads: Sequence[int] = (),
    fixed_relations: Sequence[int] = (),
) -> Confidence:
    """How sure a parse is, in which the heads and relations of some words were fixed."""
    n = len(heads)
    if n == 1:
        return Confidence(1.0, (1.0,), (1.0,))
    features = features_of(heads, steps, calibration.scales)
    words = steps.modifiers - 1
    root = heads.index(0)
    arcs, relations = np.empty(n), np.empty(n)
    arcs[words] = probability(features.arcs, calibration.arc)
    relations[words] = probability(features.labels, calibration.label)
    arcs[root] = probability(features.root, calibration.root)
    relations[root] = calibration.root_label
    arcs[[m - 1 for m in fixed_heads]] = 1
    relations[[m - 1 for m in fixed_relations]] = 1
    labels = arcs * relations
    in_doubt = labels[labels < 1]
    if not len(in_doubt):
        return Confidence(1.0, tuple(arcs.tolist()), tuple(labels.tolist()))
    tree = min(float(probability(tree_features(in_doubt), calibration.tree)), float(labels.min()))
    return Confidence(tree, tuple(arcs.tolist()), tuple(labels.tolist()))


def require_confidence(confidence: Confidence | None) -> Confidence:
    """Raise an error if the model has no calibration."""
    if confidence is None:
        raise no_calibration("the model", "MODEL")
    return confidence


def no_calibration(subject: str, name: str) -> ModelError:
    """The error that a model, called so and of this name, cannot say how sure it is."""
    return ModelError(
        f"{subject} has no calibration, so it cannot say how sure it is; add one with 'easyfirst calibrate {name} "
        "DEV', where DEV is CoNLL-U that it has not learnt from"
    )


def misc_of(steps: Steps, confidence: Confidence) -> list[dict[str, str | None]]:
    """What MISC is to say of each word; the root has no step."""
    cells: list[dict[str, str | None]] = [
        {ARC_CONFIDENCE: f"{rounded(arc):.4f}", LABEL_CONFIDENCE: f"{rounded(label):.4f}", STEP: None}
        for arc, label in zip(confidence.arcs, confidence.labels, strict=True)
    ]
    modifiers: list[int] = steps.modifiers.tolist()
    for step, m in enumerate(modifiers, 1):
        cells[m - 1][STEP] = str(step)
    return cells


def rounded(confidence: float) -> float:
    """To four decimals, but never 1 for what is not certain, nor 0 for what is possible."""
    if confidence in (0, 1):
        return confidence
    return min(max(round(confidence, 4), 0.0001), 0.9999)


def features_of(heads: Sequence[int], steps: Steps, scales: Scales) -> Features:
    """What the regressions for arcs, labels and the root read."""
    n = len(heads)
    margins = steps.margins.astype(np.float64)
    modifiers = steps.modifiers.astype(np.int64)
    head_of = np.asarray(heads)[modifiers - 1]
    doubts = np.exp(-margins / scales.doubt)
    total = doubts.sum()
    others = np.log(LITTLE_DOUBT + (total - doubts) / max(n - 2, 1))
    lateness = np.arange(1, n) / n
    length = np.full(n - 1, math.log(n))
    distances = np.log(np.abs(head_of - modifiers))
    of_root = margins[head_of == heads.index(0) + 1].min()
    doubt = math.log(LITTLE_DOUBT + total / (n - 1))
    return Features(
        arcs=np.column_stack([_pieces(margins, scales.margins), others, lateness, length, distances]),
        labels=np.column_stack([_pieces(steps.label_margins.astype(np.float64), scales.label_margins), lateness]),
        root=np.concatenate([_pieces(np.array([of_root]), scales.margins)[0], [doubt, math.log(n)]]),
    )


def tree_features(labels: Floats) -> Floats:
    """What the regression for the tree reads of the labels' probabilities."""
    together = min(float(np.log(labels).sum()), ALMOST_CERTAIN)
    return np.array([together - math.log(-math.expm1(together)), math.log(len(labels))])


def probability(features: Floats, logistic: Logistic) -> Floats:
    """Of features (..., n) the probabilities (...)."""
    log_odds = features @ np.array(logistic.weights) + logistic.bias
    return 1 / (1 + np.exp(-np.clip(log_odds, -50, 50)))


def _pieces(margins: Floats, ends: Sequence[float]) -> Floats:
    """Each margin cut at the ends: (n,) -> (n, len(ends)); what is beyond the last end does not count. With weights
    that are not negative, a weighted sum of the pieces is a rising function of bends, which is what is fitted."""
    high = np.array(ends)
    low = np.concatenate([[0.0], high[:-1]])
    return np.clip(margins[:, None] - low, 0, high - low)
