"""The words of sentences and parses, as views of the columns: nothing is computed before it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from operator import getitem
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, overload

from easyfirst.treebank.misc import entries

if TYPE_CHECKING:
    from easyfirst.treebank.raw_text import Place
    from easyfirst.treebank.sentence import Sentence
    from easyfirst.treebank.tree import Tree


class ArcProbabilities(Protocol):
    """The probabilities of arcs and labels, one for each word."""

    @property
    def arcs(self) -> Sequence[float]: ...

    @property
    def labels(self) -> Sequence[float]: ...


class Word:
    """A word of a :class:`Parse` or a :class:`Sentence`, with its columns and its place in the tree and in the text.

    Its ``str`` is its form. Two words are equal if they have the same place in equal sentences.
    """

    __slots__ = ("_i", "_words")

    def __init__(self, words: Words, i: int) -> None:
        self._words = words
        self._i = i

    @property
    def id(self) -> int:
        """The number of the word in its sentence, counted from 1."""
        return self._i + 1

    @property
    def form(self) -> str:
        """The word, as FORM has it."""
        return self._words.sentence.forms[self._i]

    @property
    def lemma(self) -> str:
        """The lemma; like the other columns, ``_`` if there is none."""
        return self._words.sentence.lemmas[self._i]

    @property
    def upos(self) -> str:
        """The universal part-of-speech tag."""
        return self._words.sentence.upos[self._i]

    @property
    def xpos(self) -> str:
        """The tag of the treebank's own tagset."""
        return self._words.sentence.xpos[self._i]

    @property
    def feats(self) -> str:
        """The features, such as ``Case=Nom|Number=Sing``."""
        return self._words.sentence.feats[self._i]

    @property
    def features(self) -> dict[str, str]:
        """The features by name, such as ``{"Case": "Nom", "Number": "Sing"}``."""
        return _mapping(self.feats)

    @property
    def head(self) -> Word | None:
        """The head. The root of the tree has none, so it is None, and also if the head is not known."""
        head = self.head_id
        return Word(self._words, head - 1) if head else None

    @property
    def head_id(self) -> int | None:
        """The ID of the head, 0 for the root; None if it is not known."""
        return self._words.heads[self._i]

    @property
    def relation(self) -> str | None:
        """The relation to the head; None if it is not known."""
        return self._words.relations[self._i]

    @property
    def deps(self) -> str:
        """The enhanced dependencies."""
        return self._words.sentence.deps[self._i]

    @property
    def misc(self) -> dict[str, str]:
        """The entries of MISC, such as ``{"SpaceAfter": "No"}``. The value of an entry without ``=`` is empty."""
        return _mapping(self._words.sentence.misc[self._i])

    @property
    def children(self) -> tuple[Word, ...]:
        """The modifiers, from left to right."""
        return self._words.some(self._words.modifiers[self.id])

    @property
    def lefts(self) -> tuple[Word, ...]:
        """The modifiers to the left, from left to right."""
        return self._words.some(m for m in self._words.modifiers[self.id] if m < self.id)

    @property
    def rights(self) -> tuple[Word, ...]:
        """The modifiers to the right, from left to right."""
        return self._words.some(m for m in self._words.modifiers[self.id] if m > self.id)

    @property
    def subtree(self) -> tuple[Word, ...]:
        """The word and all words below it, from left to right."""
        return self._words.some(self._words.tree.subtree(self.id))

    @property
    def ancestors(self) -> tuple[Word, ...]:
        """The head, the head of that, and so on up to the root of the tree."""
        return self._words.some(self._words.tree.ancestors(self.id))

    @property
    def start(self) -> int:
        """The position of its first character in the text of the document, or in that of a sentence without a document.

        If a multiword token does not consist of its words, such as *du* of *de* and *le*, they have its start and end.
        """
        return self._words.spans[self._i][0]

    @property
    def end(self) -> int:
        """The position after its last character."""
        return self._words.spans[self._i][1]

    @property
    def text(self) -> str:
        """The characters from ``start`` to ``end``. They are those of the form, but for white space and multiword
        tokens."""
        return self._words.place.between(self.start, self.end)

    @property
    def text_with_ws(self) -> str:
        """The text with the white space that follows it."""
        return self.text + self._words.space_after(self._i)

    @property
    def arc_confidence(self) -> float | None:
        """The probability that the head is right; None if the model has no calibration, and for a word that was not
        parsed."""
        known = self._words.confidence
        return None if known is None else known.arcs[self._i]

    @property
    def label_confidence(self) -> float | None:
        """The probability that the head and the relation are right; None as for ``arc_confidence``."""
        known = self._words.confidence
        return None if known is None else known.labels[self._i]

    def __str__(self) -> str:
        return self.form

    def __format__(self, spec: str) -> str:
        return format(self.form, spec)

    def __repr__(self) -> str:
        return f"Word(id={self.id}, form={self.form!r}, head_id={self.head_id}, relation={self.relation!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Word):
            return NotImplemented
        owner, others = self._words.owner, other._words.owner
        return self._i == other._i and (owner is others or owner == others)

    def __hash__(self) -> int:
        return hash((self._i, self.form, self.head_id))

    def __reduce__(self) -> tuple[Any, ...]:
        return getitem, (self._words.owner, self._i)


