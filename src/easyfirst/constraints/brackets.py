"""Brackets while a sentence is parsed: a bracket is finished before its head meets anything outside of it."""

from __future__ import annotations

from collections.abc import Iterable

WHOLE = 0
"""The number of the region that is the whole sentence."""


class Regions:
    """Which pending words may meet: those whose innermost unfinished bracket, their *region*, is the same.

    A bracket is unfinished as long as two of its words are pending. That all arcs between its words come before all
    others of its head excludes no tree, only other orders of attachments.
    """

    def __init__(self, n_words: int, brackets: Iterable[tuple[int, int]]) -> None:
        """Brackets as (first, last), none crossing another: see :func:`find_crossing`."""
        outer_first = sorted({(first, last) for first, last in brackets if first < last}, key=lambda b: (b[0], -b[1]))
        self.bounds = [(1, n_words), *outer_first]
        self.regions = [WHOLE] * (n_words + 1)
        """Of each word; what it is of a word that is not pending means nothing."""
        self._parents = [WHOLE] * len(self.bounds)
        self._n_pending = [last - first + 1 for first, last in self.bounds]
        for number, (first, last) in enumerate(self.bounds):
            self._parents[number] = self.regions[first]
            self.regions[first : last + 1] = [number] * (last - first + 1)

    def attach(self, h: int, m: int) -> None:
        """A word has become a modifier of another of its region."""
        region = number = self.regions[m]
        while number != WHOLE:
            self._n_pending[number] -= 1
            number = self._parents[number]
        if region != WHOLE and self._n_pending[region] == 1:
            self.regions[h] = self._parents[region]

    def is_inside(self, word: int, region: int) -> bool:
        first, last = self.bounds[region]
        return first <= word <= last


def find_crossing(brackets: Iterable[tuple[int, int]]) -> bool:
    """Whether two brackets have words in common, and each one that the other has not."""
    ends: list[int] = []
    for first, last in sorted(brackets, key=lambda b: (b[0], -b[1])):
        while ends and ends[-1] < first:
            ends.pop()
        if ends and ends[-1] < last:
            return True
        ends.append(last)
    return False
