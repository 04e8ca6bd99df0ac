"""The habits of a treebank: how it divides texts into tokens, which augmentation must follow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from easyfirst.model.word_cuts import MAX_JOINED
from easyfirst.training.abbreviations import Abbreviations, abbreviations_of
from easyfirst.training.pieces import Pieces

_YEAR = re.compile(r"['’]\d\d[a-z]{0,2}")
MIN_SEEN = 3  # how often a treebank must show something before it counts as its habit


@dataclass(frozen=True, slots=True)
class Habits:
    """What a treebank shows about its language and its tokens."""

    names: Sequence[str]  # words in title case that do not begin a sentence
    words: Sequence[str]  # words in lower case
    abbreviations: Sequence[str]  # tokens of letters and a period inside sentences
    listed: Abbreviations | None  # the abbreviations of its language
    marks: frozenset[str]  # tokens without letters and digits
    keeps_periods: bool  # an abbreviation and its period are one token
    parts_last_period: bool  # but not at the end of a sentence
    parts_units: bool  # a number and the unit that follows without a space are two tokens
    has_short_years: bool  # an apostrophe and the last digits of a year are one token
    has_spaces: bool

    @classmethod
    def of(cls, sentences: Sequence[Pieces]) -> Habits:
        names: Counter[str] = Counter()
        words: Counter[str] = Counter()
        marks: Counter[str] = Counter()
        short: Counter[str] = Counter()  # abbreviations
        n_years = n_units = n_joined = n_all = 0
        for sentence in sentences:
            for k, piece in enumerate(sentence):
                after = sentence[k + 1] if k + 1 < len(sentence) else None
                if piece.is_name and k:
                    names[piece.form] += 1
                elif piece.is_lower:
                    words[piece.form] += 1
                elif not any(map(str.isalnum, piece.form)):
                    marks[piece.form] += 1
                elif after is not None and _is_abbreviation(piece.form):
                    short[piece.form] += 1
                if piece.is_plain and after is not None and after.is_plain:
                    n_all += 1
                    n_joined += not piece.space
                n_years += bool(_YEAR.fullmatch(piece.form))
                n_units += bool(after and not piece.space and piece.form.isdigit() and after.is_plain)
        ends = [sentence[-2:] for sentence in sentences if len(sentence) > 1]
        n_parted = sum(b.form == "." and not a.space and f"{a.form}." in short for a, b in ends)
        n_kept = sum(b.form in short for _, b in ends)
        n_cut = sum(
            len(a.form) == 1 and a.form.isupper() and not a.space and b.form == "."
            for sentence in sentences
            for a, b in pairwise(sentence[:-1])
        )
        n_initials = sum(n for form, n in short.items() if len(form) == 2)
        return cls(
            names=sorted(names),
            words=sorted(words),
            abbreviations=sorted(form for form, n in short.items() if n > 1),
            listed=abbreviations_of(words.elements()),
            marks=frozenset(mark for mark, n in marks.items() if n >= MIN_SEEN),
            keeps_periods=short.total() >= MIN_SEEN and n_initials >= n_cut,
            parts_last_period=n_parted >= n_kept,
            parts_units=n_units >= MIN_SEEN,
            has_short_years=n_years >= MIN_SEEN,
            has_spaces=n_joined <= MAX_JOINED * n_all,
        )


def _is_abbreviation(form: str) -> bool:
    return len(form) > 1 and form[-1] == "." and form.replace(".", "").isalpha()
