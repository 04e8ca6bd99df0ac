"""Logistic regression by Newton's method, with an L2 penalty, sign constraints on weights, and offsets of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from easyfirst.confidence.calibration import Logistic
from easyfirst.nn.arrays import Bools, Floats, Ints

RIDGE = 1.0
"""The L2 penalty on the weights of standardised features (half of this times their squares)."""
OFFSET_RIDGE, LEAST_ANSWERS = 4.0, 20
"""The L2 penalty on the offsets, chosen by cross-validation on the dev set of UD_English-EWT: it weighs as much
as 44 answers of which nine in ten are correct. Groups of fewer answers than ``LEAST_ANSWERS`` have no offset."""
MAX_STEPS, TOLERANCE = 100, 1e-10


def fit_logistic(features: Floats, is_right: Bools, signs: Sequence[int]) -> Logistic:
    """Fit a regression without groups, as :func:`fit_groups` does."""
    return fit_groups(features, is_right, signs, ())[0]


def fit_groups(
    features: Floats, is_right: Bools, signs: Sequence[int], groups: Sequence[str]
) -> tuple[Logistic, dict[str, float]]:
    """Fit a regression by penalised maximum likelihood. Return it with the offset of each group that is large enough.

    ``features``: (n, k). ``signs``, one for each of the first features: 1 if its weight must not be negative, -1 if it
    must not be positive, 0 if it is free, as all others are. ``groups``: that of each answer, or none at all.

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
    names = sorted(name for name, count in Counter(groups).items() if count >= LEAST_ANSWERS)
    place = {name: number for number, name in enumerate(names)}
    members = np.array([place.get(name, len(names)) for name in groups or [""] * n], dtype=np.intp)
    free = np.flatnonzero(varies)
    while True:
        weights = np.zeros(k)
        prior = np.log((n_right + 1) / (n - n_right + 1))
        bias, weights[free], offsets = _newton(standard[:, free], targets, members, len(names), prior=prior)
        against = weights[: len(signs)] * np.asarray(signs)
        if against.min(initial=0.0) >= 0:
            break
        free = free[free != against.argmin()]  # drop the feature that violates its sign most
    weights /= spread
    found = Logistic(float(bias - weights @ centre), tuple(weights.tolist()))
    return found, dict(zip(names, offsets.tolist(), strict=True))


def _newton(
    features: Floats, targets: Floats, members: Ints, n_groups: int, *, prior: float
) -> tuple[float, Floats, Floats]:
    """Return the bias and the weights for standardised features, and the offsets of groups. ``members``: the group of
    each answer, or ``n_groups`` for none."""
    design = np.column_stack([np.ones(len(features)), features])
    k = design.shape[1]
    penalty = np.concatenate([np.full(k, RIDGE), np.full(n_groups, OFFSET_RIDGE)])
    penalty[0] = 1e-9 if len(features) else 1.0

    def log_odds(found: Floats) -> Floats:
        return design @ found[:k] + np.append(found[k:], 0.0)[members]

    def loss_of(found: Floats) -> float:
        z = log_odds(found)
        return float((np.logaddexp(0, z) - targets * z).sum() + (penalty * found**2).sum() / 2)

    def by_group(values: Floats) -> Floats:
        return np.bincount(members, values, minlength=n_groups + 1)[:n_groups].astype(np.float64)

    found = np.zeros(k + n_groups)
    found[0] = prior
    loss = loss_of(found)
    for _ in range(MAX_STEPS):
        p = 1 / (1 + np.exp(-log_odds(found)))
        error, spread = p - targets, p * (1 - p)
        gradient = np.concatenate([design.T @ error, by_group(error)]) + penalty * found
        weighted = design * spread[:, None]
        curvature = np.diag(penalty)
        curvature[:k, :k] += weighted.T @ design
        for column in range(k):
            curvature[column, k:] = curvature[k:, column] = by_group(weighted[:, column])
        curvature[range(k, k + n_groups), range(k, k + n_groups)] += by_group(spread)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (new_loss := loss_of(found - size * step)) > loss and size > 1e-6:
            size /= 2
        found, improvement, loss = found - size * step, loss - new_loss, new_loss
        if improvement < TOLERANCE:
            break
    return float(found[0]), found[1:k], found[k:]
