"""Parquet files of parsed corpora, written piece by piece and read as a stream, and texts in Parquet files.

The schema is that of :mod:`easyfirst.tables.arrow`. Memory does not grow with the length of a file.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from easyfirst.errors import DataError, InputError
from easyfirst.replacing import replacement
from easyfirst.tables.arrow import (
    TRAILER_KEY,
    check_columns,
    has_sentences,
    is_text,
    rows_of,
    sentence_batch,
    sentence_schema,
)
from easyfirst.tables.identity import document_id
from easyfirst.tables.packages import pyarrow
from easyfirst.tables.rows import PLACES, Row
from easyfirst.tables.sentences import Documents, row_of, sentences_of
from easyfirst.treebank.sentence import Sentence

ROW_GROUP_WORDS = 500_000  # a row group is written when it has as many; some 50 MB in memory
BATCH_WORDS = 10_000  # rows become Arrow, which is smaller, when they have as many
READ_ROWS = 512
SUFFIX = ".parquet"


class ParquetEncoder:
    """Encodes rows as the bytes of a Parquet file, which it returns as they come."""

    def __init__(self) -> None:
        pa, pq = pyarrow(), pyarrow("pyarrow.parquet")
        self._sink = _Sink()
        schema = sentence_schema()
        plain = [f"{name}.list.element" for name in PLACES]
        leaves = [path for path in _leaves(schema) if path not in (*plain, "text", "sent_id", "verbatim")]
        self._writer = pq.ParquetWriter(
            pa.PythonFile(self._sink, mode="w"),
            schema,
            compression="zstd",
            compression_level=6,
            use_dictionary=leaves,
            column_encoding=dict.fromkeys(plain, "DELTA_BINARY_PACKED"),
        )
        self._rows: list[Row] = []
        self._batches: list[Any] = []
        self._n_words = self._n_batched = 0

    def add(self, rows: Iterable[Row]) -> bytes:
        """Encode rows; return the bytes that are complete, which are often none."""
        for row in rows:
            self._rows.append(row)
            self._n_words += len(row)
            if self._n_words >= BATCH_WORDS:
                self._batch()
            if self._n_batched >= ROW_GROUP_WORDS:
                self._write_group()
        return self._sink.take()

    def end(self, trailer: bytes = b"") -> bytes:
        """Return the last bytes. ``trailer`` is the CoNLL-U after the last sentence, such as blank lines."""
        self._batch()
        self._write_group()
        if trailer:
            self._writer.add_key_value_metadata({TRAILER_KEY: trailer})
        self._writer.close()
        return self._sink.take()

    def _batch(self) -> None:
        if self._rows:
            self._batches.append(sentence_batch(self._rows))
        self._n_batched += self._n_words
        self._rows, self._n_words = [], 0

    def _write_group(self) -> None:
        if self._batches:
            self._writer.write_table(pyarrow().Table.from_batches(self._batches))
        self._batches, self._n_batched = [], 0


class _Sink:
    """A file that is taken away piece by piece while it is written."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def write_rows(path: str | PathLike[str], rows: Iterable[Row]) -> None:
    """Write a Parquet file. It appears under its name when it is complete; an error leaves an older file as it was."""
    target = Path(path).resolve()
    encoder = ParquetEncoder()
    try:
        with replacement(target) as stream:
            for row in rows:
                stream.write(encoder.add([row]))
            stream.write(encoder.end())
    except OSError as error:
        raise DataError(f"the file cannot be written: {error.strerror or error}", source=fspath(path)) from error


def rows_of_sentences(sentences: Iterable[Sentence]) -> Iterator[Row]:
    """Yield the row of each sentence of a stream of CoNLL-U."""
    documents = Documents()
    return (row_of(sentence, doc_id=documents.id_of(sentence)) for sentence in sentences)


def read_parquet(path: str | PathLike[str]) -> Iterator[Sentence]:
    """Yield the sentences of a Parquet file of parsed sentences, or of all such files in a directory, one at a time."""
    documents = Documents()
    for part in files_of(fspath(path)):
        yield from sentences_of(read_rows(part), part, documents)


def read_rows(path: str | PathLike[str], source: str | None = None) -> Iterator[Row]:
    """Yield the rows of a Parquet file of parsed sentences. ``source`` is its name in messages."""
    name, first = source or fspath(path), 1
    with open_parquet(fspath(path), name) as file:
        check_columns(file.schema_arrow, name)
        wanted = [column for column in file.schema_arrow.names if column in sentence_schema().names]
        for batch in _batches(file, wanted, name):
            yield from rows_of(batch, source=name, first=first)
            first += batch.num_rows


