"""Check whether a given tree satisfies constraints: for steps after decoding, which must not break them."""

from __future__ import annotations

from collections.abc import Sequence

from easyfirst.constraints.records import Bracket, Constraint, Constraints, FixedHead, FixedRelation, ForbiddenArc


def hold(constraints: Constraints, heads: Sequence[int], relations: Sequence[str]) -> bool:
    """Return whether a tree, given by the head and the relation of each word, satisfies all constraints."""
    return all(_holds(constraint, heads, relations) for constraint in constraints.items)


def _holds(constraint: Constraint, heads: Sequence[int], relations: Sequence[str]) -> bool:
    match constraint:
        case FixedHead(modifier=m, head=h):
            return heads[m - 1] == h
        case FixedRelation(modifier=m, relation=relation):
            return relations[m - 1] == relation
        case ForbiddenArc(head=h, modifier=m, relation=relation):
            return heads[m - 1] != h or relation not in (None, relations[m - 1])
        case Bracket(first=first, last=last):
            return _is_subtree(first, last, heads)


def _is_subtree(first: int, last: int, heads: Sequence[int]) -> bool:
    """Return whether one word of a span has its head outside, and words outside have no other heads in the span."""
    inside = range(first, last + 1)
    tops = [m for m in inside if heads[m - 1] not in inside]
    return len(tops) == 1 and all(
        m in inside or head not in inside or head == tops[0] for m, head in enumerate(heads, 1)
    )
