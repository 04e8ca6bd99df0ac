"""Rows of tables from sentences, and sentences from rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

from easyfirst.counting import count
from easyfirst.errors import DataError
from easyfirst.tables.rows import (
    LISTS,
    NEW_DOCUMENT,
    SENTENCE_ID,
    TEXT,
    TOKEN_RANGE,
    EmptyNode,
    MultiwordToken,
    Probabilities,
    Row,
    Strings,
    shortened,
)
from easyfirst.treebank.conllu import EMPTY_NODE_ID, ConlluReader
from easyfirst.treebank.misc import ARC_CONFIDENCE, LABEL_CONFIDENCE, entries
from easyfirst.treebank.raw_text import surface_text
from easyfirst.treebank.sentence import Sentence

_NUMBER = "(0|[1-9][0-9]{0,14})"
_RANGE = re.compile(rf"(?:^|\|){TOKEN_RANGE}={_NUMBER}:{_NUMBER}(?=\||$)")
_PROBABILITY = re.compile(r"0(\.[0-9]{1,9})?|1(\.0{1,9})?")
_NEW_DOCUMENT = re.compile(r"#[ \t]*newdoc\b(?:[ \t]+id[ \t]*=[ \t]*(.*?)[ \t\r]*$)?")


class Documents:
    """Follows the ``# newdoc`` comments of a stream of sentences."""

    def __init__(self) -> None:
        self._current: str | None = None

    def id_of(self, sentence: Sentence) -> str | None:
        """Return the id of the document that the next sentence belongs to; None if it has none."""
        before = sentence.prefix.decode(errors="replace").split("\n") if sentence.prefix else ()
        for comment in (*before, *sentence.comments):
            if found := _NEW_DOCUMENT.match(comment):
                self._current = found[1] or None
        return self._current


def row_of(
    sentence: Sentence,
    *,
    doc_id: str | None = None,
    text: str | None = None,
    confidence: Probabilities | None = None,
    label_confidence: Probabilities | None = None,
) -> Row:
    """Return the row of a sentence.

    ``text`` is the text of the sentence as its document has it; by default it is that of the comment ``# text``, or
    else made from the forms. The confidence is read from MISC if it is not given.
    """
    metadata, misc, start, end = sentence.metadata, list(sentence.misc), *_no_places(len(sentence))
    for i, cell in enumerate(sentence.misc):
        misc[i], start[i], end[i] = _without_range(cell)
    multiword: list[MultiwordToken] = []
    for token in sentence.multiword:
        cell, first, last = _without_range(token.misc)
        inside = slice(token.words.start, token.words.stop)
        misc[inside] = sentence.misc[inside]
        if first is not None:
            start[inside], end[inside] = [first] * len(token.words), [last] * len(token.words)
        multiword.append(MultiwordToken(token.words.start + 1, token.words.stop, token.form, _given(cell)))
    sent_id = metadata.get("sent_id") or None
    shown = metadata.get("text") or surface_text(sentence)
    row = Row(
        doc_id,
        sent_id,
        shown if text is None else text,
        start=tuple(start),
        end=tuple(end),
        form=sentence.forms,
        lemma=_strings(sentence.lemmas),
        upos=_strings(sentence.upos),
        xpos=_strings(sentence.xpos),
        feats=_strings(sentence.feats),
        head=sentence.heads,
        deprel=sentence.relations,
        deps=_strings(sentence.deps),
        misc=_strings(misc),
        confidence=_probabilities(sentence, ARC_CONFIDENCE) if confidence is None else confidence,
        label_confidence=_probabilities(sentence, LABEL_CONFIDENCE) if label_confidence is None else label_confidence,
        multiword=tuple(multiword),
        empty=tuple(_empty_nodes(sentence)),
    )
    row = replace(row, comments=shortened(row, sentence.comments))
    written = sentence.to_bytes()
    return row if to_bytes(row) == written else replace(row, verbatim=written)


