"""Constraints as arguments of a call: checked, and paired with their sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from easyfirst.constraints.records import Constraints
from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.treebank.sentence import Sentence

ConstraintsOf: TypeAlias = "Callable[[Sentence], Constraints | None]"
"""A function that returns the constraints on a sentence, or None."""
GivenConstraints: TypeAlias = "Iterable[Constraints | None] | ConstraintsOf"
"""The constraints on each sentence, or a function that returns them."""

Constrained: TypeAlias = "tuple[Sentence, Constraints | None]"

_EXAMPLE = "give one for each sentence, as in [Constraints.of(heads={1: 2}), None]"
_END = object()


def constrained(sentences: Iterable[Sentence], given: GivenConstraints | None) -> Iterator[Constrained]:
    """Pair each sentence with its constraints. Raise an :class:`InputError` if they have another type or number."""
    if given is None:
        return ((sentence, None) for sentence in sentences)
    if isinstance(given, Constraints):
        raise InputError(f"the constraints are for one sentence only; {_EXAMPLE}")
    if callable(given):
        return ((sentence, check_type(given(sentence))) for sentence in sentences)
    if not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"the constraints are of type {type(given).__name__}; {_EXAMPLE}")
    return _one_by_one(sentences, iter(given))


def one_of(given: object) -> list[Constraints | None] | None:
    """Return the constraints on a single sentence in the form that :func:`constrained` takes."""
    if given is None:
        return None
    if not isinstance(given, Constraints):
        example = "give those on the sentence, as in Constraints.of(heads={1: 2})"
        raise InputError(f"the constraints are of type {type(given).__name__}; {example}")
    return [given]


def _one_by_one(sentences: Iterable[Sentence], given: Iterator[Constraints | None]) -> Iterator[Constrained]:
    number = 0
    for number, sentence in enumerate(sentences, 1):
        found = next(given, _END)
        if found is _END:
            raise InputError(f"there are constraints for only {count(number - 1, 'sentence')}; {_EXAMPLE}")
        yield sentence, check_type(found)
    if next(given, _END) is not _END:
        raise InputError(f"there are constraints for more than {count(number, 'sentence')}; {_EXAMPLE}")


def check_type(found: object) -> Constraints | None:
    """Return the constraints on one sentence, or None. Raise an :class:`InputError` for any other type."""
    if found is None or isinstance(found, Constraints):
        return found
    raise InputError(f"the constraints on a sentence are of type {type(found).__name__}; {_EXAMPLE}")
