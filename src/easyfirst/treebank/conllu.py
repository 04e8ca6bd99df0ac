"""CoNLL-U, read as a stream of sentences that can be written back byte for byte.

Format: https://universaldependencies.org/format.html. Only a line feed ends a line (carriage returns before it
belong to the line end), and only a tab ends a cell: Unicode spaces and separators are ordinary characters. The
text is read as the official scorer reads it, but for what need not stop a parser: blank lines may repeat, the
last one may be missing, comments may stand anywhere, and a HEAD may be ``_``. A line of nothing but spaces or
tabs is an error, as it is for the scorer: it looks like the end of a sentence and is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from os import PathLike, fspath
from typing import BinaryIO, NoReturn

from easyfirst.errors import DataError
from easyfirst.treebank.sentence import Sentence, Word
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode, open_file, read_lines

__all__ = ["ConlluReader", "Sentence", "Word", "read_conllu"]

N_COLUMNS = 10
HEAD = re.compile(r"[0-9]{1,9}")
MULTIWORD_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
EMPTY_NODE_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")


def read_conllu(path: str | PathLike[str]) -> Iterator[Sentence]:
    """The sentences of a file, plain or ``.gz``, one at a time."""
    with open_file(path) as stream:
        yield from ConlluReader(stream, fspath(path))


class ConlluReader(Iterator[Sentence]):
    """The sentences of a stream, each given out as soon as the blank line that ends it has been read.

    Blank lines, comments without words and a byte order mark go with the sentence after them (``prefix``), and at
    the end of the stream into ``trailer``: all ``to_bytes()`` and then the trailer make up the stream again.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.trailer = b""
        self._sentences = self._read(read_lines(stream, name), name)

    def __next__(self) -> Sentence:
        return next(self._sentences)

    def _read(self, lines: Iterator[bytes], name: str) -> Iterator[Sentence]:
        prefix: list[bytes] = []
        block: list[bytes] = []
        first = 1  # the line where the block starts
        has_tokens = False
        for number, line in enumerate(lines, 1):
            if number == 1 and line.startswith(BYTE_ORDER_MARK):
                prefix, line = [BYTE_ORDER_MARK], line.removeprefix(BYTE_ORDER_MARK)
            block.append(line)
            if line.rstrip(b"\r\n"):
                has_tokens = has_tokens or not line.startswith(b"#")
                continue
            if has_tokens:
                yield _parse_block(b"".join(block), prefix=b"".join(prefix), name=name, line=first)
                prefix = []
            else:
                prefix += block
            block, first, has_tokens = [], number + 1, False
        if has_tokens:
            yield _parse_block(b"".join(block), prefix=b"".join(prefix), name=name, line=first)
        else:
            self.trailer = b"".join(prefix + block)


def _parse_block(block: bytes, *, prefix: bytes, name: str, line: int) -> Sentence:
    """One sentence from its lines, of which ``line`` is the number of the first."""
    rows: list[list[str]] = []
    word_lines: list[int] = []
    multiword_end = 0  # the last word that a multiword token covers
    multiword_line = line
    for number, text in enumerate(decode(block, name=name, line=line).split("\n"), line):
        cells = text.split("\t")
        if cells[0] == str(len(rows) + 1) and len(cells) == N_COLUMNS and cells[1]:
            rows.append(cells)
            word_lines.append(number)
        elif text.startswith("#") or not text.rstrip("\r"):
            continue
        elif len(cells) != N_COLUMNS:
            _reject_columns(text, name=name, line=number)
        elif (last := _check_token(cells, n_words=len(rows), multiword_end=multiword_end, name=name, line=number)) > 0:
            multiword_end, multiword_line = last, number
    if not rows:
        raise DataError("this sentence has no words; give it at least one or remove it", source=name, line=line)
    if multiword_end > len(rows):
        raise DataError(
            f"the multiword token ends at word {multiword_end} but the sentence has {len(rows)} words; correct its ID",
            source=name,
            line=multiword_line,
        )
    _, forms, _, upos, xpos, _, heads, relations, _, _ = zip(*rows, strict=True)
    return Sentence(
        forms=forms,
        upos=upos,
        xpos=xpos,
        heads=_parse_heads(heads, word_lines, name),
        relations=tuple(None if relation in ("_", "") else relation for relation in relations),
        source=name,
        line=line,
        word_lines=tuple(word_lines),
        block=block,
        prefix=prefix,
    )


def _parse_heads(cells: tuple[str, ...], word_lines: list[int], name: str) -> tuple[int | None, ...]:
    n = len(cells)
    heads = tuple(int(cell) if HEAD.fullmatch(cell) else None for cell in cells)
    for cell, head, line in zip(cells, heads, word_lines, strict=True):
        if head is None:
            if cell != "_":
                raise DataError(f"HEAD is {cell!r}; it must be a word's ID, 0 or _", source=name, line=line)
        elif head > n:
            message = f"HEAD is {head} but the sentence has {n} words; correct it or write _"
            raise DataError(message, source=name, line=line)
    return heads


def _check_token(cells: list[str], *, n_words: int, multiword_end: int, name: str, line: int) -> int:
    """Check a line that is not the plain next word; the last word of a multiword token, 0 for an empty node."""
    error = partial(DataError, source=name, line=line)
    token_id, form = cells[0], cells[1]
    if not "".join(cells).strip(" \r"):
        _reject_columns("\t".join(cells), name=name, line=line)
    if not form:
        raise error(f"FORM of token {token_id!r} is empty; write _ if the form is not known")
    if multiword := MULTIWORD_ID.fullmatch(token_id):
        start, end = int(multiword[1]), int(multiword[2])
        if start != n_words + 1 or end < start:
            raise error(f"multiword token {token_id} must stand before its first word, here {n_words + 1}; correct it")
        if start <= multiword_end:
            raise error(f"multiword token {token_id} overlaps the one before it; correct its ID")
        return end
    if empty_node := EMPTY_NODE_ID.fullmatch(token_id):
        if int(empty_node[1]) != n_words:
            raise error(f"empty node {token_id} must be numbered after the word before it, here {n_words}; correct it")
        return 0
    if not (token_id.isdecimal() and token_id.isascii()):
        raise error(f"ID is {token_id!r}; it must be a number (3), a range (3-4) or an empty node (3.1)")
    new_start = token_id == "1"
    hint = "put an empty line between two sentences" if new_start else "number the words 1, 2, 3 ... without gaps"
    raise error(f"word ID {token_id} where {n_words + 1} was expected; {hint}")


def _reject_columns(text: str, *, name: str, line: int) -> NoReturn:
    """Say what is wrong with a line that does not have ten cells."""
    text = text.rstrip("\r")
    if not text.strip(" \t"):
        raise DataError("a line of only spaces or tabs; make it empty or remove it", source=name, line=line)
    n_found = text.count("\t") + 1
    message = f"{n_found} tab-separated column{'s' * (n_found != 1)} where CoNLL-U has {N_COLUMNS}"
    if "\r" in text:
        hint = "the lines seem to end in carriage returns only: end them with line feeds"
    elif n_found < N_COLUMNS <= len(re.findall(r"[^ \t]+", text)):
        hint = "the columns seem to be separated by spaces: use single tabs"
    else:
        hint = "write one word per line, fill cells without a value with _, and end a sentence with an empty line"
    raise DataError(f"{message}; {hint}", source=name, line=line)
