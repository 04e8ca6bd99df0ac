"""A sentence and its words, backed by the very bytes it was read from.

The columns a parser uses (FORM, UPOS, XPOS, HEAD, DEPREL) are at hand as tuples; everything else of the CoNLL-U
block (comments, multiword tokens, empty nodes, line ends) lives only in its bytes, so writing a sentence back
cannot lose anything. In the tag columns ``_`` means "not given"; a head or relation not given is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from easyfirst.errors import InputError


@dataclass(frozen=True, slots=True)
class Word:
    """One word line of CoNLL-U; its id is its position in the sentence, counted from 1."""

    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: int | None = None
    relation: str | None = None
    deps: str = "_"
    misc: str = "_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence: one value per word in each tuple; heads are word ids counted from 1, and 0 is the root."""

    forms: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    heads: tuple[int | None, ...]
    relations: tuple[str | None, ...]
    source: str | None = None  # the name of the file it comes from
    line: int | None = None  # where it starts there: its first comment or token
    word_lines: tuple[int, ...] = field(default=(), repr=False)
    block: bytes = field(repr=False)  # all its lines, with the empty line that ends it if there is one
    prefix: bytes = field(default=b"", repr=False)  # what stands before it and belongs to no sentence

    @classmethod
    def from_words(
        cls,
        forms: Sequence[str],
        upos: Sequence[str | None] | None = None,
        xpos: Sequence[str | None] | None = None,
        heads: Sequence[int | None] | None = None,
        relations: Sequence[str | None] | None = None,
    ) -> Sentence:
        """A sentence that comes from no file. What is not given, as a whole or for one word, is written as ``_``."""
        if isinstance(forms, str):
            raise InputError(
                "forms must be a list of words, not a text; for texts there is the parser itself: nlp(text)"
            )
        n = len(forms)
        if n == 0:
            raise InputError("a sentence needs at least one word")
        given = {"upos": upos, "xpos": xpos, "heads": heads, "relations": relations}
        for name, column in given.items():
            if column is not None and len(column) != n:
                raise InputError(f"{n} forms but {len(column)} {name}: give one for each word")
        if "" in forms:
            raise InputError(f"word {list(forms).index('') + 1} has an empty form")
        nothing = (None,) * n
        upos_tags = tuple(tag or "_" for tag in (nothing if upos is None else upos))
        xpos_tags = tuple(tag or "_" for tag in (nothing if xpos is None else xpos))
        lines = [
            f"{m}\t{_cell(form)}\t_\t{_cell(upos_tag)}\t{_cell(xpos_tag)}\t_\t_\t_\t_\t_\n"
            for m, (form, upos_tag, xpos_tag) in enumerate(zip(forms, upos_tags, xpos_tags, strict=True), 1)
        ]
        sentence = cls(
            forms=tuple(forms),
            upos=upos_tags,
            xpos=xpos_tags,
            heads=nothing,
            relations=nothing,
            block="".join([*lines, "\n"]).encode(),
        )
        return sentence.with_tree(nothing if heads is None else heads, nothing if relations is None else relations)

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def words(self) -> tuple[Word, ...]:
        """The words with all their columns."""
        rows = [[cell.decode() for cell in cells] for _, cells in _word_rows(self.block.split(b"\n"))]
        return tuple(
            Word(form, lemma, upos, xpos, feats, head, relation, deps, misc.rstrip("\r"))
            for (_, form, lemma, upos, xpos, feats, _, _, deps, misc), head, relation in zip(
                rows, self.heads, self.relations, strict=True
            )
        )

    @property
    def comments(self) -> tuple[str, ...]:
        """The comment lines, each from its ``#`` on."""
        return tuple(line.rstrip("\r") for line in self.block.decode().split("\n") if line.startswith("#"))

    @property
    def metadata(self) -> dict[str, str]:
        """The comments of the form ``# key = value``; of two equal keys the last counts."""
        pairs = (comment[1:].partition("=") for comment in self.comments)
        return {key.strip(" \t"): value.strip(" \t") for key, equals, value in pairs if equals}

    def word_line(self, i: int) -> int | None:
        """The line of ``words[i]`` in its file, or None if it comes from no file."""
        return self.word_lines[i] if self.word_lines else self.line

    def with_tree(
        self, heads: Sequence[int | None], relations: Sequence[str | None], *, deps: bool = False
    ) -> Sentence:
        """The same sentence with another tree: only HEAD and DEPREL change, and with ``deps`` also DEPS,
        which becomes a copy of the tree. A cell that keeps its value keeps its bytes."""
        n = len(self)
        if not len(heads) == len(relations) == n:
            raise InputError(f"{len(heads)} heads and {len(relations)} relations for a sentence of {n} words")
        lines = self.block.split(b"\n")
        for (row, cells), head, relation, old_head, old_relation in zip(
            _word_rows(lines), heads, relations, self.heads, self.relations, strict=True
        ):
            if head is not None and not 0 <= head <= n:
                raise InputError(f"word {cells[0].decode()} has head {head} in a sentence of {n} words")
            if head != old_head:
                cells[6] = b"_" if head is None else b"%d" % head
            if relation != old_relation:
                cells[7] = _cell(relation or "_").encode()
            if deps:
                cells[8] = b"_" if head is None else cells[6] + b":" + cells[7]
            lines[row] = b"\t".join(cells)
        relations = tuple(None if relation in ("", "_") else relation for relation in relations)
        return replace(self, heads=tuple(heads), relations=relations, block=b"\n".join(lines))

    def with_tags(self, *, upos: Sequence[str] | None = None, xpos: Sequence[str] | None = None) -> Sentence:
        """The same sentence with other tags: only the columns that are given change."""
        columns = [
            (column, name, tuple(tags))
            for column, name, tags in ((3, "upos", upos), (4, "xpos", xpos))
            if tags is not None
        ]
        for _, name, tags in columns:
            if len(tags) != len(self):
                raise InputError(f"{len(tags)} {name} tags for a sentence of {len(self)} words")
        lines = self.block.split(b"\n")
        for word, (row, cells) in enumerate(_word_rows(lines)):
            for column, _, tags in columns:
                cells[column] = _cell(tags[word]).encode()
            lines[row] = b"\t".join(cells)
        return replace(self, block=b"\n".join(lines), **{name: tags for _, name, tags in columns})

    def with_misc(self, values: Sequence[Mapping[str, str | None]]) -> Sentence:
        """The same sentence with ``key=value`` pairs in MISC, for each word its own. A key that is there gets its new
        value in its place, others are added at the end, a key with None is taken out; all else stays."""
        if len(values) != len(self):
            raise InputError(f"MISC values for {len(values)} words in a sentence of {len(self)} words")
        lines = self.block.split(b"\n")
        for (row, cells), pairs in zip(_word_rows(lines), values, strict=True):
            misc, end = cells[9].rstrip(b"\r"), cells[9][len(cells[9].rstrip(b"\r")) :]
            cells[9] = _with_pairs(misc, pairs) + end
            lines[row] = b"\t".join(cells)
        return replace(self, block=b"\n".join(lines))

    def to_bytes(self) -> bytes:
        """The sentence as CoNLL-U, byte for byte as it was read."""
        return self.prefix + self.block


def _word_rows(lines: Sequence[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """The cells of each word line, and where it stands. Words are the lines whose ID is a plain number."""
    for row, line in enumerate(lines):
        cells = line.split(b"\t")
        if cells[0].isdigit():
            yield row, cells


def _with_pairs(misc: bytes, pairs: Mapping[str, str | None]) -> bytes:
    """MISC with other values for some keys; a key that is there twice stays once."""
    new = {key.encode(): None if value is None else f"{key}={_cell(value)}".encode() for key, value in pairs.items()}
    kept: list[bytes | None] = []
    for item in () if misc in (b"", b"_") else misc.split(b"|"):
        key = item.partition(b"=")[0]
        kept.append(new.pop(key, None) if key.decode() in pairs else item)
    return b"|".join(item for item in (*kept, *new.values()) if item is not None) or b"_"


def _cell(value: str) -> str:
    """Check that a value fits into one cell of CoNLL-U."""
    if "\t" in value or "\n" in value or "\r" in value:
        raise InputError(f"{value!r} has a tab or a line end in it, which CoNLL-U cannot hold")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{value!r} is not valid Unicode and cannot be written as UTF-8") from None
    return value
