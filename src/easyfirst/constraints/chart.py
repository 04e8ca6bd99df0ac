"""Is there a projective tree of given arcs? The chart that answers for certain (Eisner 1996, with truth values).

A sentence is a sequence of *units*: a word, or a bracket that has been solved before and offers several words to be
its head. ``x`` and ``y`` are such words. Sets of words and of units are bits of whole numbers, so that all split points
of a pair, and all modifiers that may be a head's last one, are looked at in one operation: n words take n * n of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def search_tree(
    words: Sequence[int], heads: Sequence[int], brackets: Sequence[tuple[int, int]]
) -> dict[int, int] | None:
    """A tree over ``words`` (ids in order) in which each word has a head of its set (``heads[m]``: bit h for head h, 0
    for the root) and every bracket is a subtree: the head of each word, or None if there is no such tree."""
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
    """Of a sequence of units: which words can cover how much to their left and right, with all between below them."""

    def __init__(self, units: Sequence[Sequence[int]], heads: Sequence[int]) -> None:
        self.units = units
        self.unit_of = {x: number for number, unit in enumerate(units) for x in unit}
        self.reach_left = {x: 1 << number for x, number in self.unit_of.items()}
        """From which units on, each word can cover all up to itself."""
        self.reach_right = dict(self.reach_left)
        """Up to which units."""
        self.left = dict.fromkeys(self.unit_of, 0)
        """Each word's possible left modifiers."""
        self.right = dict.fromkeys(self.unit_of, 0)
        self.begin_at = [sum(1 << x for x in unit) for unit in units]
        """For each unit, the words that can cover all from it up to themselves."""
        self.end_at = list(self.begin_at)
        for width in range(1, len(units)):
            for begin in range(len(units) - width):
                self._join(begin, begin + width, heads)

    def _join(self, begin: int, end: int, heads: Sequence[int]) -> None:
        """All that can be said of the units from ``begin`` to ``end``, when all is said of shorter stretches."""
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
        """The units up to which x, left of y, can cover all, while y covers all from the next one on."""
        return self.reach_right[x] & (self.reach_left[y] >> 1)

    def roots(self) -> list[int]:
        """The words that can be above all others."""
        last = len(self.units) - 1
        return [x for x in self.unit_of if self.reach_left[x] & 1 and self.reach_right[x] >> last & 1]

    def arcs(self, root: int) -> Iterator[tuple[int, int]]:
        """The arcs (modifier, head) of one tree under a root, between the heads of its units."""
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
    """The lowest bit that is set."""
    return (bits & -bits).bit_length() - 1
