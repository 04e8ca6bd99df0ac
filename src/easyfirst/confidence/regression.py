"""Logistic regression by Newton's method, with an L2 penalty and sign constraints on the weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easyfirst.confidence.calibration import Logistic
from easyfirst.nn.arrays import Bools, Floats

RIDGE = 1.0
"""The L2 penalty on the weights of standardised features (half of this times their squares)."""
MAX_STEPS, TOLERANCE = 100, 1e-10


def fit_logistic(features: Floats, is_right: Bools, signs: Sequence[int]) -> Logistic:
    """Fit a regression by penalised maximum likelihood. ``features``: (n, k). ``signs``, one for each of the first
    features: 1 if its weight must not be negative, -1 if it must not be positive, 0 if it is free, as all others are.

    The targets are smoothed as in Platt (1999), with one more correct and one more wrong answer, so that a few
    sentences without an error do not produce certainty.
    """
    n, k = features.shape
    n_right = int(is_right.sum())
    targets = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    centre = features.mean(axis=0) if n else np.zeros(k)
    spread = features.std(axis=0) if n else np.zeros(k)
    varies = spread > 1e-9
    spread = np.where(varies, spread, 1.0)
    standard = (features - centre) / spread
    free = np.flatnonzero(varies)
    while True:
        weights = np.zeros(k)
        bias, weights[free] = _newton(standard[:, free], targets, prior=np.log((n_right + 1) / (n - n_right + 1)))
        against = weights[: len(signs)] * np.asarray(signs)
        if against.min(initial=0.0) >= 0:
            break
        free = free[free != against.argmin()]  # drop the feature that violates its sign most
    weights /= spread
    return Logistic(float(bias - weights @ centre), tuple(weights.tolist()))


def _newton(features: Floats, targets: Floats, *, prior: float) -> tuple[float, Floats]:
    """Return the bias and the weights for standardised features."""
    design = np.column_stack([np.ones(len(features)), features])
    penalty = np.full(design.shape[1], RIDGE)
    penalty[0] = 1e-9 if len(features) else 1.0
    found = np.zeros(design.shape[1])
    found[0] = prior
    loss = _loss(design, targets, penalty, found)
    for _ in range(MAX_STEPS):
        p = 1 / (1 + np.exp(-design @ found))
        gradient = design.T @ (p - targets) + penalty * found
        curvature = (design * (p * (1 - p))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (new_loss := _loss(design, targets, penalty, found - size * step)) > loss and size > 1e-6:
            size /= 2
        found, improvement, loss = found - size * step, loss - new_loss, new_loss
        if improvement < TOLERANCE:
            break
    return float(found[0]), found[1:]


def _loss(design: Floats, targets: Floats, penalty: Floats, weights: Floats) -> float:
    log_odds = design @ weights
    return float((np.logaddexp(0, log_odds) - targets * log_odds).sum() + (penalty * weights**2).sum() / 2)
