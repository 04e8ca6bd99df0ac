"""Forms and names as row numbers, shared by the vocabularies of all parts."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from easyfirst.json_values import distinct_strings, list_of
from easyfirst.nn.arrays import Ints
from easyfirst.nn.characters import Spelling
from easyfirst.treebank.sentence import Sentence

UNKNOWN = 0
NUMBER = "<number>"
MAX_FORM_LENGTH = 40  # the number of characters read of a form; of a longer one, half from each end
_NUMBER = re.compile(r"[+-]?[0-9]+([.,:/-][0-9]+)*")


@lru_cache(maxsize=1 << 16)
def normalise(form: str) -> str:
    """Return the form under which a word is counted and embedded."""
    return NUMBER if _NUMBER.fullmatch(form) else form.lower()


def ids_of(rows: Mapping[str, int], names: Iterable[str]) -> Ints:
    return np.fromiter(map(rows.get, names, itertools.repeat(UNKNOWN)), dtype=np.intp)


def external_ids(rows: Mapping[str, int], forms: Iterable[str]) -> Ints:
    """Return the row of each form among external vectors: as written, else normalised, else 0."""
    return np.array([rows.get(form) or rows.get(normalise(form), UNKNOWN) for form in forms], np.intp)


def tags_of(sentence: Sentence, kind: str) -> Sequence[str]:
    """Return one column of the sentence, such as "upos"."""
    tags: tuple[str, ...] = getattr(sentence, kind)
    return tags


def distinct_forms(words: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the distinct forms of words, longest first, and for each word the number of its form."""
    forms = sorted(set(words), key=lambda form: (-len(form), form))
    numbers = {form: number for number, form in enumerate(forms)}
    return forms, np.array([numbers[word] for word in words], dtype=np.intp)


def spelling_of(forms: Sequence[str], rows: Mapping[str, int]) -> Spelling:
    """Return forms, longest first, as rows of the character table."""
    half = MAX_FORM_LENGTH // 2
    shown = [form if len(form) <= MAX_FORM_LENGTH else form[:half] + form[-half:] for form in forms]
    return Spelling(ids_of(rows, "".join(shown)), np.array([len(form) for form in shown], dtype=np.intp))


def ranked_names(counter: Counter[str], min_count: int = 1) -> list[str]:
    """Return the names that occur at least ``min_count`` times, most frequent first."""
    names = (name for name, count in counter.items() if count >= min_count)
    return sorted(names, key=lambda name: (-counter[name], name))


def numbered(names: Iterable[str], first: int = 1) -> dict[str, int]:
    """Return the row of each name; the rows start at ``first``."""
    return dict(zip(names, itertools.count(first)))


def rows_from_json(names: object, key: str) -> dict[str, int]:
    """Return the rows of names read from JSON, or raise a :class:`ValueError` that names the key."""
    strings = list_of(str, names, key)
    rows = numbered(strings)
    if len(rows) != len(strings):
        distinct_strings(names, key)  # raises
    return rows
