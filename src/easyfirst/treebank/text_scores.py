"""Scores of parses of raw text, whose tokens, sentences and words may differ from the gold ones, as defined by the
CoNLL 2018 shared task.

A token or sentence is correct if the gold side has the same span of characters. Words are aligned
(:mod:`easyfirst.treebank.alignment`), and a tag or an attachment is correct if it is that of the aligned gold word. For
an attachment, the two heads must be aligned or both words be roots. Relation subtypes (after ``:``) are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from easyfirst.treebank.alignment import Span, SpannedText, align, check_same_text
from easyfirst.treebank.scores import Agreement, tree_heads
from easyfirst.treebank.sentence import Sentence

METRICS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UAS", "LAS")
ROOT, UNALIGNED = -1, -2


class TextScores(NamedTuple):
    """All metrics of a text."""

    tokens: Agreement
    sentences: Agreement
    words: Agreement
    upos: Agreement
    xpos: Agreement
    uas: Agreement
    las: Agreement

    @property
    def metrics(self) -> dict[str, Agreement]:
        """The metrics under their official names, in their official order."""
        return dict(zip(METRICS, self, strict=True))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return all scores as plain values for JSON."""
        return {name: metric.to_dict() for name, metric in self.metrics.items()}


def score_text(gold: Iterable[Sentence], system: Iterable[Sentence]) -> TextScores:
    """Compare two treebanks of the same text.

    Raises :class:`easyfirst.errors.DataError` at the first place where their characters differ, not counting white
    space, or where a sentence has no tree.
    """
    gold_text, system_text = SpannedText.of(gold), SpannedText.of(system)
    check_same_text(gold_text, system_text)
    gold_words, system_words = _words(gold_text, "gold"), _words(system_text, "system")
    pairs = align(gold_text, system_text)
    gold_of = {s: g for g, s in pairs} | {ROOT: ROOT}
    aligned = [(gold_words[g], system_words[s]) for g, s in pairs]
    attached = [(g, s) for g, s in aligned if g.head == gold_of.get(s.head, UNALIGNED)]

    def over_words(correct: int, aligned: int | None = len(pairs)) -> Agreement:
        return Agreement(len(gold_text.words), len(system_text.words), correct, aligned)

    return TextScores(
        tokens=_compare_spans(gold_text.tokens, system_text.tokens),
        sentences=_compare_spans(gold_text.sentences, system_text.sentences),
        words=over_words(len(pairs), aligned=None),
        upos=over_words(sum(g.upos == s.upos for g, s in aligned)),
        xpos=over_words(sum(g.xpos == s.xpos for g, s in aligned)),
        uas=over_words(len(attached)),
        las=over_words(sum(g.relation == s.relation for g, s in attached)),
    )


class _Word(NamedTuple):
    """The values of a word to compare."""

    upos: str
    xpos: str
    head: int  # its position in the text, or ROOT
    relation: str  # without subtype


def _words(text: SpannedText, side: str) -> list[_Word]:
    words: list[_Word] = []
    for number, sentence in enumerate(text.treebank, 1):
        heads = [len(words) + h - 1 if h else ROOT for h in tree_heads(number, side, sentence)]
        relations = [(label or "_").partition(":")[0] for label in sentence.relations]
        words += map(_Word, sentence.upos, sentence.xpos, heads, relations)
    return words


def _compare_spans(gold: Sequence[Span], system: Sequence[Span]) -> Agreement:
    return Agreement(len(gold), len(system), len(set(gold) & set(system)))
