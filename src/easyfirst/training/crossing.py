"""Crossing arcs in training: projective trees for all training sentences, with relations that encode what was lifted.

A complete tree is lifted as ``treebank.lifting`` describes. In a partial tree, whose known arcs may fit no projective
tree either, arcs are checked from the top down: one that does not fit the arcs before it is lifted as far as the heads
above are known, and its word has no known head if that is not enough.

A relation that few lifted words would have cannot be learnt. Such words keep their plain relation, so that a treebank
with hardly any crossing arcs adds no relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from easyfirst.constraints.feasible import HeadSets, find_tree
from easyfirst.errors import DataError
from easyfirst.treebank.lifting import DOWN, UP, Label, Lifted, Mark, lift
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.sentence import Sentence

MIN_COUNT = 5  # the number of training words that a relation with a mark must have
NO_HEAD = -1


@dataclass(frozen=True, slots=True)
class LiftedSentences:
    """Training sentences whose known heads fit projective trees."""

    sentences: list[Sentence]
    crossing: str | None = None  # the scheme, if there are relations with a mark
    n_sentences: int = 0  # the sentences whose trees were changed
    n_arcs: int = 0  # the words that were lifted, or lost their head
    n_restorable: int = 0  # the lifted words that are marked

    @classmethod
    def of(cls, sentences: Sequence[Sentence], scheme: str) -> LiftedSentences:
        """Lift the crossing arcs of all sentences."""
        lifted = {n: found for n, s in enumerate(sentences) if (found := _lift(s)) is not None}
        n_arcs = sum(_n_changes(found, sentences[n]) for n, found in lifted.items())
        if not lifted:
            return cls(list(sentences))
        _refuse_arrows(sentences)
        marks = _choose_marks(sentences, lifted, scheme)
        result = list(sentences)
        for n, found in lifted.items():
            of_words = zip(sentences[n].relations, marks[n], strict=True)
            labels = [relation and Label(relation, mark).encode() for relation, mark in of_words]
            heads = [None if head < 0 else head for head in found.heads]
            result[n] = sentences[n].with_tree(heads, labels)
        n_restorable = sum(
            mark is not None and mark.is_lifted for of_sentence in marks.values() for mark in of_sentence
        )
        return cls(result, scheme if n_restorable else None, len(lifted), n_arcs, n_restorable)


def _lift(sentence: Sentence) -> Lifted | None:
    """Return the lifted tree of a sentence, with ``NO_HEAD`` for unknown heads, or None if it needs no lifting."""
    heads = [head for head in sentence.heads if head is not None]
    if len(heads) == len(sentence):
        return None if is_projective(heads) else lift(heads)
    return None if find_tree(HeadSets.fixed(sentence.heads)) is not None else _lift_partial(sentence.heads)


def _lift_partial(heads: Sequence[int | None]) -> Lifted:
    """Lift the known arcs of a partial tree that do not fit those above them."""

    def key(m: int) -> tuple[int, int, int]:
        depth, head = 0, heads[m - 1]
        while head:
            depth, head = depth + 1, heads[head - 1]
        return depth, abs((heads[m - 1] or m) - m), m

    kept: list[int | None] = [None] * len(heads)
    ways: dict[int, tuple[int, ...]] = {}
    for m in sorted((m for m, head in enumerate(heads, 1) if head is not None), key=key):
        way: list[int] = []
        kept[m - 1] = heads[m - 1]
        while find_tree(HeadSets.fixed(kept)) is None:
            head = kept[m - 1]
            assert head, "the first arc from a root always fits"
            way.append(head)
            kept[m - 1] = above = heads[head - 1] or None
            if above is None:
                break
        if way:
            ways[m] = tuple(way)
    return Lifted(tuple(NO_HEAD if head is None else head for head in kept), ways)


def _n_changes(lifted: Lifted, sentence: Sentence) -> int:
    return sum(
        head != (NO_HEAD if old is None else old) for head, old in zip(lifted.heads, sentence.heads, strict=True)
    )


def _choose_marks(
    sentences: Sequence[Sentence], lifted: dict[int, Lifted], scheme: str
) -> dict[int, list[Mark | None]]:
    """Return the marks of the words of each lifted sentence, without rare ones."""

    def mark(n: int, words: set[int]) -> list[Mark | None]:
        return lifted[n].marks(sentences[n].relations, scheme, words)

    possible = {
        n: {m for m in found.ways if found.heads[m - 1] != NO_HEAD and sentences[n].relations[m - 1] is not None}
        for n, found in lifted.items()
    }
    marks = {n: mark(n, words) for n, words in possible.items()}
    lifts = {n: [_without_path(each) for each in of_sentence] for n, of_sentence in marks.items()}
    counts = Counter(
        (relation, each) for n in lifted for relation, each in zip(sentences[n].relations, lifts[n], strict=True)
    )
    frequent = {
        n: {m for m in words if counts[sentences[n].relations[m - 1], lifts[n][m - 1]] >= MIN_COUNT}
        for n, words in possible.items()
    }
    marks = {n: mark(n, words) for n, words in frequent.items()}
    counts = Counter(
        (relation, each) for n in lifted for relation, each in zip(sentences[n].relations, marks[n], strict=True)
    )
    return {
        n: [
            each if counts[relation, each] >= MIN_COUNT else _without_path(each)
            for relation, each in zip(sentences[n].relations, of_sentence, strict=True)
        ]
        for n, of_sentence in marks.items()
    }


def _without_path(mark: Mark | None) -> Mark | None:
    return Mark(True, mark.head_relation) if mark is not None and mark.is_lifted else None


def _refuse_arrows(sentences: Sequence[Sentence]) -> None:
    """Raise :class:`DataError` if the name of a relation looks as if it had a mark."""
    for sentence in sentences:
        for i, relation in enumerate(sentence.relations):
            if relation and (UP in relation or DOWN in relation):
                message = f"the relation {relation!r} has an arrow, as lifted arcs do; rename it, or use --projective"
                raise DataError(message, source=sentence.source, line=sentence.word_line(i))
