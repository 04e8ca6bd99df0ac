"""Sentences as few values, so that they pickle small: the bytes they were read from, or their columns as texts."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence

COLUMN_NAMES = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "relations", "deps", "misc")
TEXT_COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "relations", "deps", "misc")
_SEPARATOR = "\t"  # which no cell has

Packed = str | tuple[str | None, ...] | None


def pack_sentence(sentence: Sentence) -> tuple[Any, ...]:
    """Return the arguments of :func:`restore_sentence`."""
    lines = sentence.lines
    about = (sentence.source, sentence.line)
    if lines is not None:
        original = (sentence.prefix + lines.block, lines.in_file)
        old = dict(zip(COLUMN_NAMES, lines.columns, strict=True))
        changed = [name for name in COLUMN_NAMES if getattr(sentence, name) != old[name]]
        columns = {name: pack_texts(getattr(sentence, name), name) for name in changed if name != "heads"}
        packed = (original, about, columns, sentence.heads if "heads" in changed else None)
        if _is_one_sentence(*original, *about) and restore_sentence(*packed) == sentence:
            return packed
    columns = {name: pack_texts(getattr(sentence, name), name) for name in TEXT_COLUMNS}
    given = {name: cells for name, cells in columns.items() if cells is not None}
    known = {"multiword": sentence.multiword, "comments": sentence.comments, "lines": lines, "prefix": sentence.prefix}
    others = {name: value for name, value in known.items() if value}
    return (None, about, given, sentence.heads, *([others] if others else []))


def restore_sentence(
    original: tuple[bytes, bool] | None,
    about: tuple[str | None, int | None],
    columns: dict[str, Packed],
    heads: tuple[int | None, ...] | None,
    others: dict[str, Any] | None = None,
) -> Sentence:
    """Return the sentence of :func:`pack_sentence`."""
    if original is not None:
        sentence = _read(*original, *about)
        changed: dict[str, Any] = {name: unpack_texts(cells, len(sentence), name) for name, cells in columns.items()}
        return replace(sentence, **changed, heads=heads or sentence.heads)
    assert heads is not None
    values: dict[str, Any] = {name: unpack_texts(columns.get(name), len(heads), name) for name in TEXT_COLUMNS}
    return Sentence(**values, heads=heads, source=about[0], line=about[1], **(others or {}))


def pack_texts(cells: tuple[str | None, ...], name: str = "") -> Packed:
    """Return the cells of a column as one text, or None if all of them are empty."""
    if set(cells) == {_empty(name)}:
        return None
    if None in cells or any(_SEPARATOR in cell for cell in cells if cell is not None):
        return cells
    return _SEPARATOR.join(cell for cell in cells if cell is not None)


def unpack_texts(packed: Packed, n: int, name: str = "") -> tuple[str | None, ...]:
    """Return the ``n`` cells of a column."""
    if packed is None:
        return (_empty(name),) * n
    return tuple(packed.split(_SEPARATOR)) if isinstance(packed, str) else packed


def _empty(name: str) -> str | None:
    """Return the value of an empty cell."""
    return None if name == "relations" else "_"


def _is_one_sentence(raw: bytes, in_file: bool, source: str | None, line: int | None) -> bool:
    return line is not None and len(list(ConlluReader(BytesIO(raw), ""))) == 1


def _read(raw: bytes, in_file: bool, source: str | None, line: int | None) -> Sentence:
    """Return the sentence that was read from these bytes."""
    [sentence] = ConlluReader(BytesIO(raw), source or "")
    assert sentence.lines is not None
    first = (line or 0) - (sentence.line or 0)
    multiword = [replace(token, line=(token.line or 0) + first if in_file else line) for token in sentence.multiword]
    lines = replace(sentence.lines, in_file=in_file)
    return replace(sentence, source=source, line=line, lines=lines, multiword=tuple(multiword))
