"""Penn-style brackets, read as a stream of trees.

A tree may span several lines, a line may hold several trees, and an outer bracket without a label, as in
``( (S ...) )``, is removed; if it contains several trees, it is labelled ``TOP``. Only ASCII white space separates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike, fspath

from easyfirst.constituents.tree import Constituents, Node, unescape
from easyfirst.errors import DataError
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode, open_file, read_lines

TOP = "TOP"
MAX_OPEN = 10_000
"""The number of brackets that may be open at once; more are an error in the file."""
_TOKENS = re.compile(r"[()]|[^() \t\r\n\f\v]+")
_POSITION = re.compile(r"[0-9]+=")  # a word of a discontinuous tree has its position before it: (NN 3=fox)


def read_brackets(path: str | PathLike[str]) -> Iterator[Constituents]:
    """Yield the trees of a file, plain or ``.gz``, one at a time."""
    with open_file(path) as stream:
        yield from read_bracket_lines(stream, fspath(path))


def read_bracket_lines(stream: Iterable[bytes], name: str) -> Iterator[Constituents]:
    """Yield the trees of a stream of lines, each as soon as its last bracket has been read."""
    reader = _Reader(name)
    for number, line in enumerate(read_lines(stream, name), 1):
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        for match in _TOKENS.finditer(decode(line, name=name, line=number)):
            if (tree := reader.add(match[0], number)) is not None:
                yield tree
    reader.end()


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet."""

    line: int
    start: int  # the number of words before it
    node: int  # its place among the phrases, if it becomes one
    label: str | None = None
    word: str | None = None
    n_children: int = 0


@dataclass(slots=True)
class _Reader:
    """Makes trees of brackets, labels and words."""

    name: str
    forms: list[str] = field(default_factory=list[str])
    tags: list[str] = field(default_factory=list[str])
    nodes: list[Node | None] = field(default_factory=list[Node | None])
    waiting: list[_Open] = field(default_factory=list[_Open])

    def add(self, token: str, line: int) -> Constituents | None:
        """Read a bracket, a label or a word; return the tree that it completes."""
        if token == "(":
            self._open(line)
        elif token == ")":
            return self._close(line)
        else:
            self._read_text(token, line)
        return None

    def end(self) -> None:
        """Raise an error if a bracket is still open."""
        if self.waiting:
            message = "this tree is incomplete: the file ends before its last bracket; add what is missing"
            raise DataError(message, source=self.name, line=self.waiting[0].line)

    def _error(self, message: str, line: int) -> DataError:
        return DataError(message, source=self.name, line=line)

    def _open(self, line: int) -> None:
        if len(self.waiting) >= MAX_OPEN:
            raise self._error(f"more than {MAX_OPEN:,} open brackets; close those of the trees before", line)
        if self.waiting:
            above = self.waiting[-1]
            if above.word is not None:
                raise self._error(f"a bracket opens after the word {above.word!r}; write (TAG {above.word})", line)
            if above.label is None and len(self.waiting) > 1:
                raise self._error("a bracket without a label; only the outermost one may lack it", line)
            above.n_children += 1
        self.waiting.append(_Open(line, len(self.forms), len(self.nodes)))
        self.nodes.append(None)

    def _read_text(self, token: str, line: int) -> None:
        if not self.waiting:
            raise self._error(f"{token!r} stands outside of all brackets; give trees as in (S (NP (PRP It)) ...)", line)
        top = self.waiting[-1]
        if top.n_children:
            raise self._error(f"the word {token!r} has no bracket of its own; write (TAG {token})", line)
        if top.label is None:
            top.label = token
        elif top.word is None:
            top.word = token
        else:
            raise self._error(f"{top.word!r} and {token!r} are in one bracket; give each word its own", line)

    def _close(self, line: int) -> Constituents | None:
        if not self.waiting:
            raise self._error("a bracket closes that was never opened; remove it", line)
        top = self.waiting.pop()
        if top.word is not None and top.label is not None:
            if _POSITION.match(top.word):
                message = f"the word {top.word!r} has a position, as in discontinuous trees, which are not supported"
                raise self._error(f"{message}; remove the discontinuities first", line)
            self.forms.append(unescape(top.word))
            self.tags.append(top.label)
        elif not top.n_children:
            what = "an empty bracket" if top.label is None else f"the bracket of {top.label!r} has no word"
            raise self._error(f"{what}; remove it", line)
        elif top.label is not None or top.n_children > 1:
            self.nodes[top.node] = Node(top.label or TOP, top.start, len(self.forms))
        if self.waiting:
            return None
        found = tuple(node for node in self.nodes if node is not None)
        tree = Constituents(tuple(self.forms), tuple(self.tags), found, self.name, top.line)
        self.forms, self.tags, self.nodes = [], [], []
        return tree
