"""The probabilities of the trees of a beam."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from easyfirst.confidence.calibration import BeamCalibration, Calibration, Logistic
from easyfirst.confidence.estimates import Confidence
from easyfirst.confidence.tree_lists import TreeList, tree_probabilities, with_beam
from tests.calibrations import BY_HAND

BEAM = replace(BY_HAND, beam=BeamCalibration(2.0, Logistic(0.5, (0.7, -0.1)), 8))


def confidence(tree: float, n_words: int) -> Confidence:
    return Confidence(tree, (0.9,) * n_words, (0.9,) * n_words)


def stored(calibration: Calibration) -> dict[str, Any]:
    return json.loads(json.dumps(calibration.to_dict()))


def test_shares_times_the_probability_that_the_right_tree_is_there() -> None:
    found = tree_probabilities(BEAM, [4.0, 2.0, 0.0], confidence(0.8, 5))
    assert found is not None
    log_odds = 0.5 + 0.7 * math.log(0.8 / 0.2) - 0.1 * math.log(5)
    there = 1 / (1 + math.exp(-log_odds))
    assert sum(found) == pytest.approx(there)
    assert found[0] / found[1] == pytest.approx(math.e)
    assert found[1] / found[2] == pytest.approx(math.e)


def test_a_sentence_of_one_word_is_certain() -> None:
    assert tree_probabilities(BEAM, [0.0], Confidence(1.0, (1.0,), (1.0,))) == [1.0]


def test_without_a_calibration_there_are_none() -> None:
    assert tree_probabilities(None, [1.0], None) is None
    assert tree_probabilities(BY_HAND, [1.0], confidence(0.5, 3)) is None


@pytest.mark.parametrize("temperature", [0.5, 2.0, 7.0])
def test_fitting_recovers_what_made_the_data(temperature: float) -> None:
    rng = np.random.default_rng(4)
    lists: list[TreeList] = []
    for _ in range(6000):
        n, p = int(rng.integers(2, 30)), float(rng.uniform(0.05, 0.95))
        scores = np.sort(rng.normal(size=6) * temperature)[::-1]
        shares = np.exp(scores / temperature) / np.exp(scores / temperature).sum()
        there = 1 / (1 + math.exp(-(0.8 + 0.6 * math.log(p / (1 - p)) - 0.3 * math.log(n))))
        right = int(rng.choice(6, p=shares)) if rng.random() < there else None
        lists.append(TreeList(tuple(scores.tolist()), confidence(p, n), right))
    beam = with_beam(BY_HAND, lists).beam
    assert beam is not None
    assert beam.temperature == pytest.approx(temperature, rel=0.1)
    assert beam.found.bias == pytest.approx(0.8, abs=0.25)
    assert beam.found.weights == pytest.approx((0.6, -0.3), abs=0.1)


def test_nothing_to_fit_gives_something_usable() -> None:
    fitted = with_beam(BY_HAND, [])
    found = tree_probabilities(fitted, [1.0, 0.0], confidence(0.5, 3))
    assert found is not None
    assert all(0 < p < 1 for p in found)


def test_the_calibration_is_stored_and_old_ones_are_read() -> None:
    assert Calibration.from_dict(stored(BEAM)) == BEAM
    assert "beam" not in stored(BY_HAND)
    assert Calibration.from_dict(stored(BY_HAND)) == BY_HAND


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": 0.0}, "temperature must be above 0"),
        ({"found": {"bias": 0.0, "weights": [1.0]}}, "found has 1 weights for 2 features"),
        ({"more": 1}, "beam must have"),
    ],
)
def test_damaged_values_are_refused(change: dict[str, object], message: str) -> None:
    values = stored(BEAM)
    values["beam"] |= change
    with pytest.raises(ValueError, match=message):
        Calibration.from_dict(values)
