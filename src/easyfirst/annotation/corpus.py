"""The sentences to annotate: as bytes, with the probability that the parser is right about each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from io import BytesIO

from easyfirst.annotation.records import CONFIRMED
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence


class Order(str, Enum):
    """The order in which sentences are annotated."""

    doubtful = "doubtful"
    given = "given"


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence of the corpus."""

    block: bytes  # as CoNLL-U, with the bytes before it
    confidence: float | None  # the probability that the parser's tree is right
    n_words: int

    @property
    def doubt(self) -> float:
        """What sentences are sorted by; a sentence without a confidence comes last."""
        return 1.0 if self.confidence is None else self.confidence

    def read(self) -> Sentence:
        """Return the sentence, without a tree."""
        [sentence] = ConlluReader(BytesIO(self.block), "corpus")
        unknown = (None,) * len(sentence)
        return sentence.with_tree(unknown, unknown).with_misc([{CONFIRMED: None}] * len(sentence))


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences to annotate, numbered from 1."""

    items: tuple[Item, ...]
    trailer: bytes = b""  # the bytes after the last sentence

    @classmethod
    def read(cls, lines: Iterable[bytes], confidence: Iterable[float | None]) -> Corpus:
        """Read a corpus from the lines of CoNLL-U. ``confidence``: of each sentence; a value is taken only after its
        sentence has been read."""
        reader = ConlluReader(lines, "corpus")
        values = iter(confidence)
        items = [Item(sentence.original, next(values), len(sentence)) for sentence in reader]
        return cls(tuple(items), reader.trailer)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def n_words(self) -> int:
        return sum(item.n_words for item in self.items)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and 1 <= number <= len(self.items)

    def sentence(self, number: int) -> Sentence:
        """Return a sentence without a tree."""
        return self.items[number - 1].read()

    def ordered(self, order: Order) -> list[int]:
        """Return the numbers of all sentences in the order in which they are annotated: as they are in the corpus, or
        the least certain first."""
        numbers = range(1, len(self.items) + 1)
        if order is Order.given:
            return list(numbers)
        return sorted(numbers, key=lambda number: self.items[number - 1].doubt)
