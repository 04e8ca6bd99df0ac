"""The rows of parses and documents in tables of parsed corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from easyfirst.confidence.estimates import rounded
from easyfirst.errors import InputError
from easyfirst.tables.arrow import sentence_table, word_table
from easyfirst.tables.identity import document_id, sentence_id
from easyfirst.tables.parquet import write_rows
from easyfirst.tables.rows import Row
from easyfirst.tables.sentences import Documents, row_of
from easyfirst.tables.words import sentence_frame, word_frame
from easyfirst.treebank.sentence import Sentence

if TYPE_CHECKING:
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse

Per: TypeAlias = Literal["word", "sentence"]


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What rows have of a parse, as for :meth:`Parse.to_bytes`."""

    deps: bool = False
    tags: bool = True
    confidence: bool = False


ALL_TAGS = RowOptions()


def parse_row(
    parse: Parse,
    options: RowOptions = ALL_TAGS,
    *,
    doc_id: str | None = None,
    text: str | None = None,
    comments: Sequence[str] = (),
) -> Row:
    """Return the row of a parse, with ``comments`` before its own. ``text`` is that of its document."""
    sentence = parse.to_sentence(deps=options.deps, tags=options.tags, confidence=options.confidence)
    if comments:
        sentence = replace(sentence, comments=(*comments, *sentence.comments))
    known = parse.confidence
    arcs, labels = (None, None) if known is None else (tuple(map(rounded, each)) for each in (known.arcs, known.labels))
    return row_of(sentence, doc_id=doc_id, text=text, confidence=arcs, label_confidence=labels)


def document_rows(
    document: Document,
    options: RowOptions = ALL_TAGS,
    *,
    doc_id: str | None = None,
    sent_ids: Sequence[str | None] | None = None,
    begins: bool = True,
) -> Iterator[Row]:
    """Yield the row of each sentence. By default, the sentences of the document ``d`` are ``d-1``, ``d-2``, ...

    Unless it ``begins`` here, the document continues the one before it. Raise an :class:`InputError` for an empty id.
    """
    if doc_id is not None and not (doc_id := document_id(doc_id)):
        raise InputError("the id of a document is empty; give one with other characters than white space")
    if sent_ids is None:
        numbers = range(1, len(document) + 1)
        sent_ids = [None if doc_id is None else sentence_id(doc_id, number) for number in numbers]
    headers = document.headers(sent_ids, doc_id if begins else None)
    for parse, tokens, header in zip(document, document.tokens, headers, strict=True):
        comments = [line for line in header.split("\n") if line]
        if begins and doc_id is None:
            comments, begins = ["# newdoc", *comments], False
        text = document.text[tokens[0].start : tokens[-1].end]
        yield parse_row(parse, options, doc_id=doc_id, text=text, comments=comments)


def arrow_table(rows: Iterable[Row], per: Per) -> Any:
    """Return a ``pyarrow.Table`` with one row for each word or sentence."""
    return (word_table if _is_word(per) else sentence_table)(rows)


def data_frame(rows: Iterable[Row], per: Per) -> Any:
    """Return a ``pandas.DataFrame`` with one row for each word or sentence."""
    return (word_frame if _is_word(per) else sentence_frame)(rows)


def _is_word(per: str) -> bool:
    if per not in ("word", "sentence"):
        raise InputError(f"per is {per!r}; a row is for each 'word' or for each 'sentence'")
    return per == "word"


def write_parquet(path: str | PathLike[str], items: Iterable[Document | Parse | Sentence]) -> None:
    """Write documents, parses or sentences to a Parquet file, one row for each sentence.

    The items may be a stream of any length, such as ``nlp.read(texts)``. The documents get the ids ``1``, ``2``, ...
    The file appears under its name when it is complete.
    """
    write_rows(path, _rows(items))


def _rows(items: Iterable[Document | Parse | Sentence]) -> Iterator[Row]:
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse

    if isinstance(items, Document | Parse | Sentence):
        items = (items,)
    documents, n_documents = Documents(), 0
    for number, item in enumerate(items, 1):
        if isinstance(item, Document):
            n_documents += 1
            yield from document_rows(item, doc_id=str(n_documents))
        elif isinstance(item, Parse):
            yield parse_row(item, doc_id=documents.id_of(item.sentence))
        elif isinstance(item, Sentence):  # pyright: ignore[reportUnnecessaryIsInstance]
            yield row_of(item, doc_id=documents.id_of(item))
        else:
            raise InputError(f"item {number} is of type {type(item).__name__}; give documents, parses or sentences")
