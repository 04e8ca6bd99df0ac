"""The linked pending lists against plain lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.parsing.pending import Pending


def plain_lists(lengths: list[int]) -> list[list[int]]:
    rows = iter(range(sum(lengths)))
    return [[next(rows) for _ in range(length)] for length in lengths]


def assert_same(pending: Pending, lists: list[list[int]], before: int, after: int) -> None:
    outside = [pending.outside]
    for rows in lists:
        padded = outside * before + rows + outside * after
        around = pending.around(np.array(rows, dtype=np.int64), before, after)
        assert around.tolist() == [padded[i : i + before + 1 + after] for i in range(len(rows))]
        assert [int(pending.next[row]) for row in rows] == rows[1:] + outside
        assert [int(pending.previous[row]) for row in rows] == outside + rows[:-1]
    assert pending.next[pending.outside] == pending.previous[pending.outside] == pending.outside


@settings(deadline=None)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.data())
def test_random_removals_leave_the_neighbours_a_plain_list_has(lengths: list[int], data: st.DataObject) -> None:
    lengths.sort(reverse=True)
    pending, lists = Pending(lengths), plain_lists(lengths)
    before, after = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    assert_same(pending, lists, before, after)
    while any(len(rows) > 1 for rows in lists):
        running = [rows for rows in lists if len(rows) > 1]  # each loses one, as when parsing
        pending.remove(np.array([rows.pop(data.draw(st.integers(0, len(rows) - 1))) for rows in running]))
        assert_same(pending, lists, before, after)


def test_rows_are_numbered_through_sentence_after_sentence() -> None:
    pending = Pending([3, 2, 1])
    assert pending.starts.tolist() == [0, 3, 5]
    assert pending.outside == 6
    assert_same(pending, [[0, 1, 2], [3, 4], [5]], 1, 2)
