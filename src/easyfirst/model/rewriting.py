"""Multiword tokens whose words are not simply their parts: Spanish ``del`` is ``de`` and ``el``.

Learnt are rules about the ends of tokens: *what ends in ...el loses it and gains ...e, el*. Of the rules that fit a
token, the one with the longest end is applied, so a whole token is the safest rule and a short end the boldest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from easyfirst.errors import ModelError

Words = tuple[str, ...]


@dataclass(frozen=True)
class Rewriting:
    """Ends of tokens, in lower case, and the words in their place, the first of which is joined to what stays."""

    rules: Mapping[str, Words]

    @classmethod
    def of(cls, examples: Iterable[tuple[str, Sequence[str]]]) -> Rewriting:
        """Learn from tokens and their words; where they disagree, the most frequent counts. A rule that a shorter one
        makes needless is left out."""
        counts: dict[str, Counter[Words]] = defaultdict(Counter)
        for form, words in examples:
            form, first, *others = lowered(form), *map(lowered, words)
            n_kept = _common_prefix(form, first)
            for begin in range(min(n_kept, len(form) - 1) + 1):
                counts[form[begin:]][(first[begin:], *others)] += 1
        rules: dict[str, Words] = {}
        for end in sorted(counts, key=lambda end: (len(end), end)):
            best = min(counts[end], key=lambda words: (-counts[end][words], words))
            if _rewrite(rules, end, longest=len(end) - 1) != best:
                rules[end] = best
        return cls(rules)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.rules), default=0)

    def rewrite(self, form: str) -> Words:
        """The words of a token; one word, itself, if no rule fits. Upper case stays upper case."""
        return _rewrite(self.rules, form, longest=self._longest)

    def to_dict(self) -> dict[str, list[str]]:
        """As JSON holds it."""
        return {end: list(words) for end, words in self.rules.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rewriting:
        """The inverse of :meth:`to_dict`; raises :class:`ModelError` if something is of the wrong kind."""
        rules: dict[str, Words] = {}
        for end, words in values.items():
            if not (end and isinstance(words, list) and words and all(type(w) is str for w in cast("Any", words))):
                raise ModelError(f"the vocabulary is damaged (the rule for {end!r} must be a list of words)")
            first, *others = cast("list[str]", words)
            if "" in others:
                raise ModelError(f"the vocabulary is damaged (the rule for {end!r} has an empty word)")
            rules[end] = (first, *others)
        return cls(rules)


def _rewrite(rules: Mapping[str, Words], form: str, *, longest: int) -> Words:
    lower = lowered(form)
    for begin in range(max(0, len(form) - longest), len(form)):
        words = rules.get(lower[begin:])
        if words is not None and (begin or words[0]):
            return _join(form, begin, words)
    return (form,)


def _join(form: str, begin: int, words: Words) -> Words:
    if form.isupper() and len(form) > 1:
        words = tuple(word.upper() for word in words)
    elif begin == 0 and form[0].isupper():
        words = (words[0][:1].upper() + words[0][1:], *words[1:])
    return form[:begin] + words[0], *words[1:]


def lowered(form: str) -> str:
    """In lower case, if that has as many characters."""
    lower = form.lower()
    return lower if len(lower) == len(form) else form


def _common_prefix(one: str, other: str) -> int:
    n = 0
    while n < min(len(one), len(other)) and one[n] == other[n]:
        n += 1
    return n
