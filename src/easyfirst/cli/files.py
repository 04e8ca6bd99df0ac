"""What the verbs read and write: several inputs as one stream of sentences, and an output that appears all at once."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from easyfirst.errors import DataError, ModelError
from easyfirst.model.bundled import hides_directory
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.files import BYTE_ORDER_MARK, open_file
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tokens import read_tokens

STANDARD = "-"
"""The name of standard input and standard output on the command line."""
STDIN, STDOUT = "<stdin>", "<stdout>"

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
                at_start, end = False, sentence.block[-4:]
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


def check_model_output(out: Path, *, overwrite: bool) -> None:
    """A model may be written here."""
    if out.exists() and not overwrite:
        raise ModelError(f"{out}: exists already; choose another --out, or use --overwrite")
    if out.is_file():
        raise ModelError(f"{out} is a file, but a model is a directory; choose another --out")
    if (out / "training").is_dir():
        raise ModelError(f"{out}: has a training run, which could not be resumed any more; choose another --out")


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


def keep_inputs(inputs: Sequence[str], output: str | None) -> None:
    """Raise an error if the output, which is of another format, would take the place of an input."""
    if output is None or output == STANDARD or not Path(output).exists():
        return
    for name in inputs:
        if name != STANDARD and Path(name).exists() and Path(name).samefile(output):
            raise DataError("this is also an input, and would be lost; choose another --output", source=output)


def warn_of_name(model: str) -> None:
    """Say on stderr that a name means the bundled model, if there is a directory of that name as well."""
    if hides_directory(model):
        print(f"warning: {model} is the bundled model; write ./{model} for the directory", file=sys.stderr)


@contextmanager
def open_input(name: str) -> Generator[BinaryIO, None, None]:
    """A file, plain or ``.gz``, or standard input."""
    with nullcontext(sys.stdin.buffer) if name == STANDARD else open_file(name) as stream:
        yield stream


def is_standard_output(name: str | None) -> bool:
    return name in (None, STANDARD)


def check_output(name: str | None) -> None:
    """Raise an error at once if there is no place for the output."""
    if name is None or name == STANDARD:
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise DataError("standard output is closed; open it, or write to a file with --output", source=STDOUT)
        return
    path = Path(name)
    if path.is_dir():
        raise DataError("this is a directory; name a file for the output", source=name)
    if not path.absolute().parent.is_dir():
        raise DataError(f"there is no directory {path.parent} for the output; make it first", source=name)


@contextmanager
def open_output(name: str | None) -> Generator[BinaryIO, None, None]:
    """Standard output, or a file, plain or ``.gz``, which is written beside its place and moved there in the end: if
    anything fails, what was there before is still there."""
    check_output(name)
    if name is None or name == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        path = Path(name).resolve()  # through symbolic links, so that they stay
        if path.exists() and not path.is_file():  # a pipe or a device
            with path.open("wb") as stream:
                yield stream
            return
        with _tidy_end(), _replacement(path) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"the output cannot be written: {error.strerror or error}", source=name) from error


@contextmanager
def _tidy_end() -> Generator[None, None, None]:
    """Whoever ends the process by SIGTERM finds no half-written file either."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _replacement(path: Path) -> Generator[BinaryIO, None, None]:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as stream:
            if path.name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield stream
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
