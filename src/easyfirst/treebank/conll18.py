"""The metrics of the CoNLL 2018 shared task, counted over words that are already aligned.

A tag, a lemma or an attachment is correct if it is that of the aligned gold word. For an attachment, the two heads must
be aligned or both words be roots. As in the official scorer:

* Relation subtypes (after ``:``) are ignored.
* ``UFeats`` and ``AllTags`` compare universal features only, in any order.
* A gold lemma ``_`` matches every lemma.
* ``CLAS``, ``MLAS`` and ``BLEX`` count words with a content relation: in precision those of the system's trees, in
  recall and in the aligned accuracy those of the gold trees.
* ``MLAS`` also compares UPOS and features of the word and of its functional children, which must be aligned one by one;
  ``BLEX`` also compares the lemma.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from easyfirst.treebank.agreement import Agreement
from easyfirst.treebank.sentence import Sentence

ROOT, UNALIGNED = -1, -2  # what stands for the position of a head

_CONTENT = """
    acl advcl advmod amod appos ccomp compound conj csubj dep discourse dislocated expl fixed flat goeswith iobj list
    nmod nsubj nummod obj obl orphan parataxis reparandum root vocative xcomp
"""
_FUNCTIONAL = "aux case cc clf cop det mark"
_UNIVERSAL = """
    Abbr Animacy Aspect Case Definite Degree Evident Foreign Gender Mood Number NumType Person Polarity Polite Poss
    PronType Reflex Tense VerbForm Voice
