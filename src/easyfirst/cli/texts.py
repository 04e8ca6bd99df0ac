"""Raw text from the command line: files or standard input as a stream of documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from easyfirst.cli.files import CONLLU_LINE, STANDARD, STDIN, open_input
from easyfirst.errors import DataError
from easyfirst.treebank.files import BYTE_ORDER_MARK, decode, open_file, read_lines


class Texts:
    """The texts of one or more files: documents separated by blank lines, or (``by_line``) a text a line."""

    def __init__(self, names: Sequence[str], *, by_line: bool) -> None:
        self.names = list(names) or [STANDARD]
        self.by_line = by_line
        if STANDARD in self.names and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise DataError("standard input is closed; name a file", source=STDIN)
        for name in self.names:
            if name != STANDARD and not Path(name).exists():
                open_file(name)  # which says what is wrong

    def __iter__(self) -> Iterator[str]:
        for name in self.names:
            source = STDIN if name == STANDARD else name
            lines = self._lines(name, source)
            yield from (line for line in lines if line.strip()) if self.by_line else _documents(lines)

    def _lines(self, name: str, source: str) -> Iterator[str]:
        with open_input(name) as stream:
            for number, line in enumerate(read_lines(stream, source), 1):
                if number == 1:
                    line = line.removeprefix(BYTE_ORDER_MARK)
                if CONLLU_LINE.match(line):
                    raise DataError("this looks like CoNLL-U; use --from conllu", source=source, line=number)
                yield decode(line, name=source, line=number)


def _documents(lines: Iterator[str]) -> Iterator[str]:
    document: list[str] = []
    for line in lines:
        if line.strip():
            document.append(line)
        elif document:
            yield "".join(document)
            document = []
    if document:
        yield "".join(document)
