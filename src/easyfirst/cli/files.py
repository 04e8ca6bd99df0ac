"""The files that verbs read, and standard input, as lines in UTF-8."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from easyfirst.cli.encodings import EncodingError, check_encoding, utf8_lines
from easyfirst.cli.formats import SPACED_CONLLU_LINE, SUFFIXES, by_suffix, format_of_lines
from easyfirst.cli.messages import say
from easyfirst.cli.options import Format
from easyfirst.errors import DataError
from easyfirst.tables.parquet import read_parquet
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import BYTE_ORDER_MARK, is_gzip, open_file

STDIN = "<stdin>"
STANDARD = "-"  # the name of standard input and standard output on the command line
NOT_CONLLU = "this is not CoNLL-U, which has ten columns separated by tabs"


class Files:
    """The files that a verb reads, or standard input, as lines in UTF-8."""

    def __init__(self, names: Sequence[str], encoding: str | None = None) -> None:
        self.names = list(names) or [STANDARD]
        self._encoding = check_encoding(encoding)
        self._begun: dict[str, tuple[ExitStack, Iterator[bytes]]] = {}  # streams whose first lines were peeked at
        if STANDARD in self.names and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise DataError("standard input is closed; name a file", source=STDIN)
        for name in self.names:
            if not name:
                raise DataError("the name of an input is empty; check the command")
            if " " in name and not Path(name).exists():
                hint = "to give the text itself, use --text with parse or explain"
                raise DataError(f"there is no such file; check the name; {hint}", source=name)
            if name != STANDARD and not Path(name).exists():
                open_file(name)  # raises an error that says what is wrong

    @property
    def n_bytes(self) -> int | None:
        """The size of all files, if it is known and they are not converted."""
        if self._encoding is None and all(Path(name).is_file() and not is_gzip(name) for name in self.names):
            return sum(Path(name).stat().st_size for name in self.names)
        return None

    def announce(self) -> None:
        """Print a hint on stderr if the input is typed on a terminal."""
        if STANDARD in self.names and sys.stdin.isatty():
            say("reading from the terminal; Ctrl-D ends the input")

    @contextmanager
    def open(self, name: str) -> Generator[Iterator[bytes], None, None]:
        """Open one of the files and yield its lines."""
        if name in self._begun:
            stack, lines = self._begun.pop(name)
            with stack:
                yield lines
        else:
            with open_input(name) as stream:
                yield utf8_lines(stream, source_of(name), self._encoding)

    def recognise(self, name: str) -> Format | None:
        """Return the format of a file by its first lines, or None if it is blank. No line is lost: a stream that can be
        read only once stays open."""
        if name != STANDARD and Path(name).is_file():
            with self.open(name) as lines:
                return format_of_lines(lines)
        with ExitStack() as stack:
            lines, seen = stack.enter_context(self.open(name)), list[bytes]()
            found = format_of_lines(_recorded(lines, seen))
            self._begun[name] = stack.pop_all(), chain(seen, lines)
        return found

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of all files, which must be CoNLL-U or Parquet."""
        for name in self.names:
            if by_suffix(name, SUFFIXES) is Format.parquet:
                yield from read_parquet(name)
                continue
            with self.open(name) as lines:
                first = FirstLine(lines)
                try:
                    yield from ConlluReader(first, source_of(name))
                except DataError as error:
                    if not first.is_text or is_of_file(error):
                        raise
                    message = f"{NOT_CONLLU}; to get trees of a text, use 'easyfirst parse' first"
                    raise DataError(message, source=source_of(name), line=error.line) from None


class FirstLine:
    """Lines, of which the first one with content that is not a comment is stored."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.line = b""
        self._lines = lines

    @property
    def is_text(self) -> bool:
        """Whether the line cannot be of CoNLL-U, even with mistakes."""
        return self.line != b"" and b"\t" not in self.line and not SPACED_CONLLU_LINE.match(self.line)

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            text = line.removeprefix(BYTE_ORDER_MARK)
            if not self.line and not text.startswith(b"#") and text.strip(b"\r\n"):
                self.line = line
            yield line


def is_of_file(error: DataError) -> bool:
    """Return whether an error is about the file and not about its format: it is compressed, or has another encoding."""
    return error.line is None or isinstance(error, EncodingError)


def source_of(name: str) -> str:
    """Return the name of an input for messages."""
    return STDIN if name == STANDARD else name


def open_input(name: str) -> AbstractContextManager[BinaryIO]:
    """Open a file, plain or ``.gz``, or standard input."""
    return nullcontext(sys.stdin.buffer) if name == STANDARD else open_file(name)


def _recorded(lines: Iterable[bytes], seen: list[bytes]) -> Iterator[bytes]:
    """Pass lines through and append them to a list."""
    for line in lines:
        seen.append(line)
        yield line
