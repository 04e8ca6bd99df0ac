"""A sentence as the columns of CoNLL-U, together with the lines it was read from.

Methods that change a sentence only record new column values. :meth:`Sentence.to_bytes` writes them into the original
lines, once: a cell whose value is unchanged keeps its bytes, and so does everything outside the columns (comments,
multiword tokens, empty nodes, line ends). In the tag columns ``_`` means "not given"; a head or relation that is not
given is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from operator import attrgetter
from typing import Any

from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.treebank.misc import with_entries
from easyfirst.treebank.words import Words, WordSequence

Columns = tuple[tuple[str | int | None, ...], ...]  # the nine from FORM to MISC
_columns_of = attrgetter("forms", "lemmas", "upos", "xpos", "feats", "heads", "relations", "deps", "misc")
MISC = 9  # the index of the last of the ten columns, which is followed by the line end


@dataclass(frozen=True, slots=True)
class SurfaceToken:
    """A token as it is written in the text: a single word or a multiword token."""

    form: str
    words: range  # positions in the sentence's columns, counted from 0
    misc: str
    is_multiword: bool
    line: int | None = None  # its line in the file


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines a sentence was read from and the column values they hold."""

    block: bytes  # including the empty line that ends the sentence, if there is one
    rows: tuple[int, ...]  # the word lines, counted from 0
    columns: Columns = field(compare=False)
    in_file: bool = True  # False: they were made from a row of a table, of which the sentence's line is the number

    def with_columns(self, columns: Columns) -> bytes:
        """Return the lines with the values of these columns; a cell whose value is the same keeps its bytes."""
        if columns == self.columns:
            return self.block
        pairs = enumerate(zip(columns, self.columns, strict=True), 1)
        changed = [(number, new, old) for number, (new, old) in pairs if new != old]
        lines = self.block.decode().split("\n")
        for m, row in enumerate(self.rows):
            cells: list[str] = []
            for number, new, old in changed:
                if (value := new[m]) != old[m]:
                    cells = cells or lines[row].split("\t")
                    line_end = cells[MISC][len(cells[MISC].rstrip("\r")) :] if number == MISC else ""
                    cells[number] = "_" + line_end if value is None else str(value) + line_end
            if cells:
                lines[row] = "\t".join(cells)
        return "\n".join(lines).encode()


