"""Whether a text is in the language of a model, judged by its letters and its frequent words.

The training data decide what to expect: their letters, and the share of running words that are among the 200 most
frequent ones. About half of all words are, in any text of the language, and few are in other languages. Words that
begin with a capital are not counted, because lists of names have no frequent words either.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from easyfirst.errors import LanguageWarning
from easyfirst.model.lexicon import NUMBER, normalise
from easyfirst.model.parser_store import ParserModel
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.tagger_store import TaggerModel
from easyfirst.model.tokenizer_store import TokenizerModel
from easyfirst.treebank.sentence import Sentence

N_FREQUENT = 200
MIN_COUNT = 5  # of a frequent word
MIN_TRAINING_WORDS = 3000  # with fewer, there is nothing to compare a text with
ATYPICAL = 0.6  # the share of frequent words in the least typical texts of the language, relative to the training data
MAX_LOG_PROBABILITY = -9.0  # of so few frequent words in such a text, in a warning
MAX_COUNTED = 200  # more words than these are no stronger evidence, because the words of a text are not independent
MIN_UNKNOWN_LETTERS = 4

STRANGE_LETTERS = "most of its letters do not occur in the training data"
STRANGE_WORDS = "it has hardly any of the most frequent words of the training data"

_T = TypeVar("_T")
_PACKAGE = str(Path(__file__).parent.parent)


class Evidence(NamedTuple):
    """The words and letters of a text, counted."""

    words: int = 0  # without those that begin with a capital or have no letter
    frequent: int = 0  # among these words
    letters: int = 0
    unknown: int = 0  # among the letters


NOTHING = Evidence()
MAX_JUDGED = 1 << 14


class _Judged(dict[str, Evidence]):
    """The evidence of single words, each judged when it is first met."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, form: str) -> Evidence:
        if len(self) >= MAX_JUDGED:
            self.clear()
        evidence = self[form] = self._language.judge(form)
        return evidence


@dataclass(frozen=True, slots=True)
class Language:
    """The letters and the frequent words of the training data of a model."""

    known: frozenset[str]  # all words of the vocabulary
    frequent: frozenset[str]
    share: float  # of the frequent words among all running words with letters
    letters: frozenset[str]  # none: there is too little data to judge by
    _judged: _Judged = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_judged", _Judged(self))

    @classmethod
    def of_model(cls, model: ParserModel, *parts: TokenizerModel | TaggerModel) -> Language:
        """Collect the words of a parser, and the letters of its words and of its other parts."""
        characters = (
            part.vocabulary.alphabet if isinstance(part, TokenizerModel) else part.vocabulary.characters
            for part in parts
        )
        return cls.of(model.vocabulary, chain.from_iterable(characters))

    @classmethod
    def of(cls, vocabulary: ParserVocabulary, characters: Iterable[str] = ()) -> Language:
        """Collect the words of a vocabulary, and the letters of these words and among other characters."""
        n_all = int(vocabulary.counts.sum())
        counts = sorted(zip(vocabulary.words, vocabulary.counts[1:].tolist(), strict=True), key=lambda pair: -pair[1])
        ranked = [(word, n) for word, n in counts if word != NUMBER and any(map(str.isalpha, word))]
        frequent = {word: n for word, n in ranked[:N_FREQUENT] if n >= MIN_COUNT}
        letters = frozenset(filter(str.isalpha, chain(characters, *vocabulary.words)))
        return cls(
            known=frozenset(vocabulary.words),
            frequent=frozenset(frequent),
            share=sum(frequent.values()) / max(1, sum(n for _, n in ranked)),
            letters=letters if n_all >= MIN_TRAINING_WORDS else frozenset(),
        )

    def count(self, sentences: Iterable[Sentence], before: Evidence = NOTHING) -> Evidence:
        """Count the words of a text and add them to what was counted before."""
        found = [before, *(self._judged[form] for sentence in sentences for form in sentence.forms)]
        return Evidence(*map(sum, zip(*found, strict=True)))

    def judge(self, form: str) -> Evidence:
        """Count a single word."""
        normalised = normalise(form)
        letters = [letter for letter in form if letter.isalpha()]
        is_frequent = normalised in self.frequent
        counts = bool(letters) and (is_frequent or not form[0].isupper())  # other words with a capital may be names
        strange = [x for x in letters if x not in self.letters and x.lower() not in self.letters]
        unknown = 0 if normalised in self.known else len(strange)
        return Evidence(int(counts), int(counts and is_frequent), len(letters), unknown)

    def problem(self, evidence: Evidence) -> str | None:
        """Return why a text does not seem to be in this language, or None if it does or is too short to tell."""
        if not self.letters:
            return None
        if evidence.unknown >= MIN_UNKNOWN_LETTERS and 2 * evidence.unknown > evidence.letters:
            return STRANGE_LETTERS
        is_improbable = _log_probability(evidence.frequent, evidence.words, ATYPICAL * self.share) < MAX_LOG_PROBABILITY
        return STRANGE_WORDS if is_improbable else None

    def watch(self, results: Iterable[_T], sentences_of: Callable[[_T], Iterable[Sentence]]) -> Iterator[_T]:
        """Pass results through, and issue a :class:`LanguageWarning` at the first that do not seem to be in this
        language. Short ones are judged together with those after them, and at the end."""
        window, has_warned = NOTHING, not self.letters
        for result in results:
            if not has_warned:
                window = self.count(sentences_of(result), window)
                if window.words >= MAX_COUNTED or window.letters >= 5 * MAX_COUNTED:
                    has_warned, window = self.warn(window), NOTHING
            yield result
        if not has_warned:
            self.warn(window)

    def warn(self, evidence: Evidence) -> bool:
        """Issue a :class:`LanguageWarning` if a text does not seem to be in this language, and return whether it was
        issued. The warning is attributed to the line that called this package."""
        if problem := self.problem(evidence):
            warnings.warn(warning_of(problem), LanguageWarning, stacklevel=_outer_level())
        return problem is not None


def warning_of(problem: str) -> str:
    """Return the message of a warning."""
    return f"the text does not seem to be in the language of the model: {problem}; check the text, or use another model"


def _log_probability(found: int, n: int, p: float) -> float:
    """Return an upper bound (Chernoff's) of the logarithm of the probability that no more than ``found`` of ``n`` words
    are frequent ones, if each is with the probability ``p``."""
    if n == 0 or found >= n * p:
        return 0.0
    q = found / n
    divergence = (1 - q) * math.log((1 - q) / (1 - p)) + (q * math.log(q / p) if q else 0.0)
    return -min(n, MAX_COUNTED) * divergence


def _outer_level() -> int:
    """Return the number of frames from the caller of this function to the first one outside this package."""
    frame, level = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
