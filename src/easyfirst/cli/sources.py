"""The input of the verbs: files, standard input or ``--text`` as one stream of sentences or texts."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from easyfirst.cli.options import Format
from easyfirst.errors import DataError, InputError
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode, open_file, read_lines
from easyfirst.treebank.tokens import read_tokens

STDIN = "<stdin>"
STANDARD = "-"  # the name of standard input and standard output on the command line

CONLLU_LINE = re.compile(rb"1(-[0-9]+)?\t([^\t]*\t){8}")
SPACED_CONLLU_LINE = re.compile(rb"1(-[0-9]+)?( +[^ ]+){9}\s*$")


class Files:
    """The files that a verb reads, or standard input."""

    n_bytes: int | None = None  # the size of all sentences, if it is known

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names) or [STANDARD]
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

    def announce(self) -> None:
        """Print a hint on stderr if the input is typed on a terminal."""
        if STANDARD in self.names and sys.stdin.isatty():
            print("reading from the terminal; Ctrl-D ends the input", file=sys.stderr)


class SentenceFiles(Files):
    """The sentences of one or more CoNLL-U or token files, and the bytes between them.

    Written one after the other, each after its :meth:`before`, and at the end :meth:`rest`, the sentences make up the
    files again. If a file lacks the empty line at its end and another one follows, the line is added.
    """

    def __init__(self, names: Sequence[str], *, is_tokens: bool) -> None:
        super().__init__(names)
        self._is_tokens = is_tokens
        if not is_tokens and all(Path(name).is_file() and not name.endswith(".gz") for name in self.names):
            self.n_bytes = sum(Path(name).stat().st_size for name in self.names)
        self._trailers: deque[tuple[int, bytes]] = deque()  # the number of sentences before, and the bytes
        self._n_read = 0
        self._end = b""  # the last bytes of the files before

    def before(self, number: int) -> bytes:
        """Return the bytes before a sentence, counted from 0, that were not returned yet."""
        parts: list[bytes] = []
        while self._trailers and self._trailers[0][0] <= number:
            parts.append(self._trailers.popleft()[1])
        return b"".join(parts)

    def rest(self) -> bytes:
        """Return the bytes after the last sentence."""
        return self.before(self._n_read)

    def __iter__(self) -> Iterator[Sentence]:
        for name in self.names:
            with open_input(name) as stream:
                read = self._tokens if self._is_tokens else self._conllu
                yield from read(stream, source_of(name))

    def _tokens(self, stream: BinaryIO, source: str) -> Iterator[Sentence]:
        first = _FirstLine(stream)
        for sentence in read_tokens(cast(BinaryIO, first), source):
            if CONLLU_LINE.match(first.line):
                raise DataError("this looks like CoNLL-U; use --from conllu", source=source, line=sentence.line)
            self._n_read += 1
            yield sentence

    def _conllu(self, stream: BinaryIO, source: str) -> Iterator[Sentence]:
        first = _FirstLine(stream)
        reader = ConlluReader(cast(BinaryIO, first), source)
        joint = _line_ends_missing(self._end)
        is_first_file, at_start, end = self._end == b"", True, self._end
        try:
            for sentence in reader:
                if at_start and not is_first_file:
                    sentence = replace(sentence, prefix=joint + sentence.prefix.removeprefix(BYTE_ORDER_MARK))
                at_start, end = False, sentence.original[-4:]
                self._n_read += 1
                yield sentence
        except DataError as error:
            # an error without a line is about the whole file: it cannot be read, or is compressed
            if error.line is None or b"\t" in first.line or not first.line or SPACED_CONLLU_LINE.match(first.line):
                raise
            message = (
                "this is not CoNLL-U, which has ten columns separated by tabs; if it is raw text, use --from text; if "
                "each line is a sentence, use --from lines, or --from tokens for words separated by spaces"
            )
            raise DataError(message, source=source, line=error.line) from None
        trailer = reader.trailer
        if trailer and at_start and not is_first_file:
            trailer = joint + trailer.removeprefix(BYTE_ORDER_MARK)
        self._trailers.append((self._n_read, trailer))
        self._end = (end + trailer)[-4:]


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text and its place in the input."""

    text: str
    number: int = 1  # among all texts
    start: int = 0  # the characters before it in its file; line ends count, a byte order mark does not
    is_first: bool = True  # whether a document begins with it; of lines, only the first and those after a blank line do
    file: str | None = None


