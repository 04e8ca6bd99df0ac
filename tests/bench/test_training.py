"""The summary of the rounds of the training benchmark."""

from __future__ import annotations

from typing import Any

from bench.training import row_of, summarize


def round_of(**speeds: int) -> dict[str, dict[str, Any]]:
    return {engine: {"words_per_cpu_second": speed, "cpu_seconds": 1000 / speed} for engine, speed in speeds.items()}


def test_the_median_round_of_each_engine_and_the_median_of_the_ratios() -> None:
    found = summarize([round_of(numpy=100, native=140), round_of(numpy=90, native=150), round_of(numpy=80, native=100)])
    assert found["numpy"] == {"words_per_cpu_second": 90, "cpu_seconds": 1000 / 90, "rounds": [100, 90, 80]}
    assert found["native"]["words_per_cpu_second"] == 140
    assert found["ratio"] == 1.4  # of 1.4, 1.667 and 1.25


def test_without_a_core_there_is_no_ratio() -> None:
    assert list(summarize([round_of(numpy=100)])) == ["numpy"]


def test_only_the_core_is_compared_with_numpy() -> None:
    found = {"words_per_cpu_second": 1100, "violations_per_sentence": 2.5, "share": {"words": 0.25}, "peak_mb": 9}
    assert row_of("early", "numpy", found, None) == ("early", "numpy", "1,100", "", "10.0", 2.5, "words 25%", 9)
    assert row_of("late", "native", found, 1.333)[3] == "1.33"
