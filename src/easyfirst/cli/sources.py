"""The input of the verbs: files, standard input or ``--text`` as one stream of sentences or texts."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from easyfirst.cli.files import NOT_CONLLU, STANDARD, Files, FirstLine, is_of_file, source_of
from easyfirst.cli.formats import CONLLU_LINE, format_of_name
from easyfirst.cli.options import Format
from easyfirst.errors import DataError, InputError
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode
from easyfirst.treebank.tokens import read_tokens


class SentenceFiles:
    """The sentences of one or more CoNLL-U or token files, and the bytes between them.

    Written one after the other, each after its :meth:`before`, and at the end :meth:`rest`, the sentences make up the
    files again. If a file lacks the empty line at its end and another one follows, the line is added.
    """

    def __init__(self, files: Files, *, is_tokens: bool, is_guess: bool = False) -> None:
        self.n_bytes = None if is_tokens else files.n_bytes
        self.is_conllu = not is_tokens
        self._files, self._is_guess = files, is_guess
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
        for name in self._files.names:
            with self._files.open(name) as lines:
                read = self._conllu if self.is_conllu else self._tokens
                yield from read(lines, source_of(name))

    def _tokens(self, lines: Iterator[bytes], source: str) -> Iterator[Sentence]:
        first = FirstLine(lines)
        for sentence in read_tokens(first, source):
            if CONLLU_LINE.match(first.line):
                raise DataError("this looks like CoNLL-U; use --from conllu", source=source, line=sentence.line)
            self._n_read += 1
            yield sentence

    def _conllu(self, lines: Iterator[bytes], source: str) -> Iterator[Sentence]:
        first = FirstLine(lines)
        reader = ConlluReader(first, source)
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
            if is_of_file(error):
                raise
            if first.is_text:
                hint = (
                    "if it is raw text, use --from text; if each line is a sentence, use --from lines, or --from "
                    "tokens for words separated by spaces"
                )
                raise DataError(f"{NOT_CONLLU}; {hint}", source=source, line=error.line) from None
            if self._is_guess and at_start:
                hint = "by its first lines, the input seems to be CoNLL-U; if it is raw text, use --from text"
                raise DataError(f"{error}; {hint}") from None
            raise
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


class TextFiles:
    """The texts of one or more files: documents separated by blank lines or, with ``by_line``, a text per line."""

    n_bytes = None
    is_conllu = False

    def __init__(self, files: Files, *, by_line: bool) -> None:
        self._files, self.by_line = files, by_line

    def __iter__(self) -> Iterator[SourceText]:
        number = 0
        for name in self._files.names:
            with self._files.open(name) as stream:
                lines = _read_text(stream, source_of(name))
                for start, is_first, text in _lines(lines) if self.by_line else _documents(lines):
                    number += 1
                    yield SourceText(text, number, start, is_first, None if name == STANDARD else name)


class GivenText(TextFiles):
    """The text of ``--text``."""

    def __init__(self, text: str) -> None:
        self.by_line, self._text = False, text

    def __iter__(self) -> Iterator[SourceText]:
        yield SourceText(self._text)


def open_inputs(
    names: Sequence[str] | None,
    text: str | None,
    source: Format | None,
    *,
    encoding: str | None = None,
    quiet: bool = False,
) -> SentenceFiles | TextFiles:
    """Return the input that INPUT, ``--text``, ``--from`` and ``--encoding`` name.

    Without ``--from``, the names of the files decide on the format, and else their first lines. Unless ``quiet``, hints
    on stderr name a format that the first lines decided on, and a terminal as the input.
    """
    if text is not None:
        if names or source not in (None, Format.text) or encoding is not None:
            raise InputError("--text is the input itself; leave out INPUT, --from and --encoding")
        return GivenText(text)
    files = Files(names or (), encoding)
    if not quiet:
        files.announce()
    chosen, is_guess = (source, False) if source is not None else _recognise(files, quiet=quiet)
    if chosen in (Format.text, Format.lines):
        return TextFiles(files, by_line=chosen is Format.lines)
    return SentenceFiles(files, is_tokens=chosen is Format.tokens, is_guess=is_guess)


def _recognise(files: Files, *, quiet: bool) -> tuple[Format, bool]:
    """Return the format of all files, and whether their lines decided. Raise an error if the formats differ."""
    by_name = {name: format_of_name(name) for name in files.names}
    by_lines = {name: files.recognise(name) for name, found in by_name.items() if found is None}
    formats = {name: found for name, found in (by_name | by_lines).items() if found is not None}
    if len(distinct := {found: name for name, found in formats.items()}) > 1:
        text, conllu = (_spoken(distinct[found]) for found in (Format.text, Format.conllu))
        raise InputError(f"{text} is text and {conllu} is CoNLL-U; parse them separately, or choose with --from")
    chosen = next(iter(formats.values()), Format.conllu)
    recognised = [_spoken(name) for name, found in by_lines.items() if found is not None]
    if recognised and not quiet:
        others = f" and {len(recognised) - 1} more" if len(recognised) > 1 else ""
        shown = "CoNLL-U" if chosen is Format.conllu else "text"
        print(f"reading {recognised[0]}{others} as {shown}; use --from to choose another format", file=sys.stderr)
    return chosen, bool(recognised)


def _spoken(name: str) -> str:
    return "standard input" if name == STANDARD else name


def _line_ends_missing(end: bytes) -> bytes:
    """Return the line ends that make up the empty line between a file with this end and the next file."""
    if not end or end.endswith((b"\n\n", b"\n\r\n")) or end in (b"\n", b"\r\n"):
        return b""
    if end.endswith(b"\n"):
        return b"\r\n" if end.endswith(b"\r\n") else b"\n"
    return b"\n\n"


def _read_text(lines: Iterable[bytes], source: str) -> Iterator[str]:
    """Decode the lines of a text. Raise an error if the first one, apart from comments, is of CoNLL-U."""
    is_begin = True
    for number, line in enumerate(lines, 1):
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


def read_conllu(name: str, encoding: str | None = None) -> Iterator[Sentence]:
    """Return the sentences of a CoNLL-U file, or of standard input, for a verb that reads nothing else."""
    return Files([name], encoding).sentences()
