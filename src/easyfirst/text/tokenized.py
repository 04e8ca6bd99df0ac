"""A text, split into sentences and tokens."""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.text.sentences import sentences_of
from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text and the tokens of each of its sentences."""

    text: str
    tokens: tuple[tuple[Token, ...], ...]

    def sentences(self) -> list[Sentence]:
        """Return the sentences as CoNLL-U has them, without tags and trees."""
        return list(sentences_of(self.text, self.tokens))
