"""Projectivity: easy-first parsing attaches neighbours, so it builds only projective trees (see also ``lifting``).

An arc is projective if its head dominates every word between the head and the modifier; a tree is projective if
all its arcs are. The root 0 dominates every word, so its arcs always are.
"""

from __future__ import annotations

from collections.abc import Sequence


def is_projective(heads: Sequence[int]) -> bool:
    """Return whether a tree, given as the head of each word, is projective."""
    return not non_projective_arcs(heads)


def non_projective_arcs(heads: Sequence[int]) -> list[int]:
    """Return the modifiers of the arcs that are not projective, from left to right."""
    tree = Domination(heads)
    return [m for m, h in enumerate(heads, 1) if not tree.covers(h, m)]


class Domination:
    """Which words of a tree dominate which others; 0 dominates all."""

    __slots__ = ("_ends", "_ranks")

    def __init__(self, heads: Sequence[int]) -> None:
        """``heads``: of a tree, by word. Raise a :class:`ValueError` if they have a cycle."""
        self._ranks, self._ends = _preorder(heads)

    def covers(self, h: int, m: int) -> bool:
        """Return whether h dominates every word between h and m, so that an arc from h to m is projective."""
        ranks = self._ranks
        between = ranks[m + 1 : h] if m < h else ranks[h + 1 : m]
        # In preorder the words that a head dominates follow it without a gap, so two bounds suffice.
        return not between or (ranks[h] < min(between) and max(between) < self._ends[h])


def _preorder(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return, for 0 and each word, its rank in preorder and the rank just after the last word it dominates."""
    n = len(heads)
    children: list[list[int]] = [[] for _ in range(n + 1)]
    for m, h in enumerate(heads, 1):
        children[h].append(m)
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += children[node]
    if len(order) != n + 1:
        raise ValueError("the heads have a cycle: projectivity is defined for trees")
    ranks, sizes = [0] * (n + 1), [1] * (n + 1)
    for rank, node in enumerate(order):
        ranks[node] = rank
    for node in reversed(order[1:]):
        sizes[heads[node - 1]] += sizes[node]
    return ranks, [rank + size for rank, size in zip(ranks, sizes, strict=True)]