def to_bytes(row: Row) -> bytes:
    """Return the CoNLL-U of the columns of a row, whatever its verbatim bytes are."""
    first_words = {token.first: token for token in row.multiword}
    lines = list(row.comment_lines())
    empty: dict[int, list[EmptyNode]] = {}
    for node in row.empty:
        empty.setdefault(int(node.id.partition(".")[0]), []).append(node)
    lines += map(_empty_line, empty.get(0, ()))
    for m, cells in enumerate(zip(*row.columns, strict=True), 1):
        if token := first_words.get(m):
            misc = _cell(row.with_place(token.misc, m))
            lines.append(f"{m}-{token.last}\t{token.form}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
        lines.append(f"{m}\t" + "\t".join(["_" if value is None else str(value) for value in cells]))
        lines += map(_empty_line, empty.get(m, ()))
    return "\n".join([*lines, "", ""]).encode()


def sentences_of(
    rows: Iterable[Row], source: str | None = None, documents: Documents | None = None
) -> Iterator[Sentence]:
    """Yield the sentence of each row. One whose ``doc_id`` differs from that of the ``documents`` until there begins a
    document, also if the rows before it are missing."""
    documents = documents or Documents()
    return (next_sentence(row, documents, source, number) for number, row in enumerate(rows, 1))


def next_sentence(row: Row, documents: Documents, source: str | None = None, number: int | None = None) -> Sentence:
    """Return the sentence of a row that follows others, as :func:`sentences_of` yields it."""
    sentence = sentence_of(row, source, number)
    if documents.id_of(sentence) == row.doc_id or row.doc_id is None:
        return sentence
    comments = _present(row) if row.comments is None else row.comments
    first = f"{NEW_DOCUMENT} = {row.doc_id}\n".encode()
    verbatim = None if row.verbatim is None else first + row.verbatim
    sentence = sentence_of(replace(row, comments=(NEW_DOCUMENT, *comments), verbatim=verbatim), source, number)
    documents.id_of(sentence)
    return sentence


def _present(row: Row) -> tuple[str, ...]:
    """Return the comments that the columns of a row call for."""
    return tuple(name for name, value in ((SENTENCE_ID, row.sent_id), (TEXT, row.text)) if value is not None)


def sentence_of(row: Row, source: str | None = None, number: int | None = None) -> Sentence:
    """Return the sentence of a row, which is the ``number``-th of its ``source``.

    Raise a :class:`DataError` if it is not a sentence of CoNLL-U.
    """
    place = "a row" if number is None else f"row {number}"
    name = place if source is None else f"{source}, {place}"
    _check(row, source, number)
    sentence = None if row.verbatim is None else _only(row.verbatim, name)
    if sentence is not None and len(sentence) == len(row):
        sentence = _with_columns(sentence, row)
    else:
        sentence = _only(to_bytes(row), name)
    if sentence is None:
        raise DataError("this row is not one sentence; check its columns", source=source, line=number)
    lines = None if sentence.lines is None else replace(sentence.lines, in_file=False)
    multiword = tuple(replace(token, line=number) for token in sentence.multiword)
    return replace(sentence, source=source, line=number or 1, lines=lines, multiword=multiword)


def _only(block: bytes, name: str) -> Sentence | None:
    sentences = list(ConlluReader(BytesIO(block), name))
    return sentences[0] if len(sentences) == 1 else None


def _with_columns(sentence: Sentence, row: Row) -> Sentence:
    """Return the sentence of verbatim bytes with the columns of the row, which may have been changed since."""
    forms, lemmas, upos, xpos, feats, heads, relations, deps, misc = row.columns
    labels = [_text(label) for label in relations]
    is_read = [label == old for label, old in zip(labels, sentence.relations, strict=True)]  # and needs no check
    changed = [None if same else label for label, same in zip(labels, is_read, strict=True)]
    tree = sentence.with_tree([_number(head) for head in heads], changed)
    versions = zip(is_read, sentence.relations, tree.relations, strict=True)
    tree = replace(tree, relations=tuple(old if same else new for same, old, new in versions))
    others = {"lemmas": lemmas, "upos": upos, "xpos": xpos, "feats": feats, "deps": deps, "misc": misc}
    cells = {name: tuple(map(_cell, values)) for name, values in others.items()}
    return replace(tree, forms=tuple(map(_cell, forms)), **cells)


def _number(value: str | int | None) -> int | None:
    return None if value is None else int(value)


def _text(value: str | int | None) -> str | None:
    return None if value is None else str(value)


def _check(row: Row, source: str | None, number: int | None) -> None:
    """Raise a :class:`DataError` if the columns do not fit together, or a value not into a line of CoNLL-U."""
    for problem in problems_of(row):
        raise DataError(problem, source=source, line=number)


def problems_of(row: Row) -> Iterator[str]:
    """Yield what keeps a row from being a sentence of CoNLL-U."""
    n = len(row)
    for name in LISTS:
        if len(values := getattr(row, name)) != n:
            yield f"{name} has {count(len(values), 'value')} for {count(n, 'word')}; give one for each word"
    for token in row.multiword:
        known = isinstance(token.first, int) and isinstance(token.last, int) and token.form is not None  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison]
        if not known or not 1 <= token.first <= token.last <= n:
            yield f"{tuple(token)} is not a multiword token of {count(n, 'word')}: first, last, form, misc; correct it"
    for one, other in pairwise(sorted(row.multiword, key=lambda token: token.first)):
        if one.last >= other.first:
            yield f"the multiword tokens {one.first}-{one.last} and {other.first}-{other.last} overlap; correct them"
    for node in row.empty:
        found = EMPTY_NODE_ID.fullmatch(node.id or "")
        if not found or int(found[1]) > n or node.form is None:  # pyright: ignore[reportUnnecessaryComparison]
            yield f"the empty node {node.id!r} needs a form, and an id such as {n}.1 after word {n}; correct it"
    cells = [value for name in LISTS for value in getattr(row, name) if isinstance(value, str)]
    cells += [value for node in (*row.multiword, *row.empty) for value in node if isinstance(value, str)]
    if set("\t\n") & set("".join(cells)):
        wrong = next(cell for cell in cells if "\t" in cell or "\n" in cell)
        yield f"{wrong!r} has a tab or a line end in it, which CoNLL-U cannot hold; correct it"
    if row.doc_id is not None and "\n" in row.doc_id:
        yield f"the doc_id {row.doc_id!r} has a line end in it, which CoNLL-U cannot hold; correct it"
    for comment in row.comment_lines():
        if not comment.startswith("#") or "\n" in comment:
            yield f"the comment {comment!r} is not one line that begins with #; correct it"