"""
CONTENT_RELATIONS, FUNCTIONAL_RELATIONS = frozenset(_CONTENT.split()), frozenset(_FUNCTIONAL.split())
UNIVERSAL_FEATURES = frozenset(_UNIVERSAL.split())  # those of the shared task; UD has added more since

METRICS = (
    *("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas"),
    *("UAS", "LAS", "CLAS", "MLAS", "BLEX"),
)
"""The official names of the metrics, in their official order."""

COMPARED: Mapping[str, tuple[str, ...]] = {
    "UPOS": ("UPOS",),
    "XPOS": ("XPOS",),
    "UFeats": ("FEATS",),
    "AllTags": ("UPOS", "XPOS", "FEATS"),
    "Lemmas": ("LEMMA",),
    "LAS": ("DEPREL",),
    "CLAS": ("DEPREL",),
    "MLAS": ("DEPREL", "UPOS", "FEATS"),
    "BLEX": ("DEPREL", "LEMMA"),
}
"""The columns that a metric compares, HEAD aside, which is never missing."""

COLUMNS = ("LEMMA", "UPOS", "XPOS", "FEATS", "DEPREL")
SCORED, NOT_PREDICTED, NOT_IN_GOLD = "scored", "not predicted", "not in gold"


@dataclass(frozen=True, slots=True)
class Conll18Scores:
    """All metrics of the CoNLL 2018 shared task."""

    tokens: Agreement
    sentences: Agreement
    words: Agreement
    upos: Agreement
    xpos: Agreement
    ufeats: Agreement
    alltags: Agreement
    lemmas: Agreement
    uas: Agreement
    las: Agreement
    clas: Agreement
    mlas: Agreement
    blex: Agreement
    gold_columns: frozenset[str] = frozenset()
    """The columns of :data:`COLUMNS` that have a value for at least one gold word."""
    system_columns: frozenset[str] = frozenset()
    """The columns of :data:`COLUMNS` that have a value for at least one word of the system."""

    def __add__(self, other: Conll18Scores) -> Conll18Scores:
        counts, others = self.metrics, other.metrics
        return Conll18Scores(
            **{name.lower(): counts[name] + others[name] for name in METRICS},
            gold_columns=self.gold_columns | other.gold_columns,
            system_columns=self.system_columns | other.system_columns,
        )

    @property
    def metrics(self) -> dict[str, Agreement]:
        """The metrics under their official names, in their official order, with the counts of the official scorer."""
        return {name: getattr(self, name.lower()) for name in METRICS}

    @property
    def columns(self) -> dict[str, str]:
        """How each column was compared: ``scored``, or ``not predicted`` if all its values are ``_`` on the system's
        side only, or ``not in gold`` if they are on the gold side."""
        found = {column: SCORED if column in self.system_columns else NOT_PREDICTED for column in COLUMNS}
        return found | dict.fromkeys((column for column in COLUMNS if column not in self.gold_columns), NOT_IN_GOLD)

    def is_predicted(self, metric: str) -> bool:
        """Return whether the system predicts all columns that a metric compares."""
        columns = self.columns
        return all(columns[column] != NOT_PREDICTED for column in COMPARED.get(metric, ()))

    def to_dict(self) -> dict[str, dict[str, float] | None]:
        """Return all scores as plain values for JSON; a metric of columns that are not predicted is None."""
        return {name: found.to_dict() if self.is_predicted(name) else None for name, found in self.metrics.items()}


class TreeWord(NamedTuple):
    """The values of a word that are compared. Positions are in the list of all words of its side."""

    lemma: str
    upos: str
    xpos: str
    feats: str  # universal features only
    head: int  # its position, or ROOT
    relation: str  # without its subtype
    functional: Sequence[int]  # the positions of its functional children

    @property
    def is_content(self) -> bool:
        return self.relation in CONTENT_RELATIONS


class Side:
    """The words of one side, gold or system, with the columns that have any value."""

    def __init__(self) -> None:
        self.words: list[TreeWord] = []
        self.columns: frozenset[str] = frozenset()

    @classmethod
    def of(cls, trees: Iterable[tuple[Sentence, Sequence[int]]]) -> Side:
        """Make a side of sentences and their heads."""
        side = cls()
        for sentence, heads in trees:
            side._add(sentence, heads)
        return side

    def _add(self, sentence: Sentence, heads: Sequence[int]) -> None:
        first = len(self.words)
        relations = [(label or "_").partition(":")[0] for label in sentence.relations]
        functional: list[list[int]] = [[] for _ in heads]
        for m, (head, relation) in enumerate(zip(heads, relations, strict=True)):
            if head and relation in FUNCTIONAL_RELATIONS:
                functional[head - 1].append(first + m)
        feats = map(universal_features, sentence.feats)
        positions = [first + head - 1 if head else ROOT for head in heads]
        self.words += map(
            TreeWord, sentence.lemmas, sentence.upos, sentence.xpos, feats, positions, relations, functional
        )
        values = (sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats, relations)
        self.columns |= {name for name, column in zip(COLUMNS, values, strict=True) if set(column) - {"_"}}


def compare(
    gold: Side, system: Side, pairs: Iterable[tuple[int, int]], *, tokens: Agreement, sentences: Agreement
) -> Conll18Scores:
    """Count all metrics over words. ``pairs`` are the positions of the aligned words in the two sides."""
    gold_of = {s: g for g, s in pairs}
    n_gold, n_system, n_aligned = len(gold.words), len(system.words), len(gold_of)
    n_content = sum(gold.words[g].is_content for g in gold_of.values())
    gold_content, system_content = (sum(word.is_content for word in side.words) for side in (gold, system))
    correct = _count_correct(gold.words, system.words, gold_of)

    def over_words(metric: str) -> Agreement:
        return Agreement(n_gold, n_system, correct[metric], n_aligned)

    def over_content(metric: str) -> Agreement:
        return Agreement(gold_content, system_content, correct[metric], n_content)

    return Conll18Scores(
        tokens=tokens,
        sentences=sentences,
        words=Agreement(n_gold, n_system, n_aligned),
        upos=over_words("UPOS"),
        xpos=over_words("XPOS"),
        ufeats=over_words("UFeats"),
        alltags=over_words("AllTags"),
        lemmas=over_words("Lemmas"),
        uas=over_words("UAS"),
        las=over_words("LAS"),
        clas=over_content("CLAS"),
        mlas=over_content("MLAS"),
        blex=over_content("BLEX"),
        gold_columns=gold.columns,
        system_columns=system.columns,
    )


def _count_correct(gold: Sequence[TreeWord], system: Sequence[TreeWord], gold_of: Mapping[int, int]) -> Counter[str]:
    """Count the aligned words that are correct, for each metric of values."""
    correct: Counter[str] = Counter()
    for s, g in gold_of.items():
        one, other = gold[g], system[s]
        same_upos, same_xpos, same_feats = one.upos == other.upos, one.xpos == other.xpos, one.feats == other.feats
        same_lemma = one.lemma in ("_", other.lemma)
        correct["UPOS"] += same_upos
        correct["XPOS"] += same_xpos
        correct["UFeats"] += same_feats
        correct["AllTags"] += same_upos and same_xpos and same_feats
        correct["Lemmas"] += same_lemma
        is_root = one.head == other.head == ROOT
        if not is_root and one.head != gold_of.get(other.head, UNALIGNED):
            continue
        correct["UAS"] += 1
        if one.relation != other.relation:
            continue
        correct["LAS"] += 1
        if not one.is_content:
            continue
        correct["CLAS"] += 1
        correct["BLEX"] += same_lemma
        if same_upos and same_feats and len(one.functional) == len(other.functional):
            children = zip(one.functional, other.functional, strict=True)
            correct["MLAS"] += all(gold_of.get(b) == a and _is_same(gold[a], system[b]) for a, b in children)
    return correct


def _is_same(one: TreeWord, other: TreeWord) -> bool:
    """Return whether two functional children have the same relation, UPOS and features."""
    return (one.relation, one.upos, one.feats) == (other.relation, other.upos, other.feats)


@lru_cache(maxsize=1 << 16)
def universal_features(feats: str) -> str:
    """Return the universal features of a FEATS cell, sorted. Layered features (``Number[psor]``) are not universal."""
    return "|".join(sorted(each for each in feats.split("|") if each.partition("=")[0] in UNIVERSAL_FEATURES))
