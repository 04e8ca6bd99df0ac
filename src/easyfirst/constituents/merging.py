"""The levels of a head from the labels of its modifiers: which modifiers on the left belong to which on the right.

On each side, the order of the levels is the order of the modifiers. Between the sides, labels decide. The levels of a
head have labels of which no two neighbours are equal: if a phrase is inside another one with the same label, the outer
one has one more prime, as in ``NP``, ``NP'`` and ``NP''``. Of all ways to merge both sides, the one with the fewest
violations of this rule wins, then the one with the fewest levels, then the one in which levels with modifiers on the
right are inside. A joined label, as in ``HEADING+NP``, stands outside of ``NP``.
"""

from __future__ import annotations

from collections.abc import Sequence

from easyfirst.constituents.levels import JOINT, Level

PRIME = "'"
INSIDE = "/"  # after it, the phrases that consist of the head word alone
BAD = 1000  # the cost of a violation, in levels

Cost = tuple[int, int]  # violations and levels; where levels with modifiers on the left stand inside


def primed(labels: Sequence[str]) -> list[str]:
    """Return the labels of a head's levels, inner ones first, with primes where the level before has the same."""
    found: list[str] = []
    for label in labels:
        follows = bool(found) and found[-1].rstrip(PRIME) == label
        found.append(found[-1] + PRIME if follows else label)
    return found


def merge(left: Sequence[tuple[int, str]], right: Sequence[tuple[int, str]]) -> list[Level]:
    """Return the levels of a head, inner ones first. ``left`` and ``right``: its modifiers with their labels, the
    nearest first."""
    sides = _grouped(left), _grouped(right)
    n_left, n_right = map(len, sides)
    # best[i, j, last]: the cheapest way to make levels of the rest, after i groups on the left and j on the right;
    # ``last`` is the label before
    best: dict[tuple[int, int, str], tuple[Cost, int, int]] = {}

    def lasts(i: int, j: int) -> set[str]:
        found = {sides[0][i - 1].label} if i else set[str]()
        return (found | {sides[1][j - 1].label}) if j else (found or {""})

    for i in range(n_left, -1, -1):
        for j in range(n_right, -1, -1):
            for last in lasts(i, j):
                best[i, j, last] = _step(sides, best, i, j, last)
    levels: list[Level] = []
    i, j, last = 0, 0, ""
    while i < n_left or j < n_right:
        _, di, dj = best[i, j, last]
        last = sides[0][i].label if di else sides[1][j].label
        levels.append(Level(last, (sides[0][i].modifiers if di else []) + (sides[1][j].modifiers if dj else [])))
        i, j = i + di, j + dj
    return levels


def _step(
    sides: tuple[list[Level], list[Level]],
    best: dict[tuple[int, int, str], tuple[Cost, int, int]],
    i: int,
    j: int,
    last: str,
) -> tuple[Cost, int, int]:
    """Return the cost of the best way from here on, and how many groups of each side its first level takes."""
    left, right = sides
    found: list[tuple[Cost, int, int]] = []
    moves = [(1, 1)] if i < len(left) and j < len(right) and left[i].label == right[j].label else []
    moves += [(0, 1)] if j < len(right) else []
    moves += [(1, 0)] if i < len(left) else []
    for di, dj in moves:
        label = left[i].label if di else right[j].label
        (levels, late), _, _ = best[i + di, j + dj, label]
        levels += 1 + BAD * _is_bad(last, label, is_first=i == j == 0)
        late += (len(right) - j) * (di > dj) + BAD * last.endswith(JOINT + label)
        found.append(((levels, late), di, dj))
    return min(found, default=((0, 0), 0, 0), key=lambda option: option[0])


def _is_bad(last: str, label: str, *, is_first: bool) -> bool:
    """Return whether no level with ``label`` can follow one with ``last``. Equal labels never follow each other, since
    one level for both is cheaper."""
    follows = label.endswith(PRIME) and label[: -len(PRIME)] == last
    return (label.endswith(PRIME) and not follows) or (INSIDE in label and not is_first)


def _grouped(modifiers: Sequence[tuple[int, str]]) -> list[Level]:
    """Return the levels of one side: neighbours with the same label are on one level."""
    groups: list[Level] = []
    for modifier, label in modifiers:
        if not groups or groups[-1].label != label:
            groups.append(Level(label))
        groups[-1].modifiers.append(modifier)
    return groups
