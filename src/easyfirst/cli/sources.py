"""The input of the verbs: files, standard input or ``--text`` as one stream of sentences or texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from easyfirst.cli.files import NOT_CONLLU, STANDARD, Files, FirstLine, is_of_file, source_of
from easyfirst.cli.formats import CONLLU_LINE, SUFFIXES, by_suffix
from easyfirst.cli.messages import say
from easyfirst.cli.options import Format
from easyfirst.errors import DataError, InputError
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import BYTE_ORDER_MARK, check_block, decode_text, line_ends_missing
from easyfirst.treebank.tokens import read_tokens

if TYPE_CHECKING:
    from easyfirst.parser import Parser

_SPOKEN = {Format.text: "text", Format.conllu: "CoNLL-U", Format.parquet: "Parquet"}


FROM_TEXT = (
    "if it is raw text, use --from text; if each line is a sentence, use --from lines, or --from tokens for words "
    "separated by spaces"
)


class SentenceFiles:
    """The sentences of one or more CoNLL-U or token files, and the bytes between them.

    Written one after the other, each after its :meth:`before`, and at the end :meth:`rest`, the sentences make up the
    files again. If a file lacks the empty line at its end and another one follows, the line is added.
    """

    def __init__(
        self, files: Files, *, is_tokens: bool, is_guess: bool = False, hint_for_text: str = FROM_TEXT
    ) -> None:
        """``hint_for_text``: what to do if the files are raw text."""
        self.n_bytes = None if is_tokens else files.n_bytes
        self.is_conllu = not is_tokens
        self._files, self._is_guess, self._hint_for_text = files, is_guess, hint_for_text
        self._trailers: deque[tuple[int, bytes]] = deque()  # the number of sentences before, and the bytes
        self._n_read = 0
        self._end = b""  # the last bytes of the files before

    def before(self, number: int) -> bytes:
        """Return the bytes before a sentence, counted from 0, that were not returned yet."""
        parts: list[bytes] = []
        while self._trailers and self._trailers[0][0] <= number:
            parts.append(self._trailers.popleft()[1])
        return b"".join(parts)

    def text(self, number: int) -> str | None:
        """Return the text of a sentence with its own white space, if the input has it. Numbers must not decrease."""
        return None

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
        first, n_before = FirstLine(lines), self._n_read
        reader = ConlluReader(first, source)
        try:
            yield from self._joined(reader, lambda: reader.trailer)
        except DataError as error:
            if is_of_file(error):
                raise
            if first.is_text:
                raise DataError(f"{NOT_CONLLU}; {self._hint_for_text}", source=source, line=error.line) from None
            if self._is_guess and self._n_read == n_before:
                hint = "by its first lines, the input seems to be CoNLL-U; if it is raw text, use --from text"
                raise DataError(f"{error}; {hint}") from None
            raise

    def _joined(self, sentences: Iterable[Sentence], trailer_of: Callable[[], bytes]) -> Iterator[Sentence]:
        """Pass the sentences of a file through, and note the bytes after them. The first one begins with the line ends
        that the file before lacks."""
        joint = line_ends_missing(self._end)
        is_first_file, at_start, end = self._end == b"", True, self._end
        for sentence in sentences:
            if at_start and not is_first_file:
                sentence = replace(sentence, prefix=joint + sentence.prefix.removeprefix(BYTE_ORDER_MARK))
            at_start, end = False, sentence.original[-4:]
            self._n_read += 1
            yield sentence
        trailer = trailer_of()
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
    doc_id: str | None = None  # if the input gives one


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
                for start, is_first, text in _lines(lines) if self.by_line else _documents(lines, source_of(name)):
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
    column: str | None = None,
    id_column: str | None = None,
) -> SentenceFiles | TextFiles:
    """Return the input that INPUT, ``--text``, ``--from`` and ``--encoding`` name, and of Parquet files ``--column``
    and ``--id-column``.

    Without ``--from``, the names of the files decide on the format, and else their first lines. Unless ``quiet``, hints
    on stderr name a format that the first lines decided on, and a terminal as the input.
    """
    from easyfirst.cli.parquet_inputs import open_parquet_inputs  # which imports this module

    option = "--column" if column is not None else "--id-column" if id_column is not None else None
    if text is not None:
        if names or source not in (None, Format.text) or encoding is not None:
            raise InputError("--text is the input itself; leave out INPUT, --from and --encoding")
        if option is not None:
            raise InputError(f"{option} is for Parquet files; leave it out for --text")
        return GivenText(text)
    if source is Format.parquet:
        return open_parquet_inputs(names or (STANDARD,), column, id_column, encoding)
    files = Files(names or (), encoding)
    if not quiet:
        files.announce()
    chosen, is_guess = (source, False) if source is not None else _recognise(files, quiet=quiet)
    if chosen is Format.parquet:
        return open_parquet_inputs(files.names, column, id_column, encoding)
    if option is not None:
        raise InputError(f"{option} is for Parquet files; leave it out, or use --from parquet")
    if chosen in (Format.text, Format.lines):
        return TextFiles(files, by_line=chosen is Format.lines)
    return SentenceFiles(files, is_tokens=chosen is Format.tokens, is_guess=is_guess)


def sentences_of(parser: Parser, given: SentenceFiles | TextFiles) -> Iterator[Sentence]:
    """Yield the sentences of an input, without trees if it is text."""
    if isinstance(given, SentenceFiles):
        yield from given
        return
    for source in given:
        [tokenized] = parser.tokenize([source.text], one_sentence=given.by_line)
        yield from tokenized.sentences()


def _recognise(files: Files, *, quiet: bool) -> tuple[Format, bool]:
    """Return the format of all files, and whether their lines decided. Raise an error if the formats differ."""
    by_name = {name: by_suffix(name, SUFFIXES) for name in files.names}
    by_lines = {name: files.recognise(name) for name, found in by_name.items() if found is None}
    formats = {name: found for name, found in (by_name | by_lines).items() if found is not None}
    if len(distinct := {found: name for name, found in formats.items()}) > 1:
        known = (found for found in _SPOKEN if found in distinct)
        first, second, *_ = (f"{_spoken(distinct[found])} is {_SPOKEN[found]}" for found in known)
        hint = "parse them separately, each to its own output with --out-dir, or choose with --from"
        raise InputError(f"{first} and {second}; {hint}")
    chosen = next(iter(formats.values()), Format.conllu)
    recognised = [_spoken(name) for name, found in by_lines.items() if found is not None]
    if recognised and not quiet:
        others = f" and {len(recognised) - 1} more" if len(recognised) > 1 else ""
        shown = _SPOKEN[chosen]
        say(f"reading {recognised[0]}{others} as {shown}; use --from to choose another format")
    return chosen, bool(recognised)


def _spoken(name: str) -> str:
    return "standard input" if name == STANDARD else name


def _read_text(lines: Iterable[bytes], source: str) -> Iterator[str]:
    """Decode the lines of a text. Raise an error if the first one, apart from comments, is of CoNLL-U."""
    is_begin = True
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if is_begin and CONLLU_LINE.match(line):
            raise DataError("this looks like CoNLL-U; use --from conllu", source=source, line=number)
        is_begin = is_begin and (line.startswith(b"#") or not line.strip())
        yield decode_text(line, name=source, line=number)


def _lines(lines: Iterator[str]) -> Iterator[tuple[int, bool, str]]:
    """Yield each line with content: its start, whether it is the first after a blank line, and its text."""
    start, is_first = 0, True
    for line in lines:
        if line.strip():
            yield start, is_first, line
        is_first = not line.strip()
        start += len(line)


def _documents(lines: Iterator[str], source: str) -> Iterator[tuple[int, bool, str]]:
    """Yield the same for the texts between blank lines."""
    document: list[str] = []
    start = end = first = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            if not document:
                start, first = end, number
            document.append(line)
            check_block(end - start, source, first)
        elif document:
            yield start, True, "".join(document)
            document = []
        end += len(line)
    if document:
        yield start, True, "".join(document)


def read_conllu(name: str, encoding: str | None = None) -> Iterator[Sentence]:
    """Return the sentences of a CoNLL-U file, or of standard input, for a verb that reads nothing else."""
    return Files([name], encoding).sentences()
