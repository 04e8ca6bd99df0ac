"""A text and the trees of its sentences, with the place of every token in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from easyfirst.results.parses import Parse
from easyfirst.treebank.raw_text import Token


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """What a model makes of a text. It can be gone through sentence by sentence: ``for parse in document``."""

    text: str
    sentences: tuple[Parse, ...]
    tokens: tuple[tuple[Token, ...], ...]
    """Of each sentence: where they stand in the text, and of which words they consist (one, or several if it is a
    multiword token). Between tokens there is nothing but white space."""

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Parse]:
        return iter(self.sentences)

    def __getitem__(self, number: int) -> Parse:
        return self.sentences[number]

    def __repr__(self) -> str:
        n_words = sum(map(len, self.sentences))
        shown = self.text if len(self.text) <= 40 else f"{self.text[:37]}..."
        return f"Document({shown!r}, {len(self)} sentences, {n_words} words)"

    def __str__(self) -> str:
        """The trees, drawn one after the other."""
        return "\n\n".join(parse.draw() for parse in self.sentences)

    def to_conllu(self, *, confidence: bool = False) -> str:
        """All sentences in CoNLL-U; MISC says where each token stands: ``TokenRange=start:end``. With ``confidence``,
        also how sure each arc and label is, as in :meth:`Parse.to_bytes`."""
        return "".join(parse.to_conllu(confidence=confidence) for parse in self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the text, and each sentence with its words and its tokens' places in the text."""
        return {"text": self.text, "sentences": [self.sentence_dict(number) for number in range(len(self))]}

    def sentence_dict(self, number: int) -> dict[str, Any]:
        """One sentence for JSON: what :meth:`Parse.to_dict` gives, with ``tokens``."""
        tokens: list[dict[str, Any]] = []
        first = 1
        for token in self.tokens[number]:
            last = first + len(token.words) - 1
            tokens.append({"start": token.start, "end": token.end, "words": [first, last]})
            first = last + 1
        return self.sentences[number].to_dict() | {"tokens": tokens}