class TextFiles(Files):
    """The texts of one or more files: documents separated by blank lines or, with ``by_line``, a text per line."""

    def __init__(self, names: Sequence[str], *, by_line: bool) -> None:
        super().__init__(names)
        self.by_line = by_line

    def __iter__(self) -> Iterator[SourceText]:
        number = 0
        for name in self.names:
            lines = _read_text(name)
            for start, is_first, text in _lines(lines) if self.by_line else _documents(lines):
                number += 1
                yield SourceText(text, number, start, is_first, None if name == STANDARD else name)


class GivenTexts(TextFiles):
    """The text of ``--text``."""

    def __init__(self, text: str) -> None:
        self.names, self.by_line, self._text = [], False, text

    def __iter__(self) -> Iterator[SourceText]:
        yield SourceText(self._text)


def open_inputs(names: Sequence[str] | None, text: str | None, source: Format | None) -> SentenceFiles | TextFiles:
    """Return the input that INPUT, ``--text`` and ``--from`` name."""
    if text is not None:
        if names or source not in (None, Format.text):
            raise InputError("--text is the input itself; leave out INPUT and --from")
        return GivenTexts(text)
    if source in (Format.text, Format.lines):
        return TextFiles(names or (), by_line=source is Format.lines)
    return SentenceFiles(names or (), is_tokens=source is Format.tokens)


class _FirstLine:
    """A stream that stores its first line with content that is not a comment."""

    def __init__(self, stream: BinaryIO) -> None:
        self.line = b""
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        for line in self._stream:
            text = line.removeprefix(BYTE_ORDER_MARK)
            if not self.line and not text.startswith(b"#") and text.strip(b"\r\n"):
                self.line = line
            yield line


def _line_ends_missing(end: bytes) -> bytes:
    """Return the line ends that make up the empty line between a file with this end and the next file."""
    if not end or end.endswith((b"\n\n", b"\n\r\n")) or end in (b"\n", b"\r\n"):
        return b""
    if end.endswith(b"\n"):
        return b"\r\n" if end.endswith(b"\r\n") else b"\n"
    return b"\n\n"


def _read_text(name: str) -> Iterator[str]:
    """Yield the lines of a file. Raise an error if the first one, apart from comments, is of CoNLL-U."""
    is_begin, source = True, source_of(name)
    with open_input(name) as stream:
        for number, line in enumerate(read_lines(stream, source), 1):
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if is_begin and CONLLU_LINE.match(line):
                raise DataError("this looks like CoNLL-U; use --from conllu", source=source, line=number)
            is_begin = is_begin and (line.startswith(b"#") or not line.strip())
            yield decode(line, name=source, line=number)


def _lines(lines: Iterator[str]) -> Iterator[tuple[int, bool, str]]:
    """Yield each line with content: its start, whether it is the first after a blank line, and its text."""
    start, is_first = 0, True
    for line in lines:
        if line.strip():
            yield start, is_first, line
        is_first = not line.strip()
        start += len(line)


def _documents(lines: Iterator[str]) -> Iterator[tuple[int, bool, str]]:
    """Yield the same for the texts between blank lines."""
    document: list[str] = []
    start = end = 0
    for line in lines:
        if line.strip():
            if not document:
                start = end
            document.append(line)
        elif document:
            yield start, True, "".join(document)
            document = []
        end += len(line)
    if document:
        yield start, True, "".join(document)


def source_of(name: str) -> str:
    """Return the name of an input for messages."""
    return STDIN if name == STANDARD else name


def open_input(name: str) -> AbstractContextManager[BinaryIO]:
    """Open a file, plain or ``.gz``, or standard input."""
    return nullcontext(sys.stdin.buffer) if name == STANDARD else open_file(name)


def read_conllu(name: str) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file, or of standard input."""
    with open_input(name) as stream:
        yield from ConlluReader(stream, source_of(name))
