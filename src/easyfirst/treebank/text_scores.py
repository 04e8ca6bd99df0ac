"""Scores of parses of raw text, whose tokens, sentences and words may differ from the gold ones.

A token or sentence is correct if the gold side has the same span of characters. Words are aligned
(:mod:`easyfirst.treebank.alignment`), and their values are compared as in the CoNLL 2018 shared task
(:mod:`easyfirst.treebank.conll18`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from easyfirst.treebank.agreement import Agreement
from easyfirst.treebank.alignment import Span, SpannedText, align, check_same_text
from easyfirst.treebank.conll18 import Conll18Scores, Side, compare
from easyfirst.treebank.scores import tree_heads
from easyfirst.treebank.sentence import Sentence


def score_text(gold: Iterable[Sentence], system: Iterable[Sentence]) -> Conll18Scores:
    """Compare two treebanks of the same text.

    Raises :class:`easyfirst.errors.DataError` at the first place where their characters differ, not counting white
    space, or where a sentence has no tree.
    """
    gold_text, system_text = SpannedText.of(gold), SpannedText.of(system)
    check_same_text(gold_text, system_text)
    return compare(
        _side(gold_text, "gold"),
        _side(system_text, "system"),
        align(gold_text, system_text),
        tokens=_compare_spans(gold_text.tokens, system_text.tokens),
        sentences=_compare_spans(gold_text.sentences, system_text.sentences),
    )


def _side(text: SpannedText, name: str) -> Side:
    return Side.of((sentence, tree_heads(n, name, sentence)) for n, sentence in enumerate(text.treebank, 1))


def _compare_spans(gold: Sequence[Span], system: Sequence[Span]) -> Agreement:
    return Agreement(len(gold), len(system), len(set(gold) & set(system)))
