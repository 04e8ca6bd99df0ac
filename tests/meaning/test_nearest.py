"""The best of a stream against sorting all of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.meaning.nearest import Best, cosines

CHUNKS = st.lists(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("abcdef")), max_size=6), max_size=6)


@given(CHUNKS, st.integers(1, 5))
def test_the_best_are_those_of_sorting_everything(chunks: list[list[tuple[int, str]]], top: int) -> None:
    best = Best[int](top)
    number = 0
    for chunk in chunks:
        scores = np.array([score for score, _ in chunk], dtype=np.float32)
        best.offer(scores, [key for _, key in chunk], lambda row, number=number: number + row)
        number += len(chunk)
    everything = [pair for chunk in chunks for pair in chunk]
    of_key: dict[str, tuple[int, int]] = {}
    for place, (score, key) in enumerate(everything):
        if key not in of_key or score > of_key[key][0]:
            of_key[key] = (score, place)
    expected = sorted(of_key.values(), key=lambda pair: (-pair[0], pair[1]))[:top]
    assert best.items() == expected


def test_cosines() -> None:
    vectors = np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    assert cosines(vectors, vectors[0]).tolist() == pytest.approx([1, 0, 0.5**0.5, 0, -1])
    assert cosines(vectors, np.zeros(2, dtype=np.float32)).tolist() == [0] * 5
