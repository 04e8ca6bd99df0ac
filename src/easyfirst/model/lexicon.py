"""Forms and names as row numbers: what the vocabularies of parser and tagger share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import cast

import numpy as np

from easyfirst.nn.arrays import Ints
from easyfirst.nn.characters import Spelling
from easyfirst.treebank.sentence import Sentence

UNKNOWN = 0


NUMBER = "<number>"


LONGEST = 40
"""Characters of a form that are read; of a longer one, half of them from each end."""


_NUMBER = re.compile(r"[+-]?[0-9]+([.,:/-][0-9]+)*")


@lru_cache(maxsize=1 << 16)
def normalise(form: str) -> str:
    """The form under which a word is counted and embedded."""
    return NUMBER if _NUMBER.fullmatch(form) else form.lower()


def external_ids(rows: Mapping[str, int], forms: Iterable[str]) -> Ints:
    """The row of each form among external vectors: as written, else normalised, else 0."""
    return np.array([rows.get(form) or rows.get(normalise(form), UNKNOWN) for form in forms], np.int64)


def tags_of(sentence: Sentence, kind: str) -> Sequence[str]:
    """The tags of one kind."""
    return sentence.upos if kind == "upos" else sentence.xpos


def distinct_forms(words: Sequence[str]) -> tuple[list[str], Ints]:
    """The different forms of words, longest first, and for each word the number of its form."""
    forms = sorted(set(words), key=lambda form: (-len(form), form))
    numbers = {form: number for number, form in enumerate(forms)}
    return forms, np.array([numbers[word] for word in words], dtype=np.int64)


def spelling_of(forms: Sequence[str], rows: Mapping[str, int]) -> Spelling:
    """Forms, longest first, as rows of a table of characters."""
    shown = [_shortened(form) for form in forms]
    characters = np.array([rows.get(character, UNKNOWN) for form in shown for character in form], dtype=np.int64)
    return Spelling(characters, np.array([len(form) for form in shown], dtype=np.int64))


def _shortened(form: str) -> str:
    """What is read of a form: all of it, unless it is very long."""
    return form if len(form) <= LONGEST else form[: LONGEST // 2] + form[-LONGEST // 2 :]


def ranked_names(counter: Counter[str], min_count: int = 1) -> list[str]:
    """Those seen often enough, the most frequent first."""
    names = (name for name, count in counter.items() if count >= min_count)
    return sorted(names, key=lambda name: (-counter[name], name))


def numbered(names: object) -> dict[str, int]:
    """Names and their rows, from 1; a :class:`ValueError` if they are not a list of different texts."""
    if not isinstance(names, list) or set(map(type, cast("list[object]", names))) - {str}:
        raise ValueError("names must be a list of texts")
    texts = cast("list[str]", names)
    rows = dict(zip(texts, range(1, len(texts) + 1), strict=True))
    if len(rows) != len(texts):
        raise ValueError("names must be different from each other")
    return rows
