"""Batches of texts in Arrow, parsed into batches of sentences: what the workers of Ray and Spark do.

A result has the columns of :mod:`easyfirst.tables.arrow`, the number of each sentence in its text, and the columns of
the input that are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easyfirst.errors import InputError
from easyfirst.inputs import check_batch_size, check_threads
from easyfirst.results.tables import document_rows
from easyfirst.tables.arrow import is_text, sentence_batch, sentence_schema
from easyfirst.tables.identity import document_id
from easyfirst.tables.packages import pyarrow
from easyfirst.tables.rows import Row

if TYPE_CHECKING:
    from easyfirst.parser import Parser

NUMBER = "sentence"
"""The column with the number of a sentence in its text, counted from 1."""

_ROW_BITS = 33  # the lower bits of a number that Ray or Spark has given, for the rows of a part of the data

ID = "_easyfirst_id"
"""The column with the numbers that Ray or Spark gives to the texts, if they have no ids of their own."""

WORDS = 20_000
"""The number of words from which on a batch of the result is complete."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the input: the texts, their ids, and those to keep."""

    text: str
    doc_id: str
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.keep, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"keep is {self.keep!r}; give a list of columns: [{self.keep!r}]")
        taken = dict.fromkeys((*sentence_schema().names, NUMBER), "the result has another one of that name")
        for name in self.keep:
            if (reason := taken.get(name.casefold())) is not None:  # Spark ignores the case of names
                raise InputError(f"the column {name} cannot be kept: {reason}; rename it")
            taken[name.casefold()] = "it is named twice, or differs from another one in case only"

    def check(self, names: Iterable[str]) -> None:
        """Raise an :class:`InputError` unless a table with these columns has all that are needed."""
        present = list(names)
        for name in (self.text, self.doc_id, *self.keep):
            if name not in present:
                known = ", ".join(each for each in present if each != ID)
                raise InputError(f"there is no column {name}; the columns are: {known or 'none'}")

    def result_schema(self, given: Any) -> Any:
        """Return the ``pyarrow.Schema`` of the result for that of the input."""
        own = own_schema()
        return pyarrow().schema([*own, *(given.field(name) for name in self.keep)], metadata=own.metadata)


def own_schema() -> Any:
    """Return the ``pyarrow.Schema`` of a result without the columns that are kept."""
    pa = pyarrow()
    return sentence_schema().append(pa.field(NUMBER, pa.int32()))


@dataclass(frozen=True, slots=True)
class Options:
    """How texts are parsed, as for :meth:`easyfirst.Parser.read`."""

    batch_size: int = 256
    threads: int = 1
    one_sentence: bool = False

    def __post_init__(self) -> None:
        check_batch_size(self.batch_size)
        check_threads(self.threads)


def parse_batch(parser: Parser, batch: Any, columns: Columns, options: Options) -> Iterator[Any]:
    """Parse the texts of a ``pyarrow.RecordBatch`` or ``Table``, and yield the sentences as record batches, in order.

    A text that is null or has no words has no sentences.
    """
    columns.check(batch.schema.names)
    texts, ids = _texts(batch, columns.text), _ids(batch, columns.doc_id)
    documents = parser.read(
        texts, batch_size=options.batch_size, threads=options.threads, one_sentence=options.one_sentence
    )
    rows: list[Row] = []
    numbers: list[int] = []
    places: list[int] = []  # the row of the input that each sentence comes from
    n_words = 0
    for place, (name, document) in enumerate(zip(ids, documents, strict=True)):
        for number, row in enumerate(document_rows(document, doc_id=name), 1):
            rows.append(row)
            numbers.append(number)
            places.append(place)
            n_words += len(row)
        if n_words >= WORDS:
            yield _result(batch, columns, rows, numbers, places)
            rows, numbers, places, n_words = [], [], [], 0
    if rows:
        yield _result(batch, columns, rows, numbers, places)


def empty_result(batch: Any, columns: Columns) -> Any:
    """Return a result without sentences."""
    return _result(batch, columns, [], [], [])


def _result(batch: Any, columns: Columns, rows: Sequence[Row], numbers: list[int], places: list[int]) -> Any:
    pa = pyarrow()
    made = sentence_batch(rows)
    kept = [_flat(pa, batch.column(name)).take(pa.array(places, pa.int64())) for name in columns.keep]
    arrays = [*made.columns, pa.array(numbers, pa.int32()), *kept]
    return pa.RecordBatch.from_arrays(arrays, schema=columns.result_schema(batch.schema))


def _flat(pa: Any, column: Any) -> Any:
    """Return a column of a table or a batch as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _texts(batch: Any, name: str) -> list[str]:
    """Return the texts of a column; a null is an empty text."""
    kind = batch.schema.field(name).type
    if not is_text(kind) and not pyarrow().types.is_null(kind):
        raise InputError(f"the column {name} is of type {kind}; it must be a column of texts")
    return [text or "" for text in batch.column(name).to_pylist()]


def _ids(batch: Any, name: str) -> list[str]:
    """Return the ids of a column as texts. Those of Ray and Spark have the number of a part of the data in their upper
    bits, and become texts whose order is that of the numbers."""
    found = batch.column(name).to_pylist()
    if None in found:
        raise InputError(f"the column {name} has a null in it; every text needs an id")
    if name == ID:
        return [f"{number >> _ROW_BITS:09}-{number & ((1 << _ROW_BITS) - 1):010}" for number in found]
    ids = [document_id(value) for value in found]
    if "" in ids:
        raise InputError(f"the column {name} has an empty id; every text needs an id")
    return ids
