"""Rows as a stream of CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from easyfirst.tables.rows import Row
from easyfirst.tables.sentences import Documents, next_sentence, sentence_of
from easyfirst.treebank.misc import ARC_CONFIDENCE, LABEL_CONFIDENCE, with_entries
from easyfirst.treebank.streams import BYTE_ORDER_MARK, line_ends_missing


class ConlluWriter:
    """Encodes rows as CoNLL-U. Between rows of different files, it adds the empty line that the first one lacks."""

    def __init__(self) -> None:
        self._documents = Documents()
        self._end = b""

    def encode(self, row: Row, source: str | None = None, number: int | None = None) -> bytes:
        """Return the lines of a row, the ``number``-th of its ``source``. Raise a :class:`DataError` if it is not a
        sentence."""
        return self._joined(next_sentence(row, self._documents, source, number).to_bytes())

    def end(self, trailer: bytes) -> bytes:
        """Return the bytes after the last sentence."""
        return self._joined(trailer) if trailer else b""

    def _joined(self, block: bytes) -> bytes:
        if self._end:
            block, missing = block.removeprefix(BYTE_ORDER_MARK), line_ends_missing(self._end)
            block = block if block.startswith(missing) else missing + block
        self._end = block[-4:]
        return block


def with_prefix(row: Row, prefix: bytes) -> Row:
    """Return a row with bytes of CoNLL-U before it that belong to no sentence, such as comments of their own."""
    if not prefix:
        return row
    return replace(row, verbatim=joined(prefix, sentence_of(row).to_bytes()))


def joined(first: bytes, second: bytes) -> bytes:
    """Return the CoNLL-U of one file after that of another, with the empty line that may be missing between them."""
    return first + line_ends_missing(first) + second.removeprefix(BYTE_ORDER_MARK) if first else second


def with_confidence(row: Row) -> Row:
    """Return a row with its confidence in MISC, after the position of the token, as parses write it."""
    return replace(row, misc=tuple(_misc(row)))


def _misc(row: Row) -> Iterator[str | None]:
    for cell, arc, label in zip(row.misc_with_places, row.confidence, row.label_confidence, strict=True):
        values = {ARC_CONFIDENCE: arc, LABEL_CONFIDENCE: label}
        given = {key: f"{value:.4f}" for key, value in values.items() if value is not None}
        yield with_entries(cell or "_", given) if given else cell
