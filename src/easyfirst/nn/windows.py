"""Overlapping windows of bounded length over a long sequence.

A window includes context on each side whose outputs are discarded: near its edge, where there is little context, the
output of the neighbouring window is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Window(NamedTuple):
    """The rows that are read together, and those of them whose outputs are kept."""

    begin: int
    end: int
    kept_begin: int
    kept_end: int


def windows_of(begin: int, length: int, *, size: int, context: int) -> Iterator[Window]:
    """Yield the windows of a sequence of rows: each keeps ``size`` of them and reads ``context`` more on each side."""
    end = begin + length
    if length <= size + 2 * context:  # two windows would read more rows in all
        yield Window(begin, end, begin, end)
        return
    for kept in range(begin, end, size):
        kept_end = min(kept + size, end)
        yield Window(max(kept - context, begin), min(kept_end + context, end), kept, kept_end)
