"""Decide whether a projective tree with given head sets exists: Eisner's chart (1996) with truth values for scores.

A sentence is a sequence of *units*. A unit is a word, or a bracket that is already solved and has several possible head
words. ``x`` and ``y`` are words that can be the head of their unit. Sets of words and of units are bit sets, so one
operation tests all split points of a pair, or all outermost modifiers of a head: n words take O(n²) operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from easyfirst.constraints.time_limit import check_time


def search_tree(
    words: Sequence[int], heads: Sequence[int], brackets: Sequence[tuple[int, int]]
) -> dict[int, int] | None:
    """Return the head of each word in a tree over ``words`` (ids in order), or None if there is no such tree.

    Each head is in the head set of its word (``heads[m]``: bit h for head h, bit 0 for the root). Each bracket is a
    subtree."""
    check_time()
    units = [[word] for word in words]
    bounds = [(word, word) for word in words]
    charts: list[_Chart] = []
    for first, last in sorted(set(brackets), key=lambda bracket: bracket[1] - bracket[0]):  # inner ones first
        here = [number for number, (begin, end) in enumerate(bounds) if first <= begin and end <= last]
        if len(here) < 2:
            continue
        part = slice(here[0], here[-1] + 1)
        chart = _Chart(units[part], heads)
        charts.append(chart)
        units[part], bounds[part] = [chart.roots()], [(first, last)]
    whole = _Chart(units, heads)
    root = next((x for x in whole.roots() if heads[x] & 1), None)
    if root is None:
        return None
    found = {root: 0}
    found.update(whole.arcs(root))
    for chart in reversed(charts):
        head = next(x for x in chart.roots() if x in found)
        found.update(chart.arcs(head))
    return found


class _Chart:
    """The spans of a sequence of units that each word can cover to its left and right, dominating all other words."""

    def __init__(self, units: Sequence[Sequence[int]], heads: Sequence[int]) -> None:
        self.units = units
        self.unit_of = {x: number for number, unit in enumerate(units) for x in unit}
        self.reach_left = {x: 1 << number for x, number in self.unit_of.items()}
        """The units from which each word can cover everything up to itself."""
        self.reach_right = dict(self.reach_left)
        """The units up to which each word can cover everything from itself."""
        self.left = dict.fromkeys(self.unit_of, 0)
        """The possible left modifiers of each word."""
        self.right = dict.fromkeys(self.unit_of, 0)
        self.begin_at = [sum(1 << x for x in unit) for unit in units]
        """The words that can cover everything from each unit up to themselves."""
        self.end_at = list(self.begin_at)
        for width in range(1, len(units)):
            for begin in range(len(units) - width):
                self._join(begin, begin + width, heads)

    def _join(self, begin: int, end: int, heads: Sequence[int]) -> None:
        """Fill in the span from unit ``begin`` to unit ``end``, after all shorter spans."""
        for x in self.units[begin]:
            for y in self.units[end]:
                if self._splits(x, y):
                    if heads[y] >> x & 1:
                        self.right[x] |= 1 << y
                    if heads[x] >> y & 1:
                        self.left[y] |= 1 << x
        for x in self.units[begin]:
            if self.right[x] & self.end_at[end]:
                self.reach_right[x] |= 1 << end
                self.end_at[end] |= 1 << x
        for y in self.units[end]:
            if self.left[y] & self.begin_at[begin]:
                self.reach_left[y] |= 1 << begin
                self.begin_at[begin] |= 1 << y

    def _splits(self, x: int, y: int) -> int:
        """Return the units up to which x, left of y, can cover everything while y covers the rest."""
        return self.reach_right[x] & (self.reach_left[y] >> 1)

    def roots(self) -> list[int]:
        """Return the words that can dominate all others."""
        last = len(self.units) - 1
        return [x for x in self.unit_of if self.reach_left[x] & 1 and self.reach_right[x] >> last & 1]

    def arcs(self, root: int) -> Iterator[tuple[int, int]]:
        """Yield the arcs (modifier, head) of one tree with this root, between the heads of the units."""
        todo = [(root, 0), (root, len(self.units) - 1)]
        while todo:
            h, reach = todo.pop()
            if reach == self.unit_of[h]:
                continue
            if reach > self.unit_of[h]:
                m = _first(self.right[h] & self.end_at[reach])
                split = _first(self._splits(h, m))
                todo += [(h, split), (m, split + 1), (m, reach)]
            else:
                m = _first(self.left[h] & self.begin_at[reach])
                split = _first(self._splits(m, h))
                todo += [(h, split + 1), (m, split), (m, reach)]
            yield m, h


def _first(bits: int) -> int:
    """Return the position of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1
