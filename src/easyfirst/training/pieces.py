"""Sentences as lists of pieces, which augmentation can change: a token, its words, and the white space after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from easyfirst.model.word_cuts import is_letter
from easyfirst.treebank.raw_text import Paragraph, Token


class Piece(NamedTuple):
    """A token and what separates it from the next."""

    form: str
    words: tuple[str, ...]
    space: str = " "  # the white space after it; empty if the next token follows directly

    @classmethod
    def of(cls, form: str, space: str = " ") -> Piece:
        """Return a token of one word."""
        return cls(form, (form,), space)

    @property
    def is_plain(self) -> bool:
        """Whether this is a word of letters."""
        return len(self.words) == 1 and all(map(is_letter, self.form))

    @property
    def is_lower(self) -> bool:
        """Whether this is a word without capitals. Many scripts have none."""
        return self.is_plain and self.form == self.form.lower()

    @property
    def is_name(self) -> bool:
        """Whether this is a word in title case."""
        return self.is_plain and len(self.form) > 1 and self.form.istitle()

    def renamed(self, form: str) -> Piece:
        """Return a token of one word with another form."""
        return Piece(form, (form,), self.space)

    def spaced(self, space: str) -> Piece:
        return self._replace(space=space)


Pieces = list[Piece]  # of a sentence


def pieces_of(paragraph: Paragraph) -> list[Pieces]:
    """Return the sentences of a paragraph."""
    text = paragraph.text
    tokens = [token for sentence in paragraph.sentences for token in sentence]
    nexts = [token.start for token in tokens[1:]] + [len(text)]
    pieces = iter(
        Piece(text[token.start : token.end], token.words, " " if after > token.end else "")
        for token, after in zip(tokens, nexts, strict=True)
    )
    return [[next(pieces) for _ in sentence] for sentence in paragraph.sentences]


def paragraph_of(sentences: Sequence[Pieces]) -> Paragraph:
    """Return the paragraph that consists of these sentences."""
    text = ""
    found: list[tuple[Token, ...]] = []
    for sentence in sentences:
        tokens: list[Token] = []
        for piece in sentence:
            tokens.append(Token(len(text), len(text) + len(piece.form), piece.words))
            text += piece.form + piece.space
        found.append(tuple(tokens))
    return Paragraph(text.rstrip(), tuple(found))
