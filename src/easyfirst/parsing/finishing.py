"""From a derivation to the tree that users get: the place for steps after decoding.

The derivation records what the parser did and stays as it is, whatever the steps here change.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from easyfirst.parsing.derivation import Derivation

NOTHING_FIXED: Mapping[int, str] = MappingProxyType({})


def finish(
    derivation: Derivation, fixed_relations: Mapping[int, str] = NOTHING_FIXED
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the head and the relation of each word.

    No action decides the root's relation: it is the model's, unless a constraint fixes the relation of that word.
    """
    n = len(derivation.modifiers) + 1
    heads, relations = [0] * n, [fixed_relations.get(derivation.root, derivation.root_relation)] * n
    arcs = zip(derivation.heads.tolist(), derivation.modifiers.tolist(), derivation.relations, strict=True)
    for head, modifier, relation in arcs:
        heads[modifier - 1], relations[modifier - 1] = head, relation
    return tuple(heads), tuple(relations)
