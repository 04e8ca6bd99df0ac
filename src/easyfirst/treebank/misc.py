"""The MISC column: ``key=value`` entries separated by ``|``, and the keys under which parses store their confidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from easyfirst.errors import DataError

if TYPE_CHECKING:
    from easyfirst.treebank.sentence import Sentence

ARC_CONFIDENCE, LABEL_CONFIDENCE, STEP = "ArcConf", "LabelConf", "Step"
"""The probability of an arc, that of the arc with its label, and the step at which it was attached."""


def entries(misc: str) -> Iterator[tuple[str, str, str]]:
    """Split a cell into its entries, each a key, ``=`` and a value; the last two are empty where there is no ``=``."""
    return (item.partition("=") for item in (misc.split("|") if misc not in ("", "_") else ()))


def with_entries(misc: str, values: Mapping[str, str | None]) -> str:
    """Return a cell with new values for some keys.

    An existing key keeps its place (once, if it is repeated), a new one is appended, and a key with the value None is
    removed.
    """
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
    """Return the confidence of each word's arc, None where MISC does not give it.

    Raises :class:`DataError` at the line of a value that is not a number from 0 to 1.
    """
    return [
        None if cell is None else _confidence(cell, sentence, i)
        for i, cell in enumerate(_values(sentence, ARC_CONFIDENCE))
    ]


def read_steps(sentence: Sentence) -> list[int | None]:
    """Return the step at which each word was attached, None where MISC does not give it.

    Raises :class:`DataError` at the line of a value that is not a whole number.
    """
    return [None if cell is None else _step(cell, sentence, i) for i, cell in enumerate(_values(sentence, STEP))]


def _values(sentence: Sentence, sought: str) -> Iterator[str | None]:
    """Yield the value of a key for each word; the last one if the key is repeated."""
    for misc in sentence.misc:
        found = [value for key, equals, value in entries(misc) if equals and key == sought]
        yield found[-1] if found else None


def _confidence(cell: str, sentence: Sentence, i: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise _error(f"{ARC_CONFIDENCE}={cell} in MISC; it must be a number from 0 to 1", sentence, i)
    return value


def _step(cell: str, sentence: Sentence, i: int) -> int:
    if not (cell.isascii() and cell.isdecimal() and len(cell) < 10):
        raise _error(f"{STEP}={cell} in MISC; it must be a whole number", sentence, i)
    return int(cell)


def _error(message: str, sentence: Sentence, i: int) -> DataError:
    return DataError(message, source=sentence.source, line=sentence.word_line(i))
