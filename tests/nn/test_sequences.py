"""Batches of sequences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from easyfirst.nn.sequences import longest_first


@given(
    st.lists(st.integers(1, 30), max_size=40),
    st.integers(1, 50),
    st.one_of(st.none(), st.integers(1, 6)),
)
def test_batches_are_bounded_sorted_and_complete(lengths: list[int], max_rows: int, max_sequences: int | None) -> None:
    batches = list(longest_first(lengths, max_rows=max_rows, max_sequences=max_sequences))
    order = [index for batch in batches for index in batch]
    assert order == sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for batch in batches:
        assert 1 <= len(batch) <= (max_sequences or len(lengths))
        assert sum(lengths[index] for index in batch) <= max_rows or len(batch) == 1