def read_trailer(path: str | PathLike[str]) -> bytes:
    """Return the bytes of CoNLL-U after the last sentence of a file."""
    with open_parquet(fspath(path)) as file:
        metadata: dict[bytes, bytes] = file.metadata.metadata or {}
        return metadata.get(TRAILER_KEY, b"")


class ColumnText(NamedTuple):
    """A text of a Parquet file, the number of its row, and its id."""

    text: str
    row: int
    id: str | None = None


def read_texts(
    path: str | PathLike[str], column: str, id_column: str | None = None, *, source: str | None = None
) -> Iterator[ColumnText]:
    """Yield the texts of a column of strings; rows without a text are skipped. ``id_column`` has their ids."""
    name, first, pa = source or fspath(path), 1, pyarrow()
    with open_parquet(fspath(path), name) as file:
        schema = file.schema_arrow
        for wanted in filter(None, (column, id_column)):
            if wanted not in schema.names:
                found = ", ".join(schema.names) or "none"
                raise DataError(f"there is no column {wanted!r} (there are: {found}); choose another", source=name)
        if not is_text(schema.field(column).type):
            message = f"the column {column!r} is of type {schema.field(column).type}; choose one of strings"
            raise DataError(message, source=name)
        for batch in _batches(file, list(filter(None, (column, id_column))), name):
            texts = batch.column(column).cast(pa.string()).to_pylist()
            ids = batch.column(id_column).to_pylist() if id_column is not None else [None] * len(texts)
            for number, (text, identity) in enumerate(zip(texts, ids, strict=True), first):
                if text is not None:
                    yield ColumnText(text, number, None if identity is None else _id(identity, name, number))
            first += batch.num_rows


def _id(given: object, source: str, row: int) -> str | None:
    """Return the id of a text, if it is not empty."""
    try:
        return document_id(given) or None
    except InputError as error:
        raise DataError(str(error), source=source, line=row) from None


def columns_of(path: str | PathLike[str], source: str | None = None) -> tuple[list[str], bool]:
    """Return the names of the columns of a file, and whether it is one of parsed sentences."""
    with open_parquet(fspath(path), source) as file:
        return list(file.schema_arrow.names), has_sentences(file.schema_arrow)


def files_of(name: str) -> list[str]:
    """Return the Parquet files in a directory, as Ray and Spark write them, in order; of a file, only itself."""
    if not Path(name).is_dir():
        return [name]
    found = sorted(str(path) for path in Path(name).rglob(f"*{SUFFIX}") if not path.name.startswith((".", "_")))
    if not found:
        raise DataError(f"the directory has no {SUFFIX} files; check the name", source=name)
    return found


@contextmanager
def open_parquet(path: str, source: str | None = None) -> Generator[Any, None, None]:
    """Open a Parquet file; errors name it, or its ``source``, and say what to do."""
    pa, pq, name = pyarrow(), pyarrow("pyarrow.parquet"), source or path
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise DataError("there is no such file; check the name", source=name) from None
    except pa.ArrowInvalid as error:
        raise DataError(f"this is not a complete Parquet file ({_first_line(error)})", source=name) from None
    except OSError as error:
        raise DataError(f"the file cannot be opened: {error.strerror or _first_line(error)}", source=name) from None
    try:
        yield file
    finally:
        file.close()


def _batches(file: Any, columns: list[str], name: str) -> Iterator[Any]:
    if not file.num_row_groups:  # PyArrow before version 20 would raise an error
        return
    try:
        yield from file.iter_batches(batch_size=READ_ROWS, columns=columns)
    except (pyarrow().ArrowException, OSError) as error:
        raise DataError(f"the file is damaged ({_first_line(error)}); fetch it again", source=name) from None


def _leaves(schema: Any) -> list[str]:
    """Return the paths of all columns as Parquet names them."""
    types = pyarrow().types
    leaves: list[str] = []
    for field in schema:
        if not types.is_list(field.type):
            leaves.append(field.name)
        elif types.is_struct(field.type.value_type):
            leaves += [f"{field.name}.list.element.{inner.name}" for inner in field.type.value_type]
        else:
            leaves.append(f"{field.name}.list.element")
    return leaves


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