@dataclass(frozen=True, slots=True, repr=False)
class Sentence(WordSequence):
    """A sentence as CoNLL-U has it: one value per word in each column. Heads are word IDs counted from 1; 0 is the
    root. Iterate over it to get its words: ``for word in sentence``."""

    forms: tuple[str, ...]
    """The words as they are written."""
    lemmas: tuple[str, ...]
    """The lemmas; like the other columns, ``_`` where there is none."""
    upos: tuple[str, ...]
    """The universal part-of-speech tags."""
    xpos: tuple[str, ...]
    """The tags of the treebank's own tagset."""
    feats: tuple[str, ...]
    """The features of each word."""
    heads: tuple[int | None, ...]
    """The head of each word; None where it is not known."""
    relations: tuple[str | None, ...]
    """The relation of each word to its head; None where it is not known."""
    deps: tuple[str, ...]
    """The enhanced dependencies of each word."""
    misc: tuple[str, ...]
    """Everything else about each word."""
    _: KW_ONLY
    multiword: tuple[SurfaceToken, ...] = ()
    """The multiword tokens."""
    comments: tuple[str, ...] = ()
    """The comment lines, each from its ``#`` on."""
    source: str | None = None
    """The name of the file it comes from."""
    line: int | None = None
    """The line of its first comment or token there."""
    lines: Lines | None = None
    """The lines it was read from; None if it was not read from CoNLL-U."""
    prefix: bytes = b""
    """The bytes before it in the file that belong to no sentence."""

    @classmethod
    def from_words(
        cls,
        forms: Sequence[str],
        upos: Sequence[str | None] | None = None,
        xpos: Sequence[str | None] | None = None,
        heads: Sequence[int | None] | None = None,
        relations: Sequence[str | None] | None = None,
    ) -> Sentence:
        """Make a sentence that comes from no file. What is not given, as a whole or for one word, is written ``_``."""
        if isinstance(forms, str):
            message = "forms must be a list of words, not a text; for texts there is the parser itself: nlp(text)"
            raise InputError(message)
        if (n := len(forms)) == 0:
            raise InputError("a sentence needs at least one word")
        for name, column in {"upos": upos, "xpos": xpos, "heads": heads, "relations": relations}.items():
            if column is not None and len(column) != n:
                raise InputError(f"{n} forms but {len(column)} {name}: give one for each word")
        if "" in forms:
            raise InputError(f"word {list(forms).index('') + 1} has an empty form")
        _check_cells(forms)
        unknown = (None,) * n
        tagged = cls.unannotated(forms).with_tags(
            upos=None if upos is None else [tag or "_" for tag in upos],
            xpos=None if xpos is None else [tag or "_" for tag in xpos],
        )
        return tagged.with_tree(unknown if heads is None else heads, unknown if relations is None else relations)

    @classmethod
    def unannotated(
        cls,
        forms: Sequence[str],
        misc: Sequence[str] | None = None,
        *,
        multiword: tuple[SurfaceToken, ...] = (),
        comments: tuple[str, ...] = (),
    ) -> Sentence:
        """Make a sentence of valid forms without tags and tree."""
        empty, unknown = ("_",) * len(forms), (None,) * len(forms)
        last = empty if misc is None else tuple(misc)
        columns = (tuple(forms), empty, empty, empty, empty, unknown, unknown, empty, last)
        return cls(*columns, multiword=multiword, comments=comments)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.forms)

    def _words_shared(self) -> Words:
        return Words(self, self, self.heads, self.relations)

    def __repr__(self) -> str:
        names = ("forms", "upos", "xpos", "heads", "relations", "source", "line")
        return f"Sentence({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    @property
    def columns(self) -> Columns:
        """All columns, from the forms to MISC."""
        return _columns_of(self)

    @property
    def surface_tokens(self) -> Iterator[SurfaceToken]:
        """The tokens of the text, in order."""
        first_words = {token.words.start: token for token in self.multiword}
        m = 0
        while m < len(self):
            token = first_words.get(m)
            if token is None:
                token = SurfaceToken(self.forms[m], range(m, m + 1), self.misc[m], False, self.word_line(m))
            yield token
            m = token.words.stop

    @property
    def metadata(self) -> dict[str, str]:
        """The comments of the form ``# key = value``; if a key is repeated, the last one counts."""
        pairs = (comment[1:].partition("=") for comment in self.comments)
        return {key.strip(" \t"): value.strip(" \t") for key, equals, value in pairs if equals}

    @property
    def original(self) -> bytes:
        """The CoNLL-U it was read from, with the prefix; empty if it was not read from CoNLL-U."""
        return b"" if self.lines is None else self.prefix + self.lines.block

    def word_line(self, i: int) -> int | None:
        """Return the line of ``words[i]`` in its file, or None if it comes from no file."""
        if self.line is None or self.lines is None or not self.lines.in_file:
            return self.line
        return self.line + self.lines.rows[i]

    def with_tree(
        self, heads: Sequence[int | None], relations: Sequence[str | None], *, deps: bool = False
    ) -> Sentence:
        """Return the sentence with another tree in HEAD and DEPREL; with ``deps``, DEPS becomes a copy of it."""
        n = len(self)
        if not len(heads) == len(relations) == n:
            given = f"{count(len(heads), 'head')} and {count(len(relations), 'relation')}"
            raise InputError(f"{given} for a sentence of {count(n, 'word')}")
        for head in heads:
            if head is not None and not 0 <= head <= n:
                raise InputError(
                    f"word {list(heads).index(head) + 1} has head {head} in a sentence of {count(n, 'word')}"
                )
        labels = tuple([label if label and label != "_" else None for label in relations])
        _check_cells(list(filter(None, labels)))
        column = self.deps
        if deps:
            arcs = zip(heads, labels, strict=True)
            column = tuple(["_" if head is None else f"{head}:{label or '_'}" for head, label in arcs])
        return replace(self, heads=tuple(heads), relations=labels, deps=column)

    def with_tags(
        self,
        *,
        upos: Sequence[str] | None = None,
        xpos: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
        lemmas: Sequence[str] | None = None,
    ) -> Sentence:
        """Return the sentence with other values in the columns that are given."""
        given = {"upos": upos, "xpos": xpos, "feats": feats, "lemmas": lemmas}
        columns = {name: tuple(values) for name, values in given.items() if values is not None}
        for name, tags in columns.items():
            if len(tags) != len(self):
                raise InputError(f"{len(tags)} {name} for a sentence of {count(len(self), 'word')}")
            _check_cells(tags)
        return replace(self, **columns)

    def with_misc(self, values: Sequence[Mapping[str, str | None]]) -> Sentence:
        """Return the sentence with new ``key=value`` entries in the MISC of each word; a key with the value None is
        removed."""
        if len(values) != len(self):
            raise InputError(
                f"MISC values for {count(len(values), 'word')} in a sentence of {count(len(self), 'word')}"
            )
        _check_cells([value for new in values for value in new.values() if value is not None])
        return replace(self, misc=tuple(map(with_entries, self.misc, values)))

    def to_bytes(self) -> bytes:
        """Return the sentence as CoNLL-U; what was read and not changed comes back byte for byte."""
        return self.prefix + (self._new_lines() if self.lines is None else self.lines.with_columns(self.columns))

    def to_conllu(self) -> str:
        """Return :meth:`to_bytes` as text."""
        return self.to_bytes().decode()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes that the sentence was read from, or its columns, and what was changed."""
        from easyfirst.treebank.pickling import pack_sentence, restore_sentence  # which imports this module

        return restore_sentence, pack_sentence(self)

    def _new_lines(self) -> bytes:
        first_words = {token.words.start + 1: token for token in self.multiword}
        lines = list(self.comments)
        for m, row in enumerate(zip(*self.columns, strict=True), 1):
            if token := first_words.get(m):
                lines.append(f"{m}-{token.words.stop}\t{token.form}\t_\t_\t_\t_\t_\t_\t_\t{token.misc}")
            lines.append("\t".join([str(m), *["_" if value is None else str(value) for value in row]]))
        return "\n".join([*lines, "", ""]).encode()


def _check_cells(values: Sequence[str]) -> None:
    """Raise :class:`InputError` unless each value fits into one cell of CoNLL-U."""
    if "".join(values).isprintable():
        return
    for value in values:
        if "\t" in value or "\n" in value or "\r" in value:
            raise InputError(f"{value!r} has a tab or a line end in it, which CoNLL-U cannot hold")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputError(f"{value!r} is not valid Unicode and cannot be written as UTF-8") from None
