"""A text, split into sentences and tokens."""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.text.sentences import joined, sentences_of
from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text and the tokens of each of its sentences."""

    text: str
    tokens: tuple[tuple[Token, ...], ...]

    def joined(self) -> TokenizedText:
        """Return the text as one sentence, cut only if it is too long."""
        return TokenizedText(self.text, tuple(map(tuple, joined(self.tokens))))

    def sentences(self) -> list[Sentence]:
        """Return the sentences as CoNLL-U has them, without tags and trees."""
        return list(sentences_of(self.text, self.tokens))
