"""Constraints as users give them with sentences: one for each, or a function; mistakes are an :class:`InputError`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from easyfirst.constraints.records import Constraints
from easyfirst.errors import InputError
from easyfirst.treebank.sentence import Sentence

ConstraintsOf: TypeAlias = "Callable[[Sentence], Constraints | None]"
"""Gives what is known of a sentence's tree."""
GivenConstraints: TypeAlias = "Iterable[Constraints | None] | ConstraintsOf"
"""The same, or one for each sentence."""

_EXAMPLE = "give one for each sentence, as in [Constraints.of(heads={1: 2}), None]"
_END = object()


def constrained(sentences: Iterable[Sentence], given: GivenConstraints | None) -> Iterator[Sentence]:
    """The sentences with what is given for each. Without anything they stay as they are."""
    if given is None:
        return iter(sentences)
    if isinstance(given, Constraints):
        raise InputError(f"the constraints are those of one sentence; {_EXAMPLE}")
    if callable(given):
        return (with_constraints(sentence, given(sentence)) for sentence in sentences)
    if not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"the constraints are of type {type(given).__name__}; {_EXAMPLE}")
    return _one_by_one(sentences, iter(given))


def one_of(given: object) -> list[Constraints | None] | None:
    """The same for one sentence; without anything it stays as it is."""
    if given is None:
        return None
    if not isinstance(given, Constraints):
        example = "give those of the sentence, as in Constraints.of(heads={1: 2})"
        raise InputError(f"the constraints are of type {type(given).__name__}; {example}")
    return [given]


def _one_by_one(sentences: Iterable[Sentence], given: Iterator[Constraints | None]) -> Iterator[Sentence]:
    number = 0
    for number, sentence in enumerate(sentences, 1):
        found = next(given, _END)
        if found is _END:
            raise InputError(f"there are constraints for {number - 1} sentences only; {_EXAMPLE}")
        yield with_constraints(sentence, found)
    if next(given, _END) is not _END:
        raise InputError(f"there are constraints for more than the {number} sentences; {_EXAMPLE}")


def with_constraints(sentence: Sentence, found: object) -> Sentence:
    """A sentence with what somebody says is known of its tree."""
    if not (found is None or isinstance(found, Constraints)):
        raise InputError(f"the constraints of a sentence are of type {type(found).__name__}; {_EXAMPLE}")
    return sentence if found == sentence.constraints else replace(sentence, constraints=found)
