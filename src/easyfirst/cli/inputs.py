"""What the verbs read and write: several inputs as one stream of sentences, and an output that appears all at once."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from easyfirst.errors import DataError
from easyfirst.model.bundled import hides_directory
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import BYTE_ORDER_MARK, open_file
from easyfirst.treebank.tokens import read_tokens

STDIN = "<stdin>"
STANDARD = "-"
"""The name of standard input and standard output on the command line."""

CONLLU_LINE = re.compile(rb"1(-[0-9]+)?\t([^\t]*\t){8}")
SPACED_CONLLU_LINE = re.compile(rb"1(-[0-9]+)?( +[^ ]+){9}\s*$")


class Inputs:
    """The sentences of one or more CoNLL-U or token files, and where the bytes belong that are in no sentence.

    Written one after the other, each after what :meth:`before` gives for it, and at the end :meth:`rest`, the sentences
    make up the inputs again. Where a file lacks the empty line at its end and another follows, it is added.
    """

    def __init__(self, names: Sequence[str], *, is_tokens: bool) -> None:
        self.names = list(names) or [STANDARD]
        if STANDARD in self.names and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise DataError("standard input is closed; name a file", source=STDIN)
        require_files(self.names)
        self._is_tokens = is_tokens
        self._trailers: deque[tuple[int, bytes]] = deque()  # after how many sentences, what
        self._n_read = 0
        self._end = b""  # the last bytes of the files before

    @property
    def n_bytes(self) -> int | None:
        """How many bytes of sentences there are to come, if that can be known."""
        if self._is_tokens or any(name.endswith(".gz") or not Path(name).is_file() for name in self.names):
            return None
        return sum(Path(name).stat().st_size for name in self.names)

    def before(self, number: int) -> bytes:
        """What stands before a sentence, counted from 0, and has not been given yet."""
        parts: list[bytes] = []
        while self._trailers and self._trailers[0][0] <= number:
            parts.append(self._trailers.popleft()[1])
        return b"".join(parts)

    def rest(self) -> bytes:
        return self.before(self._n_read)

    def __iter__(self) -> Iterator[Sentence]:
        for name in self.names:
            with open_input(name) as stream:
                source = STDIN if name == STANDARD else name
                yield from self._tokens(stream, source) if self._is_tokens else self._conllu(stream, source)

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
            is_of_whole_file = error.line is None  # it cannot be read, or is packed
            if is_of_whole_file or b"\t" in first.line or not first.line or SPACED_CONLLU_LINE.match(first.line):
                raise
            message = "this is not CoNLL-U, which has ten columns with tabs between"
            hint = "if it is raw text, use --from text; if each line is a sentence, use --from lines, or --from tokens"
            raise DataError(
                f"{message}; {hint} for words with spaces between", source=source, line=error.line
            ) from None
        trailer = reader.trailer
        if trailer and at_start and not is_first_file:
            trailer = joint + trailer.removeprefix(BYTE_ORDER_MARK)
        self._trailers.append((self._n_read, trailer))
        self._end = (end + trailer)[-4:]


class _FirstLine:
    """A stream whose first line with content, and not a comment, is remembered."""

    def __init__(self, stream: BinaryIO) -> None:
        self.line = b""
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        for line in self._stream:
            text = line.removeprefix(BYTE_ORDER_MARK)
            if not text.startswith(b"#") and text.strip(b"\r\n"):
                self.line = line
                yield line
                break
            yield line
        yield from self._stream


def _line_ends_missing(end: bytes) -> bytes:
    """What a file that ends so needs before another can follow: an empty line."""
    if not end or end.endswith((b"\n\n", b"\n\r\n")) or end in (b"\n", b"\r\n"):
        return b""
    if end.endswith(b"\n"):
        return b"\r\n" if end.endswith(b"\r\n") else b"\n"
    return b"\n\n"


def require_files(names: Sequence[str]) -> None:
    """Raise an error at once if one of the inputs is not there."""
    for name in names:
        if not name:
            raise DataError("the name of an input is empty; check the command")
        if name != STANDARD and not Path(name).exists():
            if " " in name:
                hint = "a text itself goes with --text, which parse and explain have"
                raise DataError(f"there is no such file; check the name; {hint}", source=name)
            open_file(name)  # which says what is wrong


def warn_of_name(model: str) -> None:
    """Say on stderr that a name means the bundled model, if there is a directory of that name as well."""
    if hides_directory(model):
        print(f"warning: {model} is the bundled model; write ./{model} for the directory", file=sys.stderr)


@contextmanager
def open_input(name: str) -> Generator[BinaryIO, None, None]:
    """A file, plain or ``.gz``, or standard input."""
    with nullcontext(sys.stdin.buffer) if name == STANDARD else open_file(name) as stream:
        yield stream
