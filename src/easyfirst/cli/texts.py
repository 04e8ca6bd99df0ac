"""Raw text from the command line: files or standard input as a stream of documents."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from easyfirst.cli.inputs import CONLLU_LINE, STANDARD, STDIN, open_input, require_files
from easyfirst.errors import DataError
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode, read_lines


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text comes from."""

    number: int = 1
    """Of all texts, from 1."""
    start: int = 0
    """How many characters of its file stand before it; line ends count as they are, a byte order mark does not."""
    is_first: bool = True
    """Whether a document begins with it. Of texts that are lines, only the first and those after a blank line do."""
    file: str | None = None
    """The name of its file, if it comes from one."""


class Texts:
    """The texts of one or more files: documents separated by blank lines, or (``by_line``) a text a line."""

    def __init__(self, names: Sequence[str], *, by_line: bool) -> None:
        self.names = list(names) or [STANDARD]
        self.by_line = by_line
        self._places: deque[Place] = deque()
        if STANDARD in self.names and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise DataError("standard input is closed; name a file", source=STDIN)
        require_files(self.names)

    def next_place(self) -> Place:
        """The place of the first text that was read and not asked for yet."""
        return self._places.popleft()

    def __iter__(self) -> Iterator[str]:
        number = 0
        for name in self.names:
            lines = _read(name, STDIN if name == STANDARD else name)
            for start, is_first, text in _lines(lines) if self.by_line else _documents(lines):
                number += 1
                self._places.append(Place(number, start, is_first, None if name == STANDARD else name))
                yield text


def _read(name: str, source: str) -> Iterator[str]:
    """The lines of a file, unless the first one with content, and not a comment, is of CoNLL-U."""
    is_begin = True
    with open_input(name) as stream:
        for number, line in enumerate(read_lines(stream, source), 1):
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if is_begin and CONLLU_LINE.match(line):
                raise DataError("this looks like CoNLL-U; use --from conllu", source=source, line=number)
            is_begin = is_begin and (line.startswith(b"#") or not line.strip())
            yield decode(line, name=source, line=number)


def _lines(lines: Iterator[str]) -> Iterator[tuple[int, bool, str]]:
    """Each line with content: where it starts, whether it is the first after a blank one, and what it is."""
    start, is_first = 0, True
    for line in lines:
        if line.strip():
            yield start, is_first, line
        is_first = not line.strip()
        start += len(line)


def _documents(lines: Iterator[str]) -> Iterator[tuple[int, bool, str]]:
    """The same for the texts between blank lines."""
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
