"""Long sequences in windows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.text.steps import finish
from easyfirst.text.windows import read_in_windows, windows_of

sizes = st.tuples(st.integers(1, 6), st.integers(0, 4))
lengths_of = st.lists(st.integers(1, 30), min_size=1, max_size=6)


@settings(deadline=None)
@given(st.integers(0, 5), st.integers(1, 60), sizes)
def test_each_row_is_asked_about_once_and_sees_its_context(begin: int, length: int, setting: tuple[int, int]) -> None:
    size, context = setting
    windows = list(windows_of(begin, length, size=size, context=context))
    end = begin + length
    assert [row for w in windows for row in range(w.kept_begin, w.kept_end)] == list(range(begin, end))
    for window in windows:
        assert begin <= window.begin <= max(begin, window.kept_begin - context)
        assert min(end, window.kept_end + context) <= window.end <= end
        assert window.end - window.begin <= size + 2 * context


@settings(deadline=None)
@given(lengths_of, sizes, st.integers(1, 50))
def test_what_is_read_is_put_where_it_belongs(lengths: list[int], setting: tuple[int, int], max_rows: int) -> None:
    """A reader that gives back which row it read, how many rows its window has, and is never given too many."""
    size, context = setting

    def read(rows: np.ndarray, lengths: list[int]) -> np.ndarray:
        assert len(rows) <= max(max_rows, size + 2 * context)
        assert sum(lengths) == len(rows)
        assert lengths == sorted(lengths, reverse=True)
        return np.stack([rows, rows + 0.5], axis=1)

    found = finish(read_in_windows(read, lengths, size=size, context=context, max_rows=max_rows))
    np.testing.assert_array_equal(found[:, 0], np.arange(sum(lengths)))
    np.testing.assert_array_equal(found[:, 1], np.arange(sum(lengths)) + 0.5)


@settings(deadline=None)
@given(lengths_of, lengths_of, sizes)
def test_windows_do_not_depend_on_other_sequences(one: list[int], other: list[int], setting: tuple[int, int]) -> None:
    """Each row gets the first row of its window, counted from the start of its sequence."""
    size, context = setting

    def first_rows(lengths: list[int]) -> list[np.ndarray]:
        begin_of = np.repeat(np.cumsum(lengths) - lengths, lengths)

        def read(rows: np.ndarray, n_rows: list[int]) -> np.ndarray:
            firsts = rows[np.cumsum(n_rows) - n_rows]
            return np.repeat(firsts - begin_of[firsts], n_rows)[:, None].astype(float)

        found = finish(read_in_windows(read, lengths, size=size, context=context, max_rows=20))
        return np.split(found[:, 0], np.cumsum(lengths)[:-1])

    for length, among_others in zip(one, first_rows(one + other), strict=False):
        np.testing.assert_array_equal(first_rows([length])[0], among_others)
