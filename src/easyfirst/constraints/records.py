"""Constraints on the tree of a sentence: fixed heads and relations, forbidden arcs, and brackets.

Words are given by id, counted from 1; ``head=0`` makes a word the root. A bracket is a span of words that forms one
subtree: exactly one word, its head, has its head outside the span, and no word outside has its head among the other
words. The head of the bracket may have modifiers outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, TypeAlias, cast

from easyfirst.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedHead:
    """A modifier that must have this head; with head 0 it is the root."""

    modifier: int
    head: int

    def describe(self, forms: Sequence[str]) -> str:
        """Describe the constraint, naming the words of a sentence."""
        if self.head == 0:
            return f"{_name(self.modifier, forms)} is the root"
        return f"{_name(self.modifier, forms)} has the head {_name(self.head, forms)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRelation:
    """A modifier that must have this relation to its head, whichever word that is."""

    modifier: int
    relation: str

    def describe(self, forms: Sequence[str]) -> str:
        """Describe the constraint, naming the words of a sentence."""
        return f"{_name(self.modifier, forms)} has the relation {self.relation!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenArc:
    """A modifier that must not have this head (0: must not be the root), with this relation or with any."""

    head: int
    modifier: int
    relation: str | None = None

    def describe(self, forms: Sequence[str]) -> str:
        """Describe the constraint, naming the words of a sentence."""
        how = "" if self.relation is None else f" with the relation {self.relation!r}"
        if self.head == 0:
            return f"{_name(self.modifier, forms)} is not the root{how}"
        return f"{_name(self.modifier, forms)} does not have the head {_name(self.head, forms)}{how}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """A span of words, from the first to the last, that must form one subtree."""

    first: int
    last: int

    def describe(self, forms: Sequence[str]) -> str:
        """Describe the constraint, naming the words of a sentence."""
        return f"{_name(self.first, forms)} to {_name(self.last, forms)} are a bracket"


Constraint: TypeAlias = "FixedHead | FixedRelation | ForbiddenArc | Bracket"


@dataclass(frozen=True, slots=True)
class Constraints:
    """The constraints on the tree of one sentence.

    >>> known = Constraints.of(heads={1: 2, 3: 0}, relations={2: "nsubj"}, forbidden=[(3, 1)], brackets=[(1, 2)])
    >>> len(known.items)
    5
    >>> known.items[0]
    FixedHead(modifier=1, head=2)
    """

    items: tuple[Constraint, ...] = ()
    """The constraints one by one."""

    @classmethod
    def of(
        cls,
        *,
        heads: Mapping[int, int] | None = None,
        relations: Mapping[int, str] | None = None,
        forbidden: Iterable[tuple[int, int] | tuple[int, int, str | None]] = (),
        brackets: Iterable[tuple[int, int]] = (),
    ) -> Constraints:
        """Make constraints from ``heads`` and ``relations`` by modifier, ``forbidden`` arcs as (head, modifier) or
        (head, modifier, relation), and ``brackets`` as (first, last). Raise an :class:`InputError` for other forms."""
        fixed_heads = _read("heads", heads or {}, index, index)
        fixed_relations = _read("relations", relations or {}, index, _relation)
        forbidden_arcs = _read("forbidden", forbidden, index, index, _relation_or_any, least=2)
        items: list[Constraint] = [FixedHead(modifier=m, head=h) for m, h in fixed_heads]
        items += [FixedRelation(modifier=m, relation=relation) for m, relation in fixed_relations]
        items += [
            ForbiddenArc(head=h, modifier=m, relation=relation[0] if relation else None)
            for h, m, *relation in forbidden_arcs
        ]
        items += [Bracket(first=first, last=last) for first, last in _read("brackets", brackets, index, index)]
        return cls(tuple(items))

    @property
    def heads(self) -> dict[int, int]:
        """The fixed heads, by modifier."""
        return {item.modifier: item.head for item in self.items if isinstance(item, FixedHead)}

    @property
    def relations(self) -> dict[int, str]:
        """The fixed relations, by modifier."""
        return {item.modifier: item.relation for item in self.items if isinstance(item, FixedRelation)}

    @property
    def brackets(self) -> tuple[tuple[int, int], ...]:
        """The brackets, as (first, last)."""
        return tuple((item.first, item.last) for item in self.items if isinstance(item, Bracket))


_EXAMPLES = {
    "heads": "heads={7: 2, 2: 0}",
    "relations": "relations={7: 'obl'}",
    "forbidden": "forbidden=[(4, 7), (4, 7, 'nmod')]",
    "brackets": "brackets=[(3, 7)]",
}


def _read(argument: str, given: object, *readers: Callable[[Any], Any], least: int = 0) -> list[tuple[Any, ...]]:
    """Read an argument of :meth:`Constraints.of`: entries of one value for each reader, or for the first ``least``."""
    is_mapping = isinstance(given, Mapping)
    if is_mapping != _EXAMPLES[argument].endswith("}") or not isinstance(given, Iterable):
        raise InputError(f"{argument} is of type {type(given).__name__}; write it as in {_EXAMPLES[argument]}")
    entries = cast("Iterable[Any]", given.items() if is_mapping else given)
    return [_read_one(argument, entry, readers, least or len(readers)) for entry in entries]


def _read_one(argument: str, entry: Any, readers: Sequence[Callable[[Any], Any]], least: int) -> tuple[Any, ...]:
    try:
        values = (*entry,)
        if least <= len(values) <= len(readers):
            return tuple(read(value) for read, value in zip(readers, values, strict=False))
    except TypeError:
        pass
    shown = f"{{{entry[0]!r}: {entry[1]!r}}}" if argument in ("heads", "relations") else repr(entry)
    raise InputError(f"{argument} has {shown}; write it as in {_EXAMPLES[argument]}")


def _relation(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _relation_or_any(value: object) -> str | None:
    return None if value is None else _relation(value)


def _name(m: int, forms: Sequence[str]) -> str:
    return f"{m} {forms[m - 1]!r}"
