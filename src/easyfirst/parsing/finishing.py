"""From a derivation to the tree of its decisions.

The derivation records what the parser did and stays as it is, whatever the steps after decoding change. The first of
them is here. It restores crossing arcs: relations can encode that an arc was lifted, and such an arc is moved down. The
second one (``validity``) makes this tree obey the rules of Universal Dependencies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from easyfirst.parsing.derivation import Derivation
from easyfirst.treebank.lifting import Mark, restore

NOTHING_FIXED: Mapping[int, str] = MappingProxyType({})
Holds = Callable[[Sequence[int], Sequence[str]], bool]
"""``holds(heads, relations)``: whether a tree satisfies the constraints on it."""


def finish(
    derivation: Derivation, fixed_relations: Mapping[int, str] = NOTHING_FIXED, holds: Holds | None = None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the head and the relation of each word.

    No action decides the root's relation: it is the model's, unless a constraint fixes the relation of that word. An
    arc that would not satisfy the constraints (``holds``) after moving it stays where the parser made it.
    """
    n = len(derivation.modifiers) + 1
    heads, relations = [0] * n, [fixed_relations.get(derivation.root, derivation.root_relation)] * n
    arcs = zip(derivation.heads.tolist(), derivation.modifiers.tolist(), derivation.relations, strict=True)
    for head, modifier, relation in arcs:
        heads[modifier - 1], relations[modifier - 1] = head, relation
    if not derivation.marks:
        return tuple(heads), tuple(relations)
    marks: list[Mark | None] = [None] * n
    for modifier, mark in zip(derivation.modifiers.tolist(), derivation.marks, strict=True):
        marks[modifier - 1] = mark

    def is_allowed(moved: Sequence[int]) -> bool:
        return holds is None or holds(moved, relations)

    return restore(heads, relations, marks, is_allowed), tuple(relations)
