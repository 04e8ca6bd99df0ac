"""The form of a table with one row for each word, as columns of plain Python values, and as a pandas data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from easyfirst.tables.packages import pandas
from easyfirst.tables.rows import LISTS, Row

IDENTITY = ("doc_id", "sent_id")
WORD_COLUMNS = (
    *IDENTITY,
    "sentence",  # the number of the sentence in the table, from 1
    "id",  # the number of the word in its sentence, from 1
    *("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"),
    *("start", "end", "confidence", "label_confidence"),
)
STRINGS = (*IDENTITY, "form", "lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")
_INTEGERS = {"sentence": "int32", "id": "int32", "head": "Int32", "start": "Int64", "end": "Int64"}
_FLOATS = {"confidence": "float32", "label_confidence": "float32"}


def word_columns(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Return the columns of all words."""
    columns: dict[str, list[Any]] = {name: [] for name in WORD_COLUMNS}
    for number, row in enumerate(rows, 1):
        n = len(row)
        columns["doc_id"] += [row.doc_id] * n
        columns["sent_id"] += [row.sent_id] * n
        columns["sentence"] += [number] * n
        columns["id"] += range(1, n + 1)
        for name in LISTS:
            columns[name] += getattr(row, name)
    return columns


def word_frame(rows: Iterable[Row]) -> Any:
    """Return a ``pandas.DataFrame`` with one row for each word."""
    pd = pandas()
    columns = word_columns(rows)
    types = _INTEGERS | _FLOATS | dict.fromkeys(STRINGS, "object")
    return pd.DataFrame({name: pd.Series(values, dtype=types[name]) for name, values in columns.items()})


def sentence_frame(rows: Iterable[Row]) -> Any:
    """Return a ``pandas.DataFrame`` with one row for each sentence, and lists in the columns of words."""
    found = list(rows)
    names = ("doc_id", "sent_id", "text", *LISTS, "multiword", "empty", "comments")
    return pandas().DataFrame({name: [_plain(getattr(row, name)) for row in found] for name in names}, dtype="object")


def _plain(value: Any) -> Any:
    """Return tuples as lists, and records in them as dicts, as pandas gets them from Arrow."""
    if not isinstance(value, tuple):
        return value
    items = cast("tuple[Any, ...]", value)
    return [item._asdict() if hasattr(item, "_asdict") else item for item in items]
