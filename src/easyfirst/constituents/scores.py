"""Labelled bracketing: precision, recall and F1 of phrases, as EVALB counts them.

A phrase is right if the gold tree has one with the same label over the same words; of equal phrases, as many are right
as both trees have. With the convention ``evalb``, which is that of EVALB's COLLINS.prm, punctuation is removed first,
phrases of which nothing is left are not counted, nor is ``TOP``, and ``PRT`` counts as ``ADVP``. With ``all``, every
word and phrase counts as it is. Punctuation is what the *gold* tags say, so that both trees keep the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from easyfirst.constituents.stripping import TRACE_TAG, plain_label
from easyfirst.constituents.tree import Constituents, Node
from easyfirst.errors import DataError
from easyfirst.treebank.agreement import Agreement, percent

EVALB, ALL = "evalb", "all"
CONVENTIONS = (EVALB, ALL)
DELETED_TAGS = frozenset((TRACE_TAG, ",", ":", "``", "''", "."))
DELETED_LABELS = frozenset(("TOP", "ROOT", "S1", *DELETED_TAGS))
EQUAL = {"PRT": "ADVP"}
LENGTHS = (10, 20, 30, 40, 60)  # the longest sentence of each class but the last

NOTHING = Agreement(0, 0, 0)


@dataclass(slots=True)
class ConstituentScores:
    """The scores of a treebank."""

    sentences: int = 0
    words: int = 0
    exact: int = 0  # the sentences whose phrases are all right
    correct_tags: int = 0
    phrases: Agreement = NOTHING
    labels: dict[str, Agreement] = field(default_factory=dict[str, Agreement])
    lengths: dict[str, Agreement] = field(default_factory=dict[str, Agreement])

    def to_dict(self) -> dict[str, Any]:
        """Return the scores for JSON, in per cent."""
        ordered = sorted(self.labels.items(), key=lambda item: (-item[1].gold, item[0]))
        classes = [name for name in map(length_class, _examples()) if name in self.lengths]
        return {
            "sentences": self.sentences,
            "words": self.words,
            "phrases": self.phrases.to_dict(),
            "exact": percent(self.exact, self.sentences),
            "tags": percent(self.correct_tags, self.words),
            "labels": {label: found.to_dict() for label, found in ordered},
            "lengths": {name: self.lengths[name].to_dict() for name in classes},
        }


def score_constituents(
    gold: Iterable[Constituents], system: Iterable[Constituents], convention: str = EVALB
) -> ConstituentScores:
    """Compare trees of the same words, one by one."""
    scores = ConstituentScores()
    for left, right in _pairs(gold, system):
        phrases = _evalb_phrases if convention == EVALB else _all_phrases
        _add(scores, left, right, phrases)
    return scores


def length_class(length: int) -> str:
    """Return the name of the class of sentences with so many words.

    >>> length_class(15), length_class(100)
    ('11-20', '61+')
    """
    first = 1
    for last in LENGTHS:
        if length <= last:
            return f"{first}-{last}"
        first = last + 1
    return f"{first}+"


def _examples() -> Iterator[int]:
    """Yield a length of each class."""
    yield from (*LENGTHS, LENGTHS[-1] + 1)


def _pairs(gold: Iterable[Constituents], system: Iterable[Constituents]) -> Iterator[tuple[Constituents, Constituents]]:
    for number, (left, right) in enumerate(zip_longest(gold, system), 1):
        if left is None or right is None:
            known, lacking = (right, "gold") if left is None else (left, "system's")
            message = f"the {lacking} trees end before tree {number}; give as many of both"
            raise DataError(message, source=known.source if known else None, line=known.line if known else None)
        if left.forms != right.forms:
            pairs = enumerate(zip_longest(left.forms, right.forms), 1)
            word, (one, other) = next((word, pair) for word, pair in pairs if pair[0] != pair[1])
            message = f"tree {number} has other words than the gold tree: word {word} is {other!r} instead of {one!r}"
            raise DataError(
                f"{message}; only trees of the same words can be compared", source=right.source, line=right.line
            )
        yield left, right


Phrases = Callable[[Constituents, Constituents], Counter[Node]]


def _add(scores: ConstituentScores, gold: Constituents, system: Constituents, phrases: Phrases) -> None:
    wanted, found = phrases(gold, gold), phrases(system, gold)
    right = wanted & found
    total = Agreement(wanted.total(), found.total(), right.total())
    scores.sentences += 1
    scores.words += len(gold)
    scores.exact += wanted == found
    scores.correct_tags += sum(one == other for one, other in zip(gold.tags, system.tags, strict=True))
    scores.phrases += total
    name = length_class(len(gold))
    scores.lengths[name] = scores.lengths.get(name, NOTHING) + total
    for label in {node.label for node in wanted | found}:
        counts = (sum(n for node, n in each.items() if node.label == label) for each in (wanted, found, right))
        scores.labels[label] = scores.labels.get(label, NOTHING) + Agreement(*counts)


def _all_phrases(tree: Constituents, gold: Constituents) -> Counter[Node]:
    """Return the phrases of a tree with their numbers."""
    return Counter(tree.nodes)


def _evalb_phrases(tree: Constituents, gold: Constituents) -> Counter[Node]:
    """Return the phrases that EVALB compares, in positions without the punctuation of the ``gold`` tree."""
    before = [0]
    for tag in gold.tags:
        before.append(before[-1] + (tag not in DELETED_TAGS))
    found = (
        Node(EQUAL.get(kind, kind), before[start], before[end])
        for label, start, end in tree.nodes
        if (kind := plain_label(label)) not in DELETED_LABELS
    )
    return Counter(node for node in found if node.start < node.end)
