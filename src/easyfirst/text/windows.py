"""Reading long sequences in overlapping windows of bounded length, many at once.

A window includes context on each side whose outputs are discarded: near its edge, where there is little context, the
output of the neighbouring window is used. Windows depend only on their own sequence, not on the rest of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.sequences import longest_first
from easyfirst.nn.windows import Window, windows_of
from easyfirst.text.steps import Steps

Reader = Callable[[Ints, list[int]], Floats]  # takes row numbers and the lengths of windows, returns one row for each
MAX_ROWS = 8_192  # the most rows that are read in lock step, which is one step


def read_in_windows(
    read: Reader, lengths: Sequence[int], *, size: int, context: int, max_rows: int = MAX_ROWS
) -> Steps[Floats]:
    """Return, in steps, the outputs of ``read`` for all rows of concatenated sequences. A step reads a batch of up to
    ``max_rows``."""
    windows: list[Window] = []
    begin = 0
    for length in lengths:
        windows += windows_of(begin, length, size=size, context=context)
        begin += length
    if len(windows) == 1:  # as in a short text
        values = read(np.arange(begin), [begin])
        yield
        return values
    found: Floats | None = None
    for batch in longest_first([window.end - window.begin for window in windows], max_rows=max_rows):
        begins, ends, kept_begins, kept_ends = np.array([windows[number] for number in batch], dtype=np.intp).T
        sizes = ends - begins
        values = read(_ranges(begins, sizes), sizes.tolist())
        if found is None:
            found = np.empty((begin, values.shape[1]), dtype=values.dtype)
        places = np.cumsum(sizes) - sizes + kept_begins - begins
        for start, place, n in np.stack([kept_begins, places, kept_ends - kept_begins], axis=1).tolist():
            found[start : start + n] = values[place : place + n]  # slices are copied faster than rows by number
        yield
    assert found is not None, "there is at least one sequence"
    return found


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return the concatenated ranges ``start, start + 1, ...`` of these sizes."""
    offsets = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts - offsets, sizes)
