"""Attachment scores: the share of words with the right head (UAS), and with the right head and relation (LAS).

Three conventions, never mixed and always named:

* ``ud``: all words, relation subtypes (after ``:``) ignored, as in the scorer of the CoNLL 2018 shared task.
* ``conllx``: words of only Unicode punctuation are excluded, relations in full, as in CoNLL-X and the paper.
* ``full``: all words, relations in full. Model selection, the tables by relation and by sentence length, and the
  exact-match rates use this one.

Beside them, :func:`score` counts all metrics of the CoNLL 2018 shared task, in which ``UAS`` and ``LAS`` are those of
``ud`` (:mod:`easyfirst.treebank.conll18`).

Both sides must have the same words; for parses of raw text, where they may differ, see
:mod:`easyfirst.treebank.text_scores`. A relation that is not given (None) counts as the label ``_``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress, zip_longest
from typing import Any, NoReturn, Protocol
from unicodedata import category

from easyfirst.counting import count
from easyfirst.errors import DataError, InputError
from easyfirst.treebank.agreement import Agreement, percent
from easyfirst.treebank.alignment import without_spaces
from easyfirst.treebank.conll18 import Conll18Scores, Side, compare
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_shape

LENGTHS = ("1-10", "11-20", "21-30", "31-40", "41-50", "51+")
SAME_TEXT = "compare files of the same text"


class ParseLike(Protocol):
    """The parse of a sentence."""

    @property
    def tagged(self) -> Sentence:
        """The sentence with its tags, given or predicted."""
        ...

    @property
    def heads(self) -> Sequence[int]:
        """The predicted heads."""
        ...

    @property
    def relations(self) -> Sequence[str]:
        """The predicted relations."""
        ...


class WordsError(DataError):
    """The two sides to compare do not have the same sentences and words."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The numbers of words, of correct heads, and of correct heads with the correct relation."""

    words: int = 0
    heads: int = 0
    labelled: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.words + other.words, self.heads + other.heads, self.labelled + other.labelled)

    @property
    def uas(self) -> float:
        return percent(self.heads, self.words)

    @property
    def las(self) -> float:
        return percent(self.labelled, self.words)

    def to_dict(self) -> dict[str, float]:
        return {"UAS": self.uas, "LAS": self.las, "words": self.words}


@dataclass(frozen=True, slots=True)
class Scores:
    """The counts over a treebank; percentages are computed on demand."""

    ud: Tally
    conllx: Tally
    full: Tally
    sentences: int
    exact_unlabelled: int  # sentences with all heads correct
    exact_labelled: int  # sentences with all heads and relations correct
    relations: Mapping[str, Agreement]
    lengths: Mapping[str, tuple[int, Tally]]  # sentences and words of each range of lengths
    conll18: Conll18Scores | None = None  # None if only heads and relations were compared

    def to_dict(self) -> dict[str, Any]:
        """Return all scores in per cent, as plain values for JSON."""
        shared_task = {} if self.conll18 is None else {"conll18": self.conll18.to_dict()}
        return {
            "ud": self.ud.to_dict(),
            "conllx": self.conllx.to_dict(),
            "full": self.full.to_dict(),
            **shared_task,
            "sentences": self.sentences,
            "exact": {
                "unlabelled": percent(self.exact_unlabelled, self.sentences),
                "labelled": percent(self.exact_labelled, self.sentences),
            },
            "relations": {label: relation.to_dict() for label, relation in self.relations.items()},
            "lengths": {name: tally.to_dict() | {"sentences": n} for name, (n, tally) in self.lengths.items()},
        }


