"""Calibration error, risk and coverage by hand."""

from __future__ import annotations

import numpy as np
import pytest

from easyfirst.confidence.estimates import Confidence
from easyfirst.confidence.reliability import N_BINS, Reliability, ReliabilityReport, to_markdown


def test_bins_of_one_answer_each() -> None:
    """15 answers: each is a bin, so the error is the mean distance of each to what it turned out to be."""
    p = np.linspace(0.05, 0.95, 15)
    right = np.arange(15) % 2 == 0
    found = Reliability.of(p, right)
    assert len(found.bins) == N_BINS == 15
    assert found.ece == pytest.approx(np.abs(p - right).mean())


def test_bins_of_two() -> None:
    """30 answers: 0.2 and 0.4 in a bin of which one is right, then 28 that are certain and right."""
    p = np.array([0.4, 0.2, *[1.0] * 28])
    right = np.array([False, True, *[True] * 28])
    found = Reliability.of(p, right)
    assert [b.count for b in found.bins] == [2] * 15
    assert (found.bins[0].confidence, found.bins[0].accuracy) == (pytest.approx(0.3), 0.5)
    assert found.ece == pytest.approx(2 / 30 * 0.2)
    assert found.accuracy == pytest.approx(29 / 30)
    assert found.confidence == pytest.approx(28.6 / 30)


def test_fewer_answers_than_bins() -> None:
    found = Reliability.of(np.array([0.5, 0.9]), np.array([True, False]))
    assert [b.count for b in found.bins] == [1, 1]
    assert found.ece == pytest.approx(0.7)


def test_what_is_calibrated_has_no_error_and_what_is_not_has() -> None:
    p = np.repeat([0.2, 0.6], 1500)
    right = np.tile([True, *[False] * 4], 600)
    right[1500:] = np.tile([True, True, True, False, False], 300)
    assert Reliability.of(p, right).ece == pytest.approx(0, abs=1e-12)
    assert Reliability.of(p + 0.1, right).ece == pytest.approx(0.1)


def test_risk_and_coverage() -> None:
    p = np.linspace(0, 1, 100)
    right = np.arange(100) >= 20  # the 20 least sure are wrong
    risks = dict(Reliability.of(p, right).risks)
    assert risks[1.0] == pytest.approx(0.2)
    assert risks[0.9] == pytest.approx(10 / 90)
    assert risks[0.8] == risks[0.5] == 0


def test_the_report() -> None:
    confidences = [Confidence(0.05 * n, (0.9, 0.8), (0.7, 0.6)) for n in range(20)]
    heads = [np.array([True, n not in (0, 7)]) for n in range(20)]
    heads[1][:] = False
    labels = [right.copy() for right in heads]
    labels[9][0] = False
    found = ReliabilityReport.of(confidences, heads, labels, [("nsubj", "root")] * 20)
    assert found.least_sure_errors == 3 / 4  # sentences 0 and 1 have three of the four wrong heads
    assert (found.arcs.count, found.trees.count) == (40, 20)
    assert found.arcs.accuracy == 36 / 40
    assert found.labels.accuracy == 35 / 40
    assert found.trees.accuracy == 16 / 20
    lines = to_markdown(found)
    assert lines[2] == f"| arcs | 40 | 90.00 | 85.00 | {found.arcs.ece:.4f} |"
    assert "has 75.0 %." in lines[6]
    assert sum(line.startswith("| ") for line in lines) == 5 + 2 + 15
    bar = lines[-1].split("`")[1]  # the surest arcs: of 40 signs, 36 say how many are right and one how sure they are
    assert (len(bar), bar.index("┃")) == (40, 36)
    assert bar.count("█") == round(40 * found.arcs.bins[-1].accuracy) - (found.arcs.bins[-1].accuracy > 0.9)


def by_relation(arcs: list[float], right: list[bool]) -> ReliabilityReport:
    """Sentences of two words: a verb as the root, always right, and a word with this probability."""
    confidences = [Confidence(p, (1.0, p), (1.0, p)) for p in arcs]
    is_right = [np.array([True, each]) for each in right]
    return ReliabilityReport.of(confidences, is_right, is_right, [("root", "obj")] * len(arcs))


def test_relations_with_100_cases() -> None:
    few = by_relation([0.9] * 99, [True] * 99)
    assert few.relations == ()
    assert not any("by chance" in line for line in to_markdown(few))
    found = by_relation([0.9] * 100, [True] * 80 + [False] * 20)
    root, obj = found.relations
    assert (root.relation, obj.relation, obj.count) == ("root", "obj", 100)
    assert (root.arcs.ece, root.arcs.by_chance) == (0, 0)
    assert (obj.arcs.confidence, obj.arcs.accuracy, obj.arcs.ece) == pytest.approx((0.9, 0.8, 0.1))
    assert obj.labels == obj.arcs
    last = to_markdown(found)[-1]
    assert last.startswith("| obj | 100 | 80.0 | 90.0 | 0.100 | 0.024 | 80.0 |")


def test_bins_of_relations_have_100_answers() -> None:
    """250 answers are two bins: 125 that are right too rarely, and 125 that are right too often."""
    arcs, right = [0.6] * 125 + [0.8] * 125, [True] * 50 + [False] * 75 + [True] * 125
    obj = by_relation(arcs, right).relations[1]
    assert obj.arcs.ece == pytest.approx(0.2)
    assert obj.arcs.accuracy == pytest.approx(obj.arcs.confidence)


def test_the_error_by_chance_is_that_of_exact_probabilities() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 350)
    found = [by_relation(p.tolist(), (rng.random(350) < p).tolist()).relations[1].arcs for _ in range(300)]
    assert np.mean([each.ece for each in found]) == pytest.approx(found[0].by_chance, rel=0.06)


def test_no_mistakes_at_all() -> None:
    found = ReliabilityReport.of([Confidence(1.0, (1.0,), (1.0,))], [np.array([True])], [np.array([True])], [["root"]])
    assert found.least_sure_errors == 0
    assert found.arcs.ece == 0
