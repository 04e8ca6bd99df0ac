"""The words of a parse and the tokens of a spaCy Doc: which token consists of which words.

The text of a Doc is the text that was given, so white space that is more than a space is a token of its own, and a
multiword token is split only if its words are its pieces (*don't* = *do* + *n't*). Otherwise (*au* = *à* + *le*) it is
one token of the Doc.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from easyfirst.treebank.raw_text import Token

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Placed(NamedTuple):
    """A sentence of a Doc: the tokens ``begin`` to ``end``, and how many words those of them have that are words."""

    begin: int
    end: int
    tokens: tuple[int, ...]
    """The positions in the Doc of the tokens that are not white space."""
    n_words: tuple[int, ...]
    """The number of words of each of these tokens."""


class NewTokens(NamedTuple):
    """The tokens of a Doc that is to be made, and its sentences."""

    words: list[str]
    spaces: list[bool]
    sentences: list[Placed]


def cut_text(text: str, sentences: Sequence[Sequence[Token]]) -> NewTokens:
    """Cut a text into the tokens of a Doc. White space belongs to the sentence before it, or else to the first."""
    words: list[str] = []
    spaces: list[bool] = []
    placed: list[Placed] = []
    at = 0

    def skip_to(start: int) -> None:
        """Add the white space before ``start``. One space belongs to the token before."""
        nonlocal at
        if words and text.startswith(" ", at) and at < start:
            spaces[-1], at = True, at + 1
        if at < start:
            words.append(text[at:start])
            spaces.append(False)
            at = start

    for tokens in sentences:
        skip_to(tokens[0].start)
        begin = len(words) if placed else 0
        if placed:
            placed[-1] = placed[-1]._replace(end=begin)
        positions: list[int] = []
        n_words: list[int] = []
        for token in tokens:
            for start, end, n in _pieces(text, token):
                skip_to(start)
                positions.append(len(words))
                n_words.append(n)
                words.append(text[start:end])
                spaces.append(False)
                at = end
        placed.append(Placed(begin, len(words), tuple(positions), tuple(n_words)))
    skip_to(len(text))
    if placed:
        placed[-1] = placed[-1]._replace(end=len(words))
    elif words:
        placed.append(Placed(0, len(words), (), ()))
    return NewTokens(words, spaces, placed)


def _pieces(text: str, token: Token) -> Iterator[tuple[int, int, int]]:
    """Yield the start, the end and the number of words of each piece of a token: its words, if the token consists of
    them, or else the whole token."""
    pieces: list[tuple[int, int, int]] = []
    at = token.start
    for word in token.words if len(token.words) > 1 else ():
        while at < token.end and text[at].isspace():
            at += 1
        if not text.startswith(word, at, token.end):
            break
        pieces.append((at, at + len(word), 1))
        at += len(word)
    if at == token.end and len(pieces) == len(token.words):
        yield from pieces
    else:
        yield token.start, token.end, len(token.words)


def find_sentences(
    doc: Doc, found: Sequence[Sequence[Token]], starts: Sequence[int]
) -> tuple[list[Placed], list[tuple[Token, ...]]]:
    """Return the sentences of a Doc, and the tokens of those that have words.

    ``found`` are the sentences that a tokenizer found in its text. Such a sentence begins with the first token of the
    Doc that does not begin before it. ``starts`` has a value for each token: 1 if a sentence begins there, -1 if none
    does, and 0 if the tokenizer decides. A token that is a multiword token of the tokenizer has the words of that one.
    """
    multiword = {(token.start, token.end): token.words for tokens in found for token in tokens if len(token.words) > 1}
    spans = [None if token.text.isspace() else (token.idx, token.idx + len(token)) for token in doc]
    text = doc.text
    begins = _sentence_begins(spans, [tokens[0].start for tokens in found[1:]], starts)
    placed: list[Placed] = []
    sentences: list[tuple[Token, ...]] = []
    for begin, end in pairwise([*begins, len(doc)]):
        words = [(i, span) for i, span in enumerate(spans[begin:end], begin) if span is not None]
        tokens = tuple(Token(*span, multiword.get(span) or (text[span[0] : span[1]],)) for _, span in words)
        placed.append(Placed(begin, end, tuple(i for i, _ in words), tuple(len(token.words) for token in tokens)))
        if tokens:
            sentences.append(tokens)
    return placed, sentences


def _sentence_begins(spans: Sequence[tuple[int, int] | None], found: Sequence[int], starts: Sequence[int]) -> list[int]:
    """Return the positions of the first tokens of all sentences, given the spans of the tokens (None: white space) and
    where the tokenizer found sentences, after the first, in the text."""
    begins: list[int] = []
    at = 0
    for i, (span, known) in enumerate(zip(spans, starts, strict=True)):
        is_found = False
        while span is not None and at < len(found) and found[at] <= span[0]:
            is_found, at = True, at + 1
        if i == 0 or known == 1 or (is_found and known == 0):
            begins.append(i)
    return begins
