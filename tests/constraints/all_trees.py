"""All projective trees of a few words, and what constraints mean for a whole tree, word for word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from easyfirst.constraints.records import Bracket, Constraint, FixedHead, FixedRelation, ForbiddenArc
from tests.parsing.test_oracle import Tree, all_trees

RELATIONS = ("a", "b", "c")
ROOT = "root"


def is_bracket(tree: Tree, first: int, last: int) -> bool:
    """One word has its head outside, and no other is the head of a word outside."""
    inside = range(first, last + 1)
    heads = [m for m in inside if tree[m - 1] not in inside]
    below = [h for m, h in enumerate(tree, 1) if m not in inside and h in inside]
    return len(heads) == 1 and set(below) <= set(heads)


def obeys(tree: Tree, relations: Sequence[str], constraint: Constraint) -> bool:
    match constraint:
        case FixedHead(modifier=m, head=h):
            return tree[m - 1] == h
        case FixedRelation(modifier=m, relation=r):
            return relations[m - 1] == r
        case ForbiddenArc(modifier=m, head=h, relation=r):
            return tree[m - 1] != h or r not in (None, relations[m - 1])
        case Bracket(first=first, last=last):
            return is_bracket(tree, first, last)


def fixed_roots(constraints: Sequence[Constraint]) -> set[int]:
    return {c.modifier for c in constraints if isinstance(c, FixedHead) and c.head == 0}


def labels_of(m: int, head: int, constraints: Sequence[Constraint], roots: set[int]) -> list[str]:
    """The relations that an arc could have at all: the root has that of roots, unless both are fixed."""
    if head:
        return list(RELATIONS)
    if m in roots:
        return [c.relation for c in constraints if isinstance(c, FixedRelation) and c.modifier == m] or [ROOT]
    return [ROOT]


def cross(constraints: Sequence[Constraint]) -> bool:
    brackets = [c for c in constraints if isinstance(c, Bracket)]
    return any(a.first < b.first <= a.last < b.last for a in brackets for b in brackets)


def good_labels(tree: Tree, m: int, constraints: Sequence[Constraint], roots: set[int]) -> list[str]:
    """The relations that a word of a tree can have without breaking a constraint on it."""
    mine = [c for c in constraints if isinstance(c, FixedRelation | ForbiddenArc) and c.modifier == m]
    found = []
    for label in labels_of(m, tree[m - 1], constraints, roots):
        relations = [label] * len(tree)
        if all(obeys(tree, relations, constraint) for constraint in mine):
            found.append(label)
    return found


def good_trees(n: int, constraints: Sequence[Constraint], roots: set[int] | None = None) -> Iterator[Tree]:
    """The trees that obey all constraints under some relations. If these are a part of more, the words that all of them
    fix as ``roots`` may have other relations than the root's."""
    if cross(constraints):
        return
    known = fixed_roots(constraints) if roots is None else roots
    shape = [c for c in constraints if isinstance(c, FixedHead | Bracket)]
    for tree in all_trees(n):
        has_labels = (good_labels(tree, m, constraints, known) for m in range(1, n + 1))
        if all(obeys(tree, (), constraint) for constraint in shape) and all(has_labels):
            yield tree


def can_become(tree: Tree, arcs: dict[int, int]) -> bool:
    """Whether a tree can still be built when these words (modifier -> head) have been attached."""
    return all(tree[m - 1] == h for m, h in arcs.items()) and all(
        m in arcs or h not in arcs for m, h in enumerate(tree, 1)
    )
