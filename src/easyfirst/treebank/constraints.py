"""What is known of a tree before it is parsed: fixed heads and relations, forbidden arcs, and brackets.

Words are called by their ids, counted from 1; as a head, 0 is the outside, so ``head=0`` makes a word the root. A
bracket is a stretch of words that is one subtree: exactly one of them, its head, has its head outside the stretch, and
no word outside has its head among the others. The bracket's head may have modifiers outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedHead:
    """The modifier has this head; 0: it is the root."""

    modifier: int
    head: int

    def describe(self, forms: Sequence[str]) -> str:
        """In words, for a sentence."""
        if self.head == 0:
            return f"{_name(self.modifier, forms)} is the root"
        return f"{_name(self.modifier, forms)} has the head {_name(self.head, forms)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRelation:
    """The modifier has this relation to its head, whichever that is."""

    modifier: int
    relation: str

    def describe(self, forms: Sequence[str]) -> str:
        """In words, for a sentence."""
        return f"{_name(self.modifier, forms)} has the relation {self.relation!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenArc:
    """The modifier does not have this head (0: it is not the root), or not with this relation."""

    head: int
    modifier: int
    relation: str | None = None

    def describe(self, forms: Sequence[str]) -> str:
        """In words, for a sentence."""
        how = "" if self.relation is None else f" with the relation {self.relation!r}"
        if self.head == 0:
            return f"{_name(self.modifier, forms)} is not the root{how}"
        return f"{_name(self.modifier, forms)} does not have the head {_name(self.head, forms)}{how}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """The words from the first to the last are one subtree."""

    first: int
    last: int

    def describe(self, forms: Sequence[str]) -> str:
        """In words, for a sentence."""
        return f"{_name(self.first, forms)} to {_name(self.last, forms)} are a bracket"


Constraint: TypeAlias = "FixedHead | FixedRelation | ForbiddenArc | Bracket"


@dataclass(frozen=True, slots=True)
class Constraints:
    """All that is known of one sentence's tree.

    >>> known = Constraints.of(heads={1: 2, 3: 0}, relations={2: "nsubj"}, forbidden=[(3, 1)], brackets=[(1, 2)])
    >>> len(known.items)
    5
    >>> known.items[0]
    FixedHead(modifier=1, head=2)
    """

    items: tuple[Constraint, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        heads: Mapping[int, int] | None = None,
        relations: Mapping[int, str] | None = None,
        forbidden: Iterable[tuple[int, int] | tuple[int, int, str]] = (),
        brackets: Iterable[tuple[int, int]] = (),
    ) -> Constraints:
        """``heads`` and ``relations`` by modifier, ``forbidden`` as (head, modifier) or (head, modifier, relation),
        ``brackets`` as (first, last)."""
        items: list[Constraint] = [FixedHead(modifier=index(m), head=index(h)) for m, h in (heads or {}).items()]
        items += [FixedRelation(modifier=index(m), relation=relation) for m, relation in (relations or {}).items()]
        items += [
            ForbiddenArc(head=index(arc[0]), modifier=index(arc[1]), relation=arc[2] if len(arc) == 3 else None)
            for arc in forbidden
        ]
        items += [Bracket(first=index(first), last=index(last)) for first, last in brackets]
        return cls(tuple(items))

    @property
    def heads(self) -> dict[int, int]:
        """The fixed heads, by modifier."""
        return {item.modifier: item.head for item in self.items if isinstance(item, FixedHead)}

    @property
    def relations(self) -> dict[int, str]:
        """The fixed relations, by modifier."""
        return {item.modifier: item.relation for item in self.items if isinstance(item, FixedRelation)}


def _name(m: int, forms: Sequence[str]) -> str:
    return f"{m} {forms[m - 1]!r}"
