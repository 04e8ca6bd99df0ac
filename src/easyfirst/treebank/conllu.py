"""CoNLL-U, read as a stream of sentences that can be written back byte for byte.

Format: https://universaldependencies.org/format.html. Only a line feed ends a line (carriage returns before it
belong to the line end), and only a tab ends a cell: Unicode spaces and separators are ordinary characters. The
reader accepts what the official scorer accepts, and also repeated blank lines, a missing blank line at the end,
comments anywhere in a sentence, and ``_`` as HEAD. A line of only spaces or tabs is an error, as it is for the
scorer: it looks like the end of a sentence but is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from os import PathLike, fspath
from typing import NoReturn

from easyfirst.counting import count
from easyfirst.errors import DataError
from easyfirst.treebank.sentence import Lines, Sentence, SurfaceToken
from easyfirst.treebank.streams import BYTE_ORDER_MARK, check_block, decode, open_file, read_lines

N_COLUMNS = 10
MULTIWORD_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
EMPTY_NODE_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")


def read_conllu(path: str | PathLike[str]) -> Iterator[Sentence]:
    """Yield the sentences of a file, plain or ``.gz``, one at a time."""
    with open_file(path) as stream:
        yield from ConlluReader(stream, fspath(path))


class ConlluReader(Iterator[Sentence]):
    """An iterator over the sentences of a stream; each is available as soon as its blank line has been read.

    Blank lines, comments without words and a byte order mark belong to the sentence after them (``prefix``), or at
    the end of the stream to ``trailer``. All ``to_bytes()`` followed by the trailer reproduce the stream.
    """

    def __init__(self, stream: Iterable[bytes], name: str) -> None:
        self.trailer = b""
        self._sentences = self._read(read_lines(stream, name), name)

    def __next__(self) -> Sentence:
        return next(self._sentences)

    def _read(self, lines: Iterator[bytes], name: str) -> Iterator[Sentence]:
        prefix: list[bytes] = []
        block: list[bytes] = []
        first, has_tokens = 1, False  # the line where the block starts, and whether it is a sentence
        size = 0
        for number, line in enumerate(chain(lines, [b""]), 1):  # the end of the stream also ends a block
            if number == 1 and line.startswith(BYTE_ORDER_MARK):
                prefix, line = [BYTE_ORDER_MARK], line.removeprefix(BYTE_ORDER_MARK)
            block.append(line)
            size += len(line)
            if line.rstrip(b"\r\n"):
                check_block(size, name, first)
                has_tokens = has_tokens or not line.startswith(b"#")
                continue
            if has_tokens:
                yield _parse_block(b"".join(block), prefix=b"".join(prefix), name=name, line=first)
                prefix = []
            else:
                prefix += block
            block, first, has_tokens, size = [], number + 1, False, 0
        self.trailer = b"".join(prefix)


def _parse_block(block: bytes, *, prefix: bytes, name: str, line: int) -> Sentence:
    """Read one sentence from its lines, of which ``line`` is the number of the first."""
    words: list[list[str]] = []
    rows: list[int] = []
    comments: list[str] = []
    multiword: list[SurfaceToken] = []
    lines = decode(block, name=name, line=line).split("\n")
    if b"\r" in block:
        lines = [text.rstrip("\r") for text in lines]
    for row, text in enumerate(lines):
        cells = text.split("\t")
        if cells[0] == str(len(words) + 1) and len(cells) == N_COLUMNS and cells[1]:
            words.append(cells)
            rows.append(row)
        elif text.startswith("#"):
            comments.append(text)
        elif not text:
            continue
        elif len(cells) != N_COLUMNS:
            _reject_columns(text, name=name, line=line + row)
        elif token := _read_token(cells, n_words=len(words), multiword=multiword, name=name, line=line + row):
            multiword.append(token)
    if not words:
        raise DataError("this sentence has no words; give it at least one or remove it", source=name, line=line)
    if multiword and (end := multiword[-1].words.stop) > len(words):
        n_words = count(len(words), "word")
        message = f"the multiword token ends at word {end} but the sentence has {n_words}; correct its ID"
        raise DataError(message, source=name, line=multiword[-1].line)
    empty = ("_",) * len(words)  # one tuple for all columns without values
    columns = [empty if column == empty else column for column in zip(*words, strict=True)]
    _, forms, lemmas, upos, xpos, feats, head_cells, labels, deps, misc = columns
    heads = _parse_heads(head_cells, rows, name=name, line=line)
    relations = tuple([label if label and label != "_" else None for label in labels])
    columns = (forms, lemmas, upos, xpos, feats, heads, relations, deps, misc)
    read, tokens = Lines(block, tuple(rows), columns), tuple(multiword)
    return Sentence(
        *columns, multiword=tokens, comments=tuple(comments), source=name, line=line, lines=read, prefix=prefix
    )


def _parse_heads(cells: tuple[str, ...], rows: Sequence[int], *, name: str, line: int) -> tuple[int | None, ...]:
    n = len(cells)
    heads: list[int | None] = []
    for cell, row in zip(cells, rows, strict=True):
        if cell == "_":
            heads.append(None)
            continue
        if not (cell.isdecimal() and cell.isascii() and len(cell) < 10):
            raise DataError(f"HEAD is {cell!r}; it must be a word's ID, 0 or _", source=name, line=line + row)
        heads.append(head := int(cell))
        if head > n:
            message = f"HEAD is {head} but the sentence has {count(n, 'word')}; correct it or write _"
            raise DataError(message, source=name, line=line + row)
    return tuple(heads)


def _read_token(
    cells: list[str], *, n_words: int, multiword: Sequence[SurfaceToken], name: str, line: int
) -> SurfaceToken | None:
    """Read a line that is not the next word: return a multiword token, or None for an empty node. ``n_words`` words and
    the ``multiword`` tokens stand before it."""
    error = partial(DataError, source=name, line=line)
    token_id, form = cells[0], cells[1]
    if not "".join(cells).strip(" \r"):
        _reject_columns("\t".join(cells), name=name, line=line)
    if not form:
        raise error(f"FORM of token {token_id!r} is empty; write _ if the form is not known")
    if bounds := MULTIWORD_ID.fullmatch(token_id):
        start, end = int(bounds[1]), int(bounds[2])
        if start != n_words + 1 or end < start:
            raise error(f"multiword token {token_id} must stand before its first word, here {n_words + 1}; correct it")
        if multiword and start <= multiword[-1].words.stop:
            raise error(f"multiword token {token_id} overlaps the one before it; correct its ID")
        return SurfaceToken(form, range(start - 1, end), cells[-1], True, line)
    if empty_node := EMPTY_NODE_ID.fullmatch(token_id):
        if int(empty_node[1]) != n_words:
            raise error(f"empty node {token_id} must be numbered after the word before it, here {n_words}; correct it")
        return None
    if not (token_id.isdecimal() and token_id.isascii()):
        raise error(f"ID is {token_id!r}; it must be a number (3), a range (3-4) or an empty node (3.1)")
    gap = "number the words 1, 2, 3 ... without gaps"
    hint = "put an empty line between two sentences" if token_id == "1" else gap
    raise error(f"word ID {token_id} where {n_words + 1} was expected; {hint}")


def _reject_columns(text: str, *, name: str, line: int) -> NoReturn:
    """Raise :class:`DataError` for a line that does not have ten cells."""
    text = text.rstrip("\r")
    if not text.strip(" \t"):
        raise DataError("a line of only spaces or tabs; make it empty or remove it", source=name, line=line)
    n_found = text.count("\t") + 1
    message = f"{count(n_found, 'tab-separated column')} where CoNLL-U has {N_COLUMNS}"
    if "\r" in text:
        hint = "the lines seem to end in carriage returns only: end them with line feeds"
    elif n_found < N_COLUMNS <= len(re.findall(r"[^ \t]+", text)):
        hint = "the columns seem to be separated by spaces: use single tabs"
    else:
        hint = "write one word per line, fill cells without a value with _, and end a sentence with an empty line"
    raise DataError(f"{message}; {hint}", source=name, line=line)
