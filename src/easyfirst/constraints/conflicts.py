"""Validate constraints before parsing, and explain why a set of them is unsatisfiable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import combinations

from easyfirst.constraints.records import Bracket, Constraint, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.constraints.rules import RuleCompiler, Rules
from easyfirst.counting import count
from easyfirst.errors import ConstraintError
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import find_cycle

MAX_LISTED = 12
"""The number of conflicting constraints that a message lists."""
NO_TREE = "no projective tree with one root satisfies all of them"


def compile_constraints(
    sentence: Sentence, known: Constraints | None, vocabulary: ParserVocabulary, *, name: str = "this sentence"
) -> Rules | None:
    """Return the compiled constraints on a sentence, or None if there are no constraints.

    Raise a :class:`ConstraintError` if a constraint is invalid, or if they are unsatisfiable. It lists a minimal
    conflict (or a whole cycle) and, for a sentence from a file, the line of its first constraint.
    """
    if known is None or not known.items:
        return None
    for constraint in known.items:
        if problem := _problem(constraint, len(sentence), vocabulary):
            raise _error(sentence, name, problem, (constraint,))
    constraints = tuple(dict.fromkeys(known.items))
    compiler = RuleCompiler(len(sentence), constraints, vocabulary)
    rules = compiler.compile(constraints)
    if rules is None:
        cycle = _cycle([constraint for constraint in constraints if isinstance(constraint, FixedHead)], len(sentence))
        conflict = cycle or tuple(_minimal_conflict(constraints, lambda some: compiler.compile(some) is not None))
        listed = "; ".join(constraint.describe(sentence.forms) for constraint in conflict[:MAX_LISTED])
        listed += f"; and {len(conflict) - MAX_LISTED} more" if len(conflict) > MAX_LISTED else ""
        reason = _reason(conflict, len(sentence), vocabulary.root_relation)
        problem = "this cannot hold" if len(conflict) == 1 else "these cannot hold together"
        raise _error(sentence, name, f"{problem}: {listed} ({reason}; remove one of them)", conflict)
    return rules


def _problem(constraint: Constraint, n_words: int, vocabulary: ParserVocabulary) -> str | None:
    """Return what is wrong with a constraint by itself, or None."""
    if not _is_well_typed(constraint):
        return f"{constraint!r} is not a constraint; give words by id (an integer) and relations by name"
    match constraint:
        case Bracket(first=first, last=last):
            if not 1 <= first <= last <= n_words:
                return f"the bracket {first}:{last} is not a span of a sentence of {count(n_words, 'word')}"
            return None
        case FixedHead(modifier=m, head=h) | ForbiddenArc(modifier=m, head=h):
            if not (1 <= m <= n_words and 0 <= h <= n_words):
                return f"there is no arc from {h} to {m} in a sentence of {count(n_words, 'word')}; count words from 1"
            if m == h and isinstance(constraint, FixedHead):
                return f"word {m} cannot be its own head"
        case FixedRelation(modifier=m):
            if not 1 <= m <= n_words:
                return f"there is no word {m} in a sentence of {count(n_words, 'word')}; count words from 1"
    relation = None if isinstance(constraint, FixedHead) else constraint.relation
    if relation is not None and relation not in (*vocabulary.plain_relations, vocabulary.root_relation):
        return f"word {m} cannot have the relation {relation!r}; the model has no such relation"
    return None


def _is_well_typed(constraint: object) -> bool:
    """Return whether this is a constraint whose words are integers and whose relation is a string."""
    if not isinstance(constraint, FixedHead | FixedRelation | ForbiddenArc | Bracket):
        return False
    is_any = isinstance(constraint, ForbiddenArc) and constraint.relation is None
    return all(
        (isinstance(value, str) or is_any) if name == "relation" else type(value) is int
        for name, value in asdict(constraint).items()
    )


def _minimal_conflict(
    constraints: Sequence[Constraint], is_satisfiable: Callable[[Sequence[Constraint]], bool]
) -> list[Constraint]:
    """Return a minimal unsatisfiable subset (QuickXplain, Junker 2004): find the constraints of the second half that
    conflict with the first half, then those of the first half that conflict with them."""

    def needed(given: list[Constraint], rest: Sequence[Constraint], *, is_changed: bool) -> list[Constraint]:
        if is_changed and not is_satisfiable(given):
            return []
        if len(rest) == 1:
            return list(rest)
        first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        of_second = needed([*given, *first], second, is_changed=True)
        of_first = needed([*given, *of_second], first, is_changed=bool(of_second))
        return of_first + of_second

    return needed([], constraints, is_changed=False)


def _reason(conflict: Sequence[Constraint], n_words: int, root_relation: str) -> str:
    """Return why the constraints of a minimal conflict, or of a cycle, cannot hold together."""
    arcs = [constraint for constraint in conflict if isinstance(constraint, FixedHead)]
    brackets = [constraint for constraint in conflict if isinstance(constraint, Bracket)]
    relations = [constraint for constraint in conflict if isinstance(constraint, FixedRelation)]
    if len(arcs) == len(conflict):
        return _reason_of_arcs(arcs, n_words)
    if len(brackets) == len(conflict) == 2:
        return "brackets may be nested or disjoint, but must not cross"
    if len(relations) == len(conflict):
        return _reason_of_relations(relations, root_relation)
    if brackets and len(arcs) + len(brackets) == len(conflict):
        return "only one word of a bracket can be linked to words outside it"
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
    """Return why an arc conflicts with a constraint of another kind."""
    if isinstance(other, ForbiddenArc) and (other.head, other.modifier) == (arc.head, arc.modifier):
        return "the arc is fixed and forbidden"
    if isinstance(other, FixedRelation) and other.modifier == arc.modifier:
        return "only the root has that relation"
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
        return "the arc spans the root"
    spans = sorted((min(arc.modifier, arc.head), max(arc.modifier, arc.head)) for arc in arcs)
    if any(begin < other < end < other_end for (begin, end), (other, other_end) in combinations(spans, 2)):
        return "the arcs cross"
    return "an arc spans an ancestor of its head"


def _cycle(arcs: Sequence[FixedHead], n_words: int) -> tuple[FixedHead, ...]:
    """Return arcs that form a cycle, each followed by the arc of its head, or none if there is no cycle."""
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
