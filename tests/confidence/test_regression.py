"""Logistic regression against plain gradient descent, and the signs that its weights must have."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.confidence.estimates import probability
from easyfirst.confidence.regression import LEAST_ANSWERS, OFFSET_RIDGE, RIDGE, fit_groups, fit_logistic


def sample(n: int, seed: int, weights: tuple[float, ...] = (1.5, -2.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, len(weights))) * [1.0, 3.0, 0.5] + [0.0, 5.0, -1.0]
    log_odds = (features - [0.0, 5.0, -1.0]) @ np.array(weights) + 0.5
    return features, rng.random(n) < 1 / (1 + np.exp(-log_odds))


def twin(features: np.ndarray, is_right: np.ndarray) -> tuple[float, np.ndarray]:
    """The same loss, written down and descended by the slope, nothing else."""
    n_right, n = int(is_right.sum()), len(is_right)
    targets = [(n_right + 1) / (n_right + 2) if right else 1 / (n - n_right + 2) for right in is_right]
    centre, spread = features.mean(axis=0), features.std(axis=0)
    standard = (features - centre) / spread
    bias, weights = 0.0, np.zeros(features.shape[1])
    for _ in range(20_000):
        p = 1 / (1 + np.exp(-(standard @ weights + bias)))
        bias -= 0.5 * float((p - targets).mean())
        weights -= 0.5 * (standard.T @ (p - targets) + RIDGE * weights) / n
    weights = weights / spread
    return bias - float(weights @ centre), weights


@pytest.mark.parametrize("seed", [0, 1])
def test_newton_finds_what_descent_finds(seed: int) -> None:
    features, is_right = sample(300, seed)
    found = fit_logistic(features, is_right, [0, 0, 0])
    bias, weights = twin(features, is_right)
    assert found.bias == pytest.approx(bias, abs=1e-4)
    np.testing.assert_allclose(found.weights, weights, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 1])
def test_offsets_are_weights_of_indicators(seed: int) -> None:
    """Newton without any use of groups: a column of 0 and 1 for each, with its own penalty."""
    features, is_right = sample(400, seed)
    groups = np.random.default_rng(seed).choice(["a", "b", "c", "rare"], 400, p=[0.5, 0.3, 0.19, 0.01]).tolist()
    found, offsets = fit_groups(features, is_right, [0, 0, 0], groups)
    assert set(offsets) == {"a", "b", "c"}
    columns = [np.array([group == name for group in groups], float) for name in "abc"]
    design = np.column_stack([np.ones(400), (features - features.mean(axis=0)) / features.std(axis=0), *columns])
    penalty = np.diag([0, *[RIDGE] * 3, *[OFFSET_RIDGE] * 3])
    n_right = int(is_right.sum())
    targets = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (402 - n_right))
    weights = np.zeros(7)
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ weights))
        curvature = design.T @ (design * (p * (1 - p))[:, None]) + penalty
        weights -= np.linalg.solve(curvature, design.T @ (p - targets) + penalty @ weights)
    np.testing.assert_allclose(np.array(found.weights) * features.std(axis=0), weights[1:4], atol=1e-5)
    np.testing.assert_allclose([offsets[name] for name in "abc"], weights[4:], atol=1e-5)


def test_the_offset_of_few_answers_is_small() -> None:
    """A group of 20 without an error has no more than a hint of being better; one of 19 has no offset."""
    is_right = np.arange(1000) % 10 != 0
    groups = ["common"] * 1000 + ["few"] * LEAST_ANSWERS + ["rare"] * (LEAST_ANSWERS - 1)
    right = np.append(is_right, np.ones(2 * LEAST_ANSWERS - 1, bool))
    found, offsets = fit_groups(np.zeros((len(right), 1)), right, [0], groups)
    few = float(probability(np.zeros(1), found, offsets["few"]))
    assert 0.9 < few < 0.96
    assert set(offsets) == {"common", "few"}


def test_enough_data_tells_the_truth() -> None:
    features, is_right = sample(50_000, 2)
    found = fit_logistic(features, is_right, [0, 0, 0])
    np.testing.assert_allclose(found.weights, (1.5, -2.0, 0.0), atol=0.1)


def test_a_weight_against_its_sign_is_left_out() -> None:
    features, is_right = sample(500, 3)
    found = fit_logistic(features, is_right, [1, 1, 0])
    without = fit_logistic(features[:, [0, 2]], is_right, [0, 0])
    assert found.weights[1] == 0
    np.testing.assert_allclose([found.weights[0], found.weights[2]], without.weights, atol=1e-8)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 30), st.integers(0, 1000), st.sampled_from([0.0, 0.5, 1.0]))
def test_few_answers_never_make_for_certainty(n: int, seed: int, rate: float) -> None:
    """However few there are, however much alike, and also if all or none are right."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 2)).round(1)
    is_right = rng.random(n) < rate
    found = fit_logistic(features, is_right, [1, -1])
    assert all(math.isfinite(value) for value in (found.bias, *found.weights))
    assert found.weights[0] >= 0 >= found.weights[1]
    p = probability(features, found)
    assert ((p > 0.0005) & (p < 0.9995)).all()


def test_all_right() -> None:
    found = fit_logistic(np.zeros((98, 1)), np.ones(98, dtype=bool), [0])
    assert probability(np.zeros(1), found) == pytest.approx(99 / 100)
    assert found.weights == (0.0,)
