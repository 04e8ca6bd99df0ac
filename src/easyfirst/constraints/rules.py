"""The constraints of a sentence as the parser needs them: numbers of relations, and sets of heads."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from easyfirst.constraints.feasible import Wanted, any_head, find_tree
from easyfirst.constraints.records import Bracket, Constraint, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.model.parser_vocabulary import ParserVocabulary


@dataclass(frozen=True, slots=True)
class Rules:
    """What the arcs of a sentence must be. Words are numbered from 1."""

    wanted: Wanted
    tree: Sequence[int]
    """One that obeys, from 1."""
    relations: dict[int, int] = field(default_factory=dict[int, int])
    """The numbers of fixed relations, by modifier."""
    barred: dict[tuple[int, int], set[int]] = field(default_factory=dict[tuple[int, int], set[int]])
    """The numbers of relations that an arc (head, modifier) must not have, if it may have others."""


class RuleMaker:
    """Makes rules of the constraints on one sentence, or of a part of them. Each alone is known to make sense."""

    def __init__(self, n_words: int, constraints: Sequence[Constraint], vocabulary: ParserVocabulary) -> None:
        self._n_words = n_words
        self._numbers = {relation: number for number, relation in enumerate(vocabulary.relations)}
        self._root_relation = vocabulary.root_relation
        self._roots: Set[int] = {c.modifier for c in constraints if isinstance(c, FixedHead) and c.head == 0}

    def rules(self, constraints: Sequence[Constraint]) -> Rules | None:
        """The rules that these constraints make; None if no tree obeys them."""
        relations = _fixed_relations(constraints)
        if relations is None:
            return None
        heads = [any_head(m, self._n_words) for m in range(self._n_words + 1)]
        for constraint in constraints:
            if isinstance(constraint, FixedHead):
                heads[constraint.modifier] &= 1 << constraint.head
        for m, relation in relations.items():
            heads[m] &= self._heads_with(relation, m)
        barred = self._forbid([c for c in constraints if isinstance(c, ForbiddenArc)], relations, heads)
        brackets = [(c.first, c.last) for c in constraints if isinstance(c, Bracket)]
        wanted = Wanted(heads, brackets)
        tree = find_tree(wanted)
        if tree is None:
            return None
        numbers = {m: self._numbers[relation] for m, relation in relations.items() if relation in self._numbers}
        return Rules(wanted, tree, numbers, barred)

    def _heads_with(self, relation: str, m: int) -> int:
        """The heads that a word with this relation may have. The root has its relation, or one that is fixed for a
        word that is fixed as root."""
        heads = any_head(m, self._n_words)
        if relation not in self._numbers:
            return heads & 1
        return heads if relation == self._root_relation or m in self._roots else heads & ~1

    def _forbid(
        self, arcs: Sequence[ForbiddenArc], relations: dict[int, str], heads: list[int]
    ) -> dict[tuple[int, int], set[int]]:
        """Take forbidden heads out of the sets; what is forbidden with some relations only."""
        barred: dict[tuple[int, int], set[int]] = {}
        for arc in arcs:
            fixed = relations.get(arc.modifier)
            if arc.head == 0 and arc.relation is not None:
                is_forbidden = arc.relation == (fixed if fixed and arc.modifier in self._roots else self._root_relation)
            else:
                is_forbidden = arc.relation is None or arc.relation == fixed
            if not is_forbidden and arc.head and arc.relation in self._numbers:
                of_arc = barred.setdefault((arc.head, arc.modifier), set())
                of_arc.add(self._numbers[arc.relation])
                is_forbidden = len(of_arc) == len(self._numbers)
            if is_forbidden:
                heads[arc.modifier] &= ~(1 << arc.head)
        return barred


def _fixed_relations(constraints: Sequence[Constraint]) -> dict[int, str] | None:
    """By modifier; None if a word has two."""
    found: dict[int, str] = {}
    for constraint in constraints:
        if (
            isinstance(constraint, FixedRelation)
            and found.setdefault(constraint.modifier, constraint.relation) != constraint.relation
        ):
            return None
    return found
