"""Constraints in requests: read from JSON, checked within limits of number, length and time, and written as JSON.

Checking can take longer than parsing, above all to name a conflict. So each word counts as many words of work: requests
with more than some twenty words under constraints are large ones, which take turns with others (see ``batching``).
Their sentences are prepared and parsed one by one, and each stops at a limit of time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from easyfirst.constraints.annotations import constraints_of
from easyfirst.constraints.records import Bracket, Constraint, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.constraints.time_limit import time_limit
from easyfirst.counting import count
from easyfirst.errors import ConstraintError, InputError
from easyfirst.inputs import Prepared
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.treebank.sentence import Sentence

CONSTRAINING = 50  # the cost of a word under constraints, at worst, relative to parsing it without
MISC = "misc"  # the constraints are those in the column MISC
KEYS = ("heads", "relations", "forbidden", "brackets")
_EXAMPLE = 'as in {"heads": {"7": 2}, "relations": {"7": "obl"}, "forbidden": [[4, 7]], "brackets": [[3, 7]]}'

Result = TypeVar("Result")
Asked = tuple[Constraints | None, ...]


class ConflictError(RefusedError):
    """The error about constraints that cannot hold together: the number of the sentence and the conflict."""

    def __init__(self, message: str, sentence: int, conflict: Sequence[Constraint]) -> None:
        super().__init__(message, 409)
        self.details = {"sentence": sentence, "conflict": constraints_dict(conflict)}


def read_constraints(value: object, n_sentences: int, limits: Limits) -> Asked:
    """Read the value of the key ``constraints``: an object or null for each sentence."""
    if not isinstance(value, list):
        raise RefusedError(f"constraints must be a list with an object or null for each sentence, {_EXAMPLE}")
    given = cast("list[Any]", value)
    if len(given) != n_sentences:
        found = f"{count(len(given), 'item')} for {count(n_sentences, 'sentence')}"
        raise RefusedError(f"constraints has {found}; give an object or null for each", 409)
    return tuple(_read(item, number, limits) for number, item in enumerate(given, 1))


def _read(item: object, number: int, limits: Limits) -> Constraints | None:
    if item is None:
        return None
    name = f"the constraints of sentence {number}"
    if not isinstance(item, dict):
        raise RefusedError(f"{name} are not an object; write them {_EXAMPLE}")
    values = cast("dict[str, Any]", item)
    if unknown := [key for key in values if key not in KEYS]:
        raise RefusedError(f"{name} have the unknown key {unknown[0]!r}; give {', '.join(KEYS)}")
    try:
        heads, relations = (_by_word(values.get(key, {})) for key in KEYS[:2])
        lists = {key: _integers(values.get(key, [])) for key in KEYS[2:]}
        read = Constraints.of(heads=heads, relations=relations, **lists)
    except (InputError, ValueError) as error:
        raise RefusedError(f"{name} cannot be read: {error}; write them {_EXAMPLE}") from None
    return _check_number(read, number, limits)


def _check_number(read: Constraints, number: int, limits: Limits) -> Constraints:
    if len(read.items) > limits.max_constraints:
        limit = f"this server takes up to {limits.max_constraints:,}"
        raise RefusedError(f"sentence {number} has {len(read.items):,} constraints; {limit}", 413)
    return read


def _by_word(given: object) -> Any:
    """Return the values by the numbers of words, which are strings in JSON."""
    if not isinstance(given, dict):
        raise ValueError("heads and relations must be objects")
    read: dict[int, object] = {}
    for key, value in cast("dict[str, Any]", given).items():
        if not (key.isascii() and key.isdecimal() and len(key) <= 9):
            raise ValueError(f"{key!r} is not the number of a word")
        if isinstance(value, bool) or (isinstance(value, int | float) and value < 0):
            raise ValueError(f"{key!r} has {json.dumps(value)}")
        read[int(key)] = _whole(value)
    return read


def _integers(given: object) -> Any:
    """Pass lists of lists on; refuse booleans, which Python takes for integers."""
    if not isinstance(given, list):
        raise ValueError("forbidden and brackets must be lists")
    for entry in cast("list[Any]", given):
        if not isinstance(entry, list) or any(isinstance(cell, bool) for cell in cast("list[Any]", entry)):
            raise ValueError(f"{entry!r} is not a list of numbers")
    return [list(map(_whole, entry)) for entry in cast("list[list[Any]]", given)]


def _whole(value: Any) -> Any:
    """Return a number without a fraction as an integer, as JSON makes no difference between the two."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def constraints_dict(items: Sequence[Constraint]) -> dict[str, Any]:
    """Return constraints in the form in which requests have them."""
    return {
        "heads": {str(item.modifier): item.head for item in items if isinstance(item, FixedHead)},
        "relations": {str(item.modifier): item.relation for item in items if isinstance(item, FixedRelation)},
        "forbidden": [
            [item.head, item.modifier, *([] if item.relation is None else [item.relation])]
            for item in items
            if isinstance(item, ForbiddenArc)
        ],
        "brackets": [[item.first, item.last] for item in items if isinstance(item, Bracket)],
    }


def constraints_in_misc(sentences: Sequence[Sentence], limits: Limits) -> Asked:
    """Return the constraints in the column MISC of each sentence, or None where there are none."""
    found = map(constraints_of, sentences)
    return tuple(each and _check_number(each, number, limits) for number, each in enumerate(found, 1))


def prepare_one(prepared: Iterator[Prepared], number: int, limits: Limits) -> Prepared:
    """Prepare the next sentence of a request, which has constraints, within the limit of time."""
    try:
        return within_limit(lambda: next(prepared), limits)
    except ConstraintError as error:
        if not error.conflict:  # the time is over
            raise RefusedError(f"sentence {number}: {error}") from None
        conflict = cast("tuple[Constraint, ...]", error.conflict)
        raise ConflictError(str(error), number, conflict) from None


def within_limit(work: Callable[[], Result], limits: Limits) -> Result:
    """Do what constraints can make slow."""
    with time_limit(limits.constraint_time):
        return work()


def check_constrained(n_words: int, number: int, limits: Limits) -> None:
    """Raise an error if a sentence with constraints is too long."""
    if n_words > limits.max_constrained_words:
        limit = f"this server takes constraints on up to {limits.max_constrained_words:,} words"
        raise RefusedError(f"sentence {number} has {n_words:,} words; {limit}: split it")
