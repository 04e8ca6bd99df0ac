"""Reading long sequences in windows of bounded length, many at once.

A window sees more than it is asked about: what it says of a row near its edge, where there is little context, is taken
from its neighbour. Windows depend on their own sequence only, so what else is in a batch makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.sequences import Packing


class Window(NamedTuple):
    """Rows that are read together, and which of them are asked about."""

    begin: int
    end: int
    kept_begin: int
    kept_end: int


def windows_of(begin: int, length: int, *, size: int, context: int) -> Iterator[Window]:
    """The windows of a sequence of rows: each asks about ``size`` of them and sees ``context`` more to each side."""
    end = begin + length
    if length <= size + 2 * context:  # a second window would read more rows again than this one reads too many
        yield Window(begin, end, begin, end)
        return
    for kept in range(begin, end, size):
        kept_end = min(kept + size, end)
        yield Window(max(kept - context, begin), min(kept_end + context, end), kept, kept_end)


def read_in_windows(
    read: Callable[[Ints, Packing], Floats],
    lengths: Sequence[int],
    *,
    size: int,
    context: int,
    max_rows: int,
) -> Floats:
    """What ``read`` makes of all rows of sequences that stand one after the other, in batches of up to ``max_rows``.

    ``read(rows, packing)`` is given row numbers and how they are packed, and gives back one row for each.
    """
    windows: list[Window] = []
    begin = 0
    for length in lengths:
        windows += windows_of(begin, length, size=size, context=context)
        begin += length
    windows.sort(key=lambda window: window.begin - window.end)
    found: Floats | None = None
    for batch in _batches(windows, max_rows):
        begins, ends, kept_begins, kept_ends = np.array(batch, dtype=np.int64).T
        sizes, n_kept = ends - begins, kept_ends - kept_begins
        values = read(_ranges(begins, sizes), Packing.of(sizes.tolist()))
        if found is None:
            found = np.empty((begin, values.shape[1]), dtype=values.dtype)
        places = np.cumsum(sizes) - sizes + kept_begins - begins
        found[_ranges(kept_begins, n_kept)] = values[_ranges(places, n_kept)]
    assert found is not None, "there is at least one sequence"
    return found


def _batches(windows: Sequence[Window], max_rows: int) -> Iterator[list[Window]]:
    batch: list[Window] = []
    n_rows = 0
    for window in windows:
        n = window.end - window.begin
        if batch and n_rows + n > max_rows:
            yield batch
            batch, n_rows = [], 0
        batch.append(window)
        n_rows += n
    if batch:
        yield batch


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """``start, start + 1, ...`` of each size, one after the other."""
    offsets = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts - offsets, sizes)
