"""Constraints are checked before anything is parsed: what cannot hold is said, in words, and never guessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import combinations

from easyfirst.constraints.records import Bracket, Constraint, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.constraints.rules import RuleMaker, Rules
from easyfirst.errors import ConstraintError
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import find_cycle

MANY = 12
"""More constraints than that are not listed."""
NO_TREE = "no projective tree with one root has them all"


def compile_constraints(
    sentence: Sentence, known: Constraints | None, vocabulary: ParserVocabulary, *, name: str = "this sentence"
) -> Rules | None:
    """Return the rules that constraints on a sentence amount to; None if there are no constraints.

    Raise a :class:`ConstraintError` if one of them is invalid, or if they are unsatisfiable; it names a minimal
    conflict (or a whole cycle) and, for a sentence from a file, the line of its first constraint.
    """
    if known is None or not known.items:
        return None
    for constraint in known.items:
        if problem := _problem(constraint, len(sentence), vocabulary):
            raise _error(sentence, name, problem, (constraint,))
    constraints = tuple(dict.fromkeys(known.items))
    maker = RuleMaker(len(sentence), constraints, vocabulary)
    rules = maker.rules(constraints)
    if rules is None:
        cycle = _cycle([constraint for constraint in constraints if isinstance(constraint, FixedHead)], len(sentence))
        conflict = cycle or tuple(_smallest_conflict(constraints, lambda some: maker.rules(some) is not None))
        said = "; ".join(constraint.describe(sentence.forms) for constraint in conflict[:MANY])
        said += f"; and {len(conflict) - MANY} more" if len(conflict) > MANY else ""
        hint = f"{_reason(conflict, len(sentence), vocabulary.root_relation)}; take one of them out"
        together = "this cannot hold" if len(conflict) == 1 else "these cannot hold together"
        raise _error(sentence, name, f"{together}: {said} ({hint})", conflict)
    return rules


def _problem(constraint: Constraint, n_words: int, vocabulary: ParserVocabulary) -> str | None:
    """What is wrong with a constraint in itself."""
    if not _is_well_typed(constraint):
        return (
            f"{constraint!r} is no constraint; words are called by their ids, whole numbers, relations by their names"
        )
    match constraint:
        case Bracket(first=first, last=last):
            if not 1 <= first <= last <= n_words:
                return f"the bracket {first}:{last} is no part of a sentence of {n_words} words"
            return None
        case FixedHead(modifier=m, head=h) | ForbiddenArc(modifier=m, head=h):
            if not (1 <= m <= n_words and 0 <= h <= n_words):
                return f"there is no arc from {h} to {m} in a sentence of {n_words} words; they are counted from 1"
            if m == h and isinstance(constraint, FixedHead):
                return f"word {m} cannot be its own head"
        case FixedRelation(modifier=m):
            if not 1 <= m <= n_words:
                return f"there is no word {m} in a sentence of {n_words} words; they are counted from 1"
    relation = None if isinstance(constraint, FixedHead) else constraint.relation
    if relation is not None and relation not in (*vocabulary.relations, vocabulary.root_relation):
        return f"word {m} cannot have the relation {relation!r}, which the model does not know"
    return None


def _is_well_typed(constraint: object) -> bool:
    """Whether something is a constraint of ids and names."""
    if not isinstance(constraint, FixedHead | FixedRelation | ForbiddenArc | Bracket):
        return False
    is_any = isinstance(constraint, ForbiddenArc) and constraint.relation is None
    return all(
        (isinstance(value, str) or is_any) if name == "relation" else type(value) is int
        for name, value in asdict(constraint).items()
    )


def _smallest_conflict(
    constraints: Sequence[Constraint], can_hold: Callable[[Sequence[Constraint]], bool]
) -> list[Constraint]:
    """Some constraints that cannot hold together but could without any one of them (QuickXplain, Junker 2004): the
    latest that are needed are sought half by half, then the latest of those before them that are still needed."""

    def needed(given: list[Constraint], rest: Sequence[Constraint], *, is_changed: bool) -> list[Constraint]:
        if is_changed and not can_hold(given):
            return []
        if len(rest) == 1:
            return list(rest)
        first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        of_second = needed([*given, *first], second, is_changed=True)
        of_first = needed([*given, *of_second], first, is_changed=bool(of_second))
        return of_first + of_second

    return needed([], constraints, is_changed=False)


def _reason(conflict: Sequence[Constraint], n_words: int, root_relation: str) -> str:
    """Why constraints cannot hold together of which all are needed for that."""
    arcs = [constraint for constraint in conflict if isinstance(constraint, FixedHead)]
    brackets = [constraint for constraint in conflict if isinstance(constraint, Bracket)]
    relations = [constraint for constraint in conflict if isinstance(constraint, FixedRelation)]
    if len(arcs) == len(conflict):
        return _reason_of_arcs(arcs, n_words)
    if len(brackets) == len(conflict) == 2:
        return "brackets may lie in each other or apart, but not cross"
    if len(relations) == len(conflict):
        return _reason_of_relations(relations, root_relation)
    if brackets and len(arcs) + len(brackets) == len(conflict):
        return "only one word of a bracket can be linked with words outside of it"
    if len(conflict) == 2 and len(arcs) == 1:
        [arc], [other] = arcs, [constraint for constraint in conflict if constraint not in arcs]
        return _reason_of_two(arc, other)
    return NO_TREE


def _reason_of_relations(relations: Sequence[FixedRelation], root_relation: str) -> str:
    if len({constraint.modifier for constraint in relations}) < len(relations):
        return "a word has one relation"
    if all(constraint.relation == root_relation for constraint in relations):
        return "a tree has one root"
    return "no word is left to be the root"


def _reason_of_two(arc: FixedHead, other: Constraint) -> str:
    """Why an arc cannot hold with something that is no arc."""
    if isinstance(other, ForbiddenArc) and (other.head, other.modifier) == (arc.head, arc.modifier):
        return "the arc is fixed and forbidden"
    if isinstance(other, FixedRelation) and other.modifier == arc.modifier:
        return "that relation is the root's alone"
    if isinstance(other, FixedRelation) and arc.head == 0:
        return "a tree has one root"
    return NO_TREE


def _reason_of_arcs(arcs: Sequence[FixedHead], n_words: int) -> str:
    roots = [arc.modifier for arc in arcs if arc.head == 0]
    if len({arc.modifier for arc in arcs}) < len(arcs):
        return "a word has one head"
    if len(roots) > 1:
        return "a tree has one root"
    if _cycle(arcs, n_words):
        return "they form a cycle"
    if roots:
        return "the arc passes over the root"
    spans = sorted((min(arc.modifier, arc.head), max(arc.modifier, arc.head)) for arc in arcs)
    if any(begin < other < end < other_end for (begin, end), (other, other_end) in combinations(spans, 2)):
        return "the arcs cross"
    return "an arc passes over a word that is above its head"


def _cycle(arcs: Sequence[FixedHead], n_words: int) -> tuple[FixedHead, ...]:
    """Arcs that form a cycle, each followed by its head's; none if there is no cycle."""
    by_modifier = {arc.modifier: arc for arc in arcs}
    heads = [by_modifier[m].head if m in by_modifier else 0 for m in range(1, n_words + 1)]
    return tuple(by_modifier[m] for m in find_cycle(heads))


def _error(sentence: Sentence, name: str, message: str, conflict: tuple[Constraint, ...]) -> ConstraintError:
    first = conflict[0]
    word: object = getattr(first, "first" if isinstance(first, Bracket) else "modifier", None)
    if sentence.source is None:
        return ConstraintError(f"{name}: {message}", conflict=conflict)
    line = sentence.word_line(min(max(word, 1), len(sentence)) - 1 if isinstance(word, int) else 0)
    return ConstraintError(message, source=sentence.source, line=line, conflict=conflict)
