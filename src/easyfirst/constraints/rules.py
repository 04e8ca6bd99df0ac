"""Constraints compiled for the parser: relations as the numbers of their labels, heads as head sets."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from easyfirst.constraints.feasible import HeadSets, all_heads, find_tree
from easyfirst.constraints.records import Bracket, Constraint, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.constraints.time_limit import check_time
from easyfirst.model.parser_vocabulary import ParserVocabulary


@dataclass(frozen=True, slots=True)
class Rules:
    """The compiled constraints of a sentence. Words are numbered from 1."""

    head_sets: HeadSets
    tree: Sequence[int]
    """The heads of a satisfying tree by word, from 1."""
    relations: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """The labels of fixed relations by modifier: the relation itself, and with any mark of lifted arcs."""
    forbidden_relations: dict[tuple[int, int], set[int]] = field(default_factory=dict[tuple[int, int], set[int]])
    """Forbidden labels of arcs (head, modifier) that may have others."""


class RuleCompiler:
    """Compiles the constraints on one sentence, or a subset of them. Each constraint must be valid by itself."""

    def __init__(self, n_words: int, constraints: Sequence[Constraint], vocabulary: ParserVocabulary) -> None:
        self._n_words = n_words
        self._numbers: dict[str, tuple[int, ...]] = {}
        for number, label in enumerate(vocabulary.labels):
            self._numbers[label.relation] = (*self._numbers.get(label.relation, ()), number)
        self._n_labels = len(vocabulary.labels)
        self._root_relation = vocabulary.root_relation
        self._roots: Set[int] = {c.modifier for c in constraints if isinstance(c, FixedHead) and c.head == 0}

    def compile(self, constraints: Sequence[Constraint]) -> Rules | None:
        """Return the rules of these constraints, or None if they are unsatisfiable."""
        check_time()
        relations = _fixed_relations(constraints)
        if relations is None:
            return None
        heads = [all_heads(m, self._n_words) for m in range(self._n_words + 1)]
        for constraint in constraints:
            if isinstance(constraint, FixedHead):
                heads[constraint.modifier] &= 1 << constraint.head
        for m, relation in relations.items():
            heads[m] &= self._heads_with(relation, m)
        forbidden = self._forbid([c for c in constraints if isinstance(c, ForbiddenArc)], relations, heads)
        head_sets = HeadSets(heads, [(c.first, c.last) for c in constraints if isinstance(c, Bracket)])
        tree = find_tree(head_sets)
        if tree is None:
            return None
        numbers = {m: self._numbers[relation] for m, relation in relations.items() if relation in self._numbers}
        return Rules(head_sets, tree, numbers, forbidden)

    def _heads_with(self, relation: str, m: int) -> int:
        """Return a mask of the heads that m may have with this relation.

        The root has the root relation, or the relation that is fixed for a word that is fixed as the root."""
        if relation not in self._numbers:
            return 1
        return -1 if relation == self._root_relation or m in self._roots else ~1

    def _forbid(
        self, arcs: Sequence[ForbiddenArc], relations: dict[int, str], heads: list[int]
    ) -> dict[tuple[int, int], set[int]]:
        """Remove forbidden heads from the head sets, and return the forbidden relations of the other arcs."""
        forbidden: dict[tuple[int, int], set[int]] = {}
        for arc in arcs:
            fixed = relations.get(arc.modifier)
            if arc.head == 0 and arc.relation is not None:
                is_forbidden = arc.relation == (fixed if fixed and arc.modifier in self._roots else self._root_relation)
            else:
                is_forbidden = arc.relation is None or arc.relation == fixed
            if not is_forbidden and arc.head and arc.relation in self._numbers:
                of_arc = forbidden.setdefault((arc.head, arc.modifier), set())
                of_arc.update(self._numbers[arc.relation])
                is_forbidden = len(of_arc) == self._n_labels
            if is_forbidden:
                heads[arc.modifier] &= ~(1 << arc.head)
        return forbidden


def _fixed_relations(constraints: Sequence[Constraint]) -> dict[int, str] | None:
    """Return the fixed relations by modifier, or None if a word has two."""
    found: dict[int, str] = {}
    for c in constraints:
        if isinstance(c, FixedRelation) and found.setdefault(c.modifier, c.relation) != c.relation:
            return None
    return found
