"""Constraints in CoNLL-U: keys of the MISC column, and the values that HEAD and DEPREL already have.

The MISC keys of a word are ``FixedHead=3`` (0: the root), ``FixedRel=nsubj``, ``ForbiddenHead=5,7:obj``
(comma-separated heads, each optionally with a relation) and ``Bracket=2:5`` (comma-separated, on any word's line).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from easyfirst.constraints.records import Bracket, Constraint, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.errors import ConstraintError
from easyfirst.treebank.misc import entries
from easyfirst.treebank.sentence import Sentence

FIXED_HEAD, FIXED_RELATION, FORBIDDEN, BRACKET = "FixedHead", "FixedRel", "ForbiddenHead", "Bracket"
_WORD = re.compile(r"[0-9]{1,9}")
_FORBIDDEN = re.compile(r"([0-9]{1,9})(?::(.+))?")
_BRACKET = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def constraints_of(sentence: Sentence, *, misc: bool = True, heads: bool = False) -> Constraints | None:
    """Return the constraints in MISC and, with ``heads``, in each HEAD and DEPREL that is not ``_``; None if there are
    none. Raise a :class:`ConstraintError` with the line of a value that cannot be read."""
    items: list[Constraint] = []
    if heads:
        items += [FixedHead(modifier=m, head=head) for m, head in enumerate(sentence.heads, 1) if head is not None]
        items += [FixedRelation(modifier=m, relation=name) for m, name in enumerate(sentence.relations, 1) if name]
    if misc:
        for m, cell in enumerate(sentence.misc, 1):
            items += _of_word(sentence, m, cell)
    return Constraints(tuple(dict.fromkeys(items))) if items else None


def constraint_entries(constraints: Constraints, n_words: int) -> list[dict[str, str | None]]:
    """Return the MISC entries that :func:`constraints_of` reads as these constraints, for each word of a sentence. Keys
    that a word does not need are None, which removes them. A bracket is written to the line of its first word."""
    values: list[dict[str, list[str]]] = [{key: [] for key in _READERS} for _ in range(n_words)]
    for item in constraints.items:
        match item:
            case FixedHead(modifier=m, head=h):
                values[m - 1][FIXED_HEAD] = [str(h)]
            case FixedRelation(modifier=m, relation=relation):
                values[m - 1][FIXED_RELATION] = [relation]
            case ForbiddenArc(head=h, modifier=m, relation=relation):
                values[m - 1][FORBIDDEN].append(f"{h}" if relation is None else f"{h}:{relation}")
            case Bracket(first=first, last=last):
                values[first - 1][BRACKET].append(f"{first}:{last}")
    return [{key: ",".join(found) or None for key, found in of_word.items()} for of_word in values]


def _of_word(sentence: Sentence, m: int, misc: str) -> Iterator[Constraint]:
    for entry in entries(misc):
        key, equals, value = (part.strip(" ") for part in entry)
        read = _READERS.get(key)
        if read is not None and equals:
            try:
                yield from read(m, value)
            except ValueError as error:
                raise _error(sentence, m, f"{key} is {value!r}; {error}") from None
        elif (known := _KEYS.get(key.lower())) is not None:
            raise _error(sentence, m, f"MISC has {''.join(entry)!r}; write it as {known}=...")


def _error(sentence: Sentence, m: int, message: str) -> ConstraintError:
    name = f"word {m} {sentence.forms[m - 1]!r}: {message}"
    return ConstraintError(name, source=sentence.source, line=sentence.word_line(m - 1))


def _fixed_head(m: int, value: str) -> Iterator[Constraint]:
    if not _WORD.fullmatch(value):
        raise ValueError("it must be the ID of a word, or 0 for the root")
    yield FixedHead(modifier=m, head=int(value))


def _fixed_relation(m: int, value: str) -> Iterator[Constraint]:
    if not value:
        raise ValueError("it must be a relation")
    yield FixedRelation(modifier=m, relation=value)


def _forbidden(m: int, value: str) -> Iterator[Constraint]:
    for part in value.split(","):
        found = _FORBIDDEN.fullmatch(part)
        if found is None:
            raise ValueError("it must be comma-separated word IDs, each alone or as ID:relation")
        yield ForbiddenArc(head=int(found[1]), modifier=m, relation=found[2])


def _bracket(_: int, value: str) -> Iterator[Constraint]:
    for part in value.split(","):
        found = _BRACKET.fullmatch(part)
        if found is None:
            raise ValueError("it must be FIRST:LAST, two word IDs, or several such pairs separated by commas")
        yield Bracket(first=int(found[1]), last=int(found[2]))


_READERS: dict[str, Callable[[int, str], Iterator[Constraint]]] = {
    FIXED_HEAD: _fixed_head,
    FIXED_RELATION: _fixed_relation,
    FORBIDDEN: _forbidden,
    BRACKET: _bracket,
}
_KEYS = {key.lower(): key for key in _READERS}
