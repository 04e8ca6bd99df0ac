"""The columns of a sentence that are drawn with its words: those a user chooses among LEMMA, UPOS, XPOS and FEATS."""

from __future__ import annotations

from collections.abc import Iterable

from easyfirst.errors import InputError
from easyfirst.treebank.columns import ANNOTATIONS
from easyfirst.treebank.sentence import Sentence

NONE = "none"
_KINDS = {name.lower(): kind for kind, name in ANNOTATIONS.items()}
COLUMNS = tuple(_KINDS)
"""The names of the columns that can be shown."""


def read_columns(show: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns that a user gave one by one or with commas between; ``none`` is no column.

    >>> read_columns("lemma,FEATS")
    ('lemma', 'feats')
    """
    given = [show] if isinstance(show, str) else list(show)
    names = [name.strip().lower() for part in given for name in part.split(",")]
    if names == [NONE]:
        return ()
    for name in names:
        if name not in _KINDS:
            choices = f"{', '.join(_KINDS)}, several with commas between, or {NONE} alone"
            raise InputError(f"{name!r} is not a column that can be shown; choose {choices}")
    return tuple(dict.fromkeys(names))


def columns_of(sentence: Sentence, show: str | Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of the columns to show, by name."""
    return {name: getattr(sentence, _KINDS[name]) for name in read_columns(show)}
