"""The row of a sentence in a table of parsed corpora, as plain Python values.

A row holds a sentence of CoNLL-U so that it can be written back byte for byte:

- ``form`` to ``misc`` are the columns of CoNLL-U with a value for each word; None is ``_``.
- ``start`` and ``end`` are the characters of each token in its document, ``TokenRange`` in MISC. The words of a
  multiword token have those of the token. ``misc`` does not repeat them.
- ``comments`` are all comment lines. ``# newdoc id``, ``# sent_id`` and ``# text`` without a value stand for the lines
  with the values of ``doc_id``, ``sent_id`` and ``text``.
- ``verbatim`` has the bytes of sentences that these columns do not reproduce, such as those with Windows line ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

NEW_DOCUMENT, SENTENCE_ID, TEXT = "# newdoc id", "# sent_id", "# text"
TEMPLATES = (NEW_DOCUMENT, SENTENCE_ID, TEXT)
"""The comments whose values are columns."""
TOKEN_RANGE = "TokenRange"

Strings = tuple[str | None, ...]
Numbers = tuple[int | None, ...]
Probabilities = tuple[float | None, ...]


class MultiwordToken(NamedTuple):
    """A multiword token: the ids of its first and last word, and its own cells."""

    first: int
    last: int
    form: str
    misc: str | None = None


class EmptyNode(NamedTuple):
    """An empty node of enhanced dependencies, with an id such as ``3.1``."""

    id: str
    form: str
    lemma: str | None = None
    upos: str | None = None
    xpos: str | None = None
    feats: str | None = None
    deps: str | None = None
    misc: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence. Every list from ``start`` to ``label_confidence`` has one value for each word."""

    doc_id: str | None
    sent_id: str | None
    text: str | None
    start: Numbers
    end: Numbers
    form: tuple[str, ...]
    lemma: Strings
    upos: Strings
    xpos: Strings
    feats: Strings
    head: Numbers
    deprel: Strings
    deps: Strings
    misc: Strings
    confidence: Probabilities  # the probability that the head is correct
    label_confidence: Probabilities  # the probability that head and relation are correct
    multiword: tuple[MultiwordToken, ...] = ()
    empty: tuple[EmptyNode, ...] = ()
    comments: tuple[str, ...] | None = None  # None: those that doc_id, sent_id and text call for
    verbatim: bytes | None = None

    def __len__(self) -> int:
        return len(self.form)

    @property
    def columns(self) -> tuple[Strings | Numbers, ...]:
        """The columns of CoNLL-U from FORM to MISC, with the positions of the tokens in MISC again."""
        tags = (self.lemma, self.upos, self.xpos, self.feats)
        return (self.form, *tags, self.head, self.deprel, self.deps, self.misc_with_places)

    @property
    def misc_with_places(self) -> Strings:
        """MISC with the positions of the tokens, except for multiword tokens, which have a line of their own."""
        in_multiword = {m for token in self.multiword for m in range(token.first, token.last + 1)}
        cells = enumerate(self.misc, 1)
        return tuple([cell if m in in_multiword else self.with_place(cell, m) for m, cell in cells])

    def with_place(self, misc: str | None, m: int) -> str | None:
        """Return a cell of MISC with the position of the token to which word ``m`` belongs, if it has one."""
        start, end = self.start[m - 1], self.end[m - 1]
        if start is None or end is None or (misc is not None and f"{TOKEN_RANGE}=" in misc):
            return misc
        place = f"{TOKEN_RANGE}={start}:{end}"
        return place if misc is None or misc == "_" else f"{misc}|{place}"

    def comment_lines(self) -> Iterator[str]:
        """Yield the comments as CoNLL-U has them."""
        text = None if self.text is None else " ".join(self.text.split())
        known = {NEW_DOCUMENT: self.doc_id, SENTENCE_ID: self.sent_id, TEXT: text}
        for comment in (SENTENCE_ID, TEXT) if self.comments is None else self.comments:
            if (value := known.get(comment)) is not None:
                yield f"{comment} = {value}"
            elif self.comments is not None:
                yield comment


def shortened(row: Row, comments: Iterable[str]) -> tuple[str, ...]:
    """Return comments without the values that the columns of a row reproduce."""
    short = dict(zip(replace(row, comments=TEMPLATES).comment_lines(), TEMPLATES, strict=True))
    return tuple(short.get(comment, comment) for comment in comments)


PLACES, TAGS, PROBABILITIES = ("start", "end"), ("lemma", "upos", "xpos", "feats"), ("confidence", "label_confidence")
LISTS = (*PLACES, "form", *TAGS, "head", "deprel", "deps", "misc", *PROBABILITIES)
"""The columns with a value for each word."""