class Words:
    """What the words of a sentence have in common."""

    def __init__(
        self,
        owner: WordSequence,
        sentence: Sentence,
        heads: Sequence[int | None],
        relations: Sequence[str | None],
        *,
        place: Place | None = None,
        confidence: Callable[[], ArcProbabilities | None] | None = None,
    ) -> None:
        """Take the columns from ``sentence``, the tree from ``heads`` and ``relations``, and positions from ``place``,
        or from the sentence if it has no place or other words."""
        self.owner = owner
        self.sentence = sentence
        self.heads = heads
        self.relations = relations
        self._place = place
        self._confidence = confidence

    @cached_property
    def confidence(self) -> ArcProbabilities | None:
        return None if self._confidence is None else self._confidence()

    @cached_property
    def tree(self) -> Tree:
        """The tree, in which a word without a known head is below 0."""
        from easyfirst.treebank.tree import Tree  # it imports the module of sentences

        return Tree(tuple([head or 0 for head in self.heads]), tuple([label or "_" for label in self.relations]))

    @cached_property
    def modifiers(self) -> list[list[int]]:
        return self.tree.modifiers()

    @cached_property
    def place(self) -> Place:
        from easyfirst.treebank.raw_text import Place  # it imports the module of sentences

        place = self._place
        if place is not None and sum(len(token.words) for token in place.tokens) == len(self.heads):
            return place
        return Place.of(self.sentence)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        return self.place.spans()

    def space_after(self, i: int) -> str:
        """Return the white space after a word."""
        next_start = self.spans[i + 1][0] if i + 1 < len(self.spans) else self.place.end_of_space()
        return self.place.between(self.spans[i][1], next_start) if next_start > self.spans[i][1] else ""

    def some(self, ids: Iterable[int]) -> tuple[Word, ...]:
        """Return the words with these IDs."""
        return tuple([Word(self, m - 1) for m in ids])


class WordSequence:
    """A sequence of words. An index counts from 0, although the IDs of words count from 1."""

    __slots__ = ()

    def __len__(self) -> int:
        raise NotImplementedError

    def _words_shared(self) -> Words:
        """Return what the words have in common."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Word]:
        """Iterate over the words."""
        words = self._words_shared()
        return (Word(words, i) for i in range(len(self)))

    @overload
    def __getitem__(self, index: SupportsIndex) -> Word: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Word, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Word | tuple[Word, ...]:
        """Return a word, counted from 0, or the words of a slice."""
        words = self._words_shared()
        places = range(len(self))[index]
        return Word(words, places) if isinstance(places, int) else tuple([Word(words, i) for i in places])

    @property
    def words(self) -> tuple[Word, ...]:
        """The words."""
        return tuple(self)

    @property
    def text(self) -> str:
        """The sentence as it is written in its text."""
        place = self._words_shared().place
        return place.between(place.start, place.end)


def _mapping(cell: str) -> dict[str, str]:
    """Return the entries of a cell of FEATS or MISC."""
    return {key: value for key, _, value in entries(cell)}
