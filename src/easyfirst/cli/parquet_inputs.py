"""Parquet files as inputs of the verbs: tables of parsed sentences, or of texts."""

from __future__ import annotations

import shutil
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from easyfirst.cli.files import STANDARD, source_of
from easyfirst.cli.sources import SentenceFiles, SourceText, TextFiles
from easyfirst.errors import DataError, InputError
from easyfirst.tables.parquet import columns_of, files_of, read_rows, read_texts, read_trailer
from easyfirst.tables.rows import TEXT, Row
from easyfirst.tables.sentences import Documents, sentences_of
from easyfirst.treebank.sentence import Sentence

TEXT_COLUMN, ID_COLUMN = "text", "doc_id"


class ParquetSentences(SentenceFiles):
    """The sentences of tables of parsed sentences, and the bytes of CoNLL-U between them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.n_bytes, self.is_conllu = None, True
        self._names, self._n_rows = names, 0
        self._trailers, self._n_read, self._end = deque[tuple[int, bytes]](), 0, b""
        self._texts = deque[tuple[int, str]]()

    def __iter__(self) -> Iterator[Sentence]:
        documents = Documents()
        for name, path in local_files(self._names):
            rows = self._noted(read_rows(path, name))
            yield from self._joined(sentences_of(rows, name, documents), partial(read_trailer, path))

    def text(self, number: int) -> str | None:
        while self._texts and self._texts[0][0] < number:
            self._texts.popleft()
        return self._texts.popleft()[1] if self._texts and self._texts[0][0] == number else None

    def _noted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass rows through, and note the texts that differ from their comments in white space."""
        for row in rows:
            if row.text is not None and row.comments is not None and TEXT in row.comments:
                self._texts.append((self._n_rows, row.text))
            self._n_rows += 1
            yield row


class ParquetTexts(TextFiles):
    """The texts in a column of tables."""

    def __init__(self, names: Sequence[str], column: str, id_column: str | None) -> None:
        self.by_line, self._names, self._column, self._id_column = False, names, column, id_column

    def __iter__(self) -> Iterator[SourceText]:
        number = 0
        for name, path in local_files(self._names):
            for found in read_texts(path, self._column, self._id_column, source=name):
                number += 1
                yield SourceText(
                    found.text, number, file=None if name == source_of(STANDARD) else name, doc_id=found.id
                )


def open_parquet_inputs(
    names: Sequence[str], column: str | None, id_column: str | None, encoding: str | None
) -> ParquetSentences | ParquetTexts:
    """Return the texts in a column, or the parsed sentences of tables that have them."""
    if encoding is not None:
        raise InputError("--encoding is for text files; leave it out for Parquet")
    if STANDARD in names:
        _check_stdin()
        return ParquetSentences(names) if column is None and id_column is None else _texts(names, column, id_column, ())
    kinds = {name: columns_of(name) for given in names for name in files_of(given)}
    with_sentences = [name for name, (_, has_sentences) in kinds.items() if has_sentences]
    if column is None and id_column is None and len(with_sentences) == len(kinds):
        return ParquetSentences(list(kinds))
    if column is None and with_sentences and len(with_sentences) < len(kinds):
        other = next(name for name in kinds if name not in with_sentences)
        raise InputError(
            f"{with_sentences[0]} has parsed sentences and {other} has not; parse them separately, or name the column "
            "of the texts with --column"
        )
    return _texts(list(kinds), column, id_column, next(iter(kinds.values()))[0])


def _texts(names: Sequence[str], column: str | None, id_column: str | None, found: Sequence[str]) -> ParquetTexts:
    default = ID_COLUMN if ID_COLUMN in found else None
    if column is None and names != [STANDARD] and TEXT_COLUMN not in found:
        known = ", ".join(found) or "none"
        message = f"there is no column {TEXT_COLUMN!r} (there are: {known}); name that of the texts with --column"
        raise DataError(message, source=names[0])
    return ParquetTexts(names, column or TEXT_COLUMN, id_column or default)


def local_files(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file for messages and its path. Parquet is not read from its start, so standard input is
    copied to a temporary file."""
    for given in names:
        if given != STANDARD:
            yield from ((name, name) for name in files_of(given))
            continue
        with _copied() as path:
            yield source_of(given), path


@contextmanager
def _copied() -> Generator[str, None, None]:
    _check_stdin()
    with TemporaryDirectory(prefix="easyfirst-") as folder:
        path = Path(folder) / "stdin.parquet"
        with path.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield str(path)


def _check_stdin() -> None:
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise DataError("standard input is closed; name a file", source=source_of(STANDARD))