class Scorer:
    """Accumulates counts sentence by sentence; ``scores()`` may be called at any time."""

    def __init__(self) -> None:
        self._ud = self._conllx = self._full = Tally()
        self._exact_unlabelled = self._exact_labelled = 0
        self._gold: Counter[str] = Counter()
        self._system: Counter[str] = Counter()
        self._correct: Counter[str] = Counter()
        self._lengths: dict[str, tuple[int, Tally]] = {length: (0, Tally()) for length in LENGTHS}

    def add(
        self,
        forms: Sequence[str],
        *,
        gold_heads: Sequence[int],
        gold_relations: Sequence[str | None],
        system_heads: Sequence[int],
        system_relations: Sequence[str | None],
    ) -> None:
        """Count one sentence."""
        gold_labels = [relation or "_" for relation in gold_relations]
        system_labels = [relation or "_" for relation in system_relations]
        heads = [gold == system for gold, system in zip(gold_heads, system_heads, strict=True)]
        same = [gold == system for gold, system in zip(gold_labels, system_labels, strict=True)]
        types = [[label.partition(":")[0] for label in labels] for labels in (gold_labels, system_labels)]
        same_type = [gold == system for gold, system in zip(*types, strict=True)]
        scored = [not is_punctuation(form) for form in forms]

        full = _count(heads, same)
        self._full += full
        self._ud += _count(heads, same_type)
        self._conllx += _count(compress(heads, scored), compress(same, scored))
        self._exact_unlabelled += full.heads == full.words
        self._exact_labelled += full.labelled == full.words
        self._gold.update(gold_labels)
        self._system.update(system_labels)
        correct = zip(gold_labels, heads, same, strict=True)
        self._correct.update(label for label, head, equal in correct if head and equal)
        length = LENGTHS[min(max(len(forms) - 1, 0) // 10, len(LENGTHS) - 1)]
        sentences, attachment = self._lengths[length]
        self._lengths[length] = sentences + 1, attachment + full

    def scores(self) -> Scores:
        """Return the scores of all sentences so far, with relations sorted by gold frequency."""
        gold, system, correct = self._gold, self._system, self._correct
        labels = sorted(gold | system, key=lambda label: (-gold[label], label))
        lengths = {length: counts for length, counts in self._lengths.items() if counts[0]}
        return Scores(
            ud=self._ud,
            conllx=self._conllx,
            full=self._full,
            sentences=sum(sentences for sentences, _ in lengths.values()),
            exact_unlabelled=self._exact_unlabelled,
            exact_labelled=self._exact_labelled,
            relations={label: Agreement(gold[label], system[label], correct[label]) for label in labels},
            lengths=lengths,
        )


def score(gold: Iterable[Sentence], system: Iterable[Sentence | ParseLike]) -> Scores:
    """Compare two treebanks of the same words, or a treebank and its parses. Both are read as streams. Several roots or
    a cycle are an error, as in the official scorer."""
    scorer, shared_task = Scorer(), _compare_trees([], [])
    sentences = (map(_sentence, side) for side in (gold, system))
    for number, (gold_sentence, system_sentence) in enumerate(zip_longest(*sentences), 1):
        if gold_sentence is None or system_sentence is None:
            _reject_number(number, gold_sentence, system_sentence)
        _check_words(number, gold_sentence, system_sentence)
        gold_heads = tree_heads(number, "gold", gold_sentence)
        system_heads = tree_heads(number, "system", system_sentence)
        scorer.add(
            gold_sentence.forms,
            gold_heads=gold_heads,
            gold_relations=gold_sentence.relations,
            system_heads=system_heads,
            system_relations=system_sentence.relations,
        )
        shared_task += _compare_trees([(gold_sentence, gold_heads)], [(system_sentence, system_heads)])
    return replace(scorer.scores(), conll18=shared_task)


def _compare_trees(
    gold: Sequence[tuple[Sentence, Sequence[int]]], system: Sequence[tuple[Sentence, Sequence[int]]]
) -> Conll18Scores:
    """Compare trees over the same words. A token is correct if it has the same form and words on both sides."""
    one, other = Side.of(gold), Side.of(system)
    gold_tokens, system_tokens = ([_tokens(sentence) for sentence, _ in side] for side in (gold, system))
    same = sum(len(a & b) for a, b in zip(gold_tokens, system_tokens, strict=True))
    tokens = Agreement(sum(map(len, gold_tokens)), sum(map(len, system_tokens)), same)
    pairs = ((m, m) for m in range(len(one.words)))
    return compare(one, other, pairs, tokens=tokens, sentences=Agreement(len(gold), len(system), len(gold)))


def _tokens(sentence: Sentence) -> set[tuple[str, range]]:
    return {(without_spaces(token.form), token.words) for token in sentence.surface_tokens}


def _sentence(given: Sentence | ParseLike) -> Sentence:
    if isinstance(given, Sentence):
        return given
    tagged, heads, relations = (getattr(given, name, None) for name in ("tagged", "heads", "relations"))
    if isinstance(tagged, Sentence) and heads is not None and relations is not None:
        return tagged.with_tree(heads, relations)
    raise InputError(f"only sentences and parses can be scored, not {type(given).__name__}; see read_conllu and parse")


def tree_heads(number: int, side: str, sentence: Sentence) -> list[int]:
    """Return the heads of a sentence, which must form a tree; errors name its side and number."""
    heads = [head for head in sentence.heads if head is not None]
    if len(heads) < len(sentence):
        m = sentence.heads.index(None)
        hint = "scores need whole gold trees: fill it in" if side == "gold" else "parse the file first"
        message = f"word {m + 1} {sentence.forms[m]!r} of {side} sentence {number} has no head; {hint}"
        raise DataError(message, source=sentence.source, line=sentence.word_line(m))
    check_shape(sentence, heads)
    return heads


@lru_cache(maxsize=1 << 16)
def is_punctuation(form: str) -> bool:
    """Return whether all characters are Unicode punctuation (``P*``); symbols like ``$`` and ``+`` are not."""
    return all(category(character).startswith("P") for character in form)


def _count(heads: Iterable[bool], labels: Iterable[bool]) -> Tally:
    """Count the words with the correct head, and those with the correct label too."""
    pairs = [(head, head and label) for head, label in zip(heads, labels, strict=True)]
    return Tally(len(pairs), sum(head for head, _ in pairs), sum(both for _, both in pairs))


def _check_words(number: int, gold: Sentence, system: Sentence) -> None:
    """Raise :class:`WordsError` unless both sentences have the same words."""
    if gold.forms == system.forms:
        return
    pairs = list(zip_longest(map(repr, gold.forms), map(repr, system.forms), fillvalue="the sentence's end"))
    m = next(m for m, (gold_form, system_form) in enumerate(pairs) if gold_form != system_form)
    gold_line, line = (side.word_line(min(m, len(side) - 1)) for side in (gold, system))
    place = (gold.source or "the gold sentence") + ("" if gold_line is None else f":{gold_line}")
    gold_form, form = pairs[m]
    message = f"sentence {number} differs at word {m + 1}: {form} here, {gold_form} in {place}; {SAME_TEXT}"
    raise WordsError(message, source=system.source, line=line)


def _reject_number(number: int, gold: Sentence | None, system: Sentence | None) -> NoReturn:
    """Raise :class:`WordsError` because one treebank has ended before the other."""
    longer, side, other = (gold, "gold", "system") if system is None else (system, "system", "gold")
    source, line = (longer.source, longer.line) if longer else (None, None)
    message = f"{side} sentence {number} has no partner: the {other} side ends after {count(number - 1, 'sentence')}"
    raise WordsError(f"{message}; {SAME_TEXT}", source=source, line=line)
