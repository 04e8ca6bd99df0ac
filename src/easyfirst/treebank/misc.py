"""The MISC column: ``key=value`` entries separated by ``|``, and the keys under which parses store their confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from easyfirst.errors import DataError

if TYPE_CHECKING:
    from easyfirst.treebank.sentence import Sentence

# The probability of an arc, that of the arc with its label, the step at which it was attached, and to which head, if
# the arc was moved after parsing because it crosses others:
ARC_CONFIDENCE, LABEL_CONFIDENCE, STEP, MOVED_FROM = "ArcConf", "LabelConf", "Step", "MovedFrom"
DECIDED = "Decided"  # the head and the relation that the parser decided, where rules changed them afterwards
_Value = TypeVar("_Value", int, float)


def entries(misc: str) -> Iterator[tuple[str, str, str]]:
    """Split a cell into its entries, each a key, ``=`` and a value; the last two are empty where there is no ``=``."""
    return (item.partition("=") for item in (misc.split("|") if misc not in ("", "_") else ()))


def with_entries(misc: str, values: Mapping[str, str | None]) -> str:
    """Return a cell with new values for some keys. An existing key keeps its place (once, if it is repeated), a new one
    is appended, and a key with the value None is removed."""
    new = dict(values)
    items: list[str] = []
    for key, equals, value in entries(misc):
        if key not in values:
            items.append(f"{key}{equals}{value}")
        elif (new_value := new.pop(key, None)) is not None:
            items.append(f"{key}={new_value}")
    items += [f"{key}={value}" for key, value in new.items() if value is not None]
    return "|".join(items) or "_"


def read_confidence(sentence: Sentence) -> list[float | None]:
    """Return the confidence of each word's arc, None where MISC does not give it. Raises :class:`DataError` at the line
    of a value that is not a number from 0 to 1."""

    def read(cell: str) -> float | None:
        try:
            value = float(cell)
        except ValueError:
            return None
        return value if 0 <= value <= 1 else None

    return _values(sentence, ARC_CONFIDENCE, read, "a number from 0 to 1")


def read_steps(sentence: Sentence) -> list[int | None]:
    """Return the step at which each word was attached, None where MISC does not give it. Raises :class:`DataError` at
    the line of a value that is not a whole number."""
    return _values(sentence, STEP, _whole_number, "a whole number")


def read_moved(sentence: Sentence) -> list[int | None]:
    """Return the head to which each word was attached, if its arc was moved afterwards, because it crosses others or
    to obey rules; None where MISC does not give it. Raises :class:`DataError` at the line of a value that is not a word
    of the sentence."""

    def read(cell: str) -> int | None:
        head = _whole_number(cell)
        return head if head is not None and 1 <= head <= len(sentence) else None

    def read_head(cell: str) -> int | None:
        head, colon, _ = cell.partition(":")
        return read(head) if colon else None

    moved = _values(sentence, MOVED_FROM, read, "the ID of a word")
    decided = _values(sentence, DECIDED, read_head, "the ID of a word and a relation, as in 2:nsubj")
    attached = (old or new for old, new in zip(moved, decided, strict=True))
    return [old if old != head else None for old, head in zip(attached, sentence.heads, strict=True)]


def _whole_number(cell: str) -> int | None:
    return int(cell) if cell.isascii() and cell.isdecimal() and len(cell) < 10 else None


def _values(sentence: Sentence, sought: str, read: Callable[[str], _Value | None], what: str) -> list[_Value | None]:
    """Return the value of a key for each word: the last one if it is repeated, None if there is none."""
    values: list[_Value | None] = []
    for i, misc in enumerate(sentence.misc):
        cells = [value for key, equals, value in entries(misc) if equals and key == sought]
        values.append(read(cells[-1]) if cells else None)
        if cells and values[-1] is None:
            message = f"{sought}={cells[-1]} in MISC; it must be {what}"
            raise DataError(message, source=sentence.source, line=sentence.word_line(i))
    return values