def _empty_nodes(sentence: Sentence) -> Iterator[EmptyNode]:
    if sentence.lines is None or b"." not in sentence.lines.block:
        return
    for line in sentence.lines.block.decode().split("\n"):
        cells = line.rstrip("\r").split("\t")
        if EMPTY_NODE_ID.fullmatch(cells[0]):
            number, form, *tags, _, _, deps, misc = cells
            yield EmptyNode(number, form, *map(_given, (*tags, deps, misc)))


def _empty_line(node: EmptyNode) -> str:
    number, form, *tags, deps, misc = node
    return "\t".join([number, form, *map(_cell, tags), "_", "_", _cell(deps), _cell(misc)])


def _without_range(misc: str) -> tuple[str, int | None, int | None]:
    """Return a cell of MISC without the position of the token, unless more follows it, and the position."""
    if TOKEN_RANGE not in misc or not (found := _RANGE.search(misc)):
        return misc, None, None
    rest = misc if found.end() < len(misc) else misc[: found.start()] or "_"
    return rest, int(found[1]), int(found[2])


def _no_places(n: int) -> tuple[list[int | None], list[int | None]]:
    return [None] * n, [None] * n


def _probabilities(sentence: Sentence, sought: str) -> Probabilities:
    """Return the values of a key in MISC; None where there is none, or one that is not a probability."""
    values: list[float | None] = [None] * len(sentence)
    for i, misc in enumerate(sentence.misc):
        for key, _, cell in entries(misc) if sought in misc else ():
            if key == sought and _PROBABILITY.fullmatch(cell):
                values[i] = float(cell)
    return tuple(values)


def _strings(cells: Sequence[str]) -> Strings:
    return tuple([None if cell == "_" else cell for cell in cells])


def _given(cell: str) -> str | None:
    return None if cell == "_" else cell


def _cell(value: str | int | None) -> str:
    return "_" if value is None else str(value)
