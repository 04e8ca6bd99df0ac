"""Multiword tokens whose words are not substrings of them: Spanish ``del`` is ``de`` and ``el``.

Rules replace the suffixes of tokens: *...el* becomes *...e, el*. The rule with the longest matching suffix applies, so
rules for whole tokens take precedence.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from easyfirst.json_values import checking, list_of

Words = tuple[str, ...]


@dataclass(frozen=True)
class Rewriting:
    """Lower-case suffixes of tokens and their replacements. The first word is joined to the rest of the token."""

    rules: Mapping[str, Words]

    @classmethod
    def of(cls, examples: Iterable[tuple[str, Sequence[str]]]) -> Rewriting:
        """Learn rules from tokens and their words. Where examples disagree, the most frequent wins. Rules that a
        shorter one makes redundant are dropped."""
        counts: dict[str, Counter[Words]] = defaultdict(Counter)
        for form, words in examples:
            form, first, *others = lowered(form), *map(lowered, words)
            for begin in range(len(form)):
                if first.startswith(form[:begin]):
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
        """Return the words of a token, or the token itself if no rule fits. Capitalisation is preserved."""
        return _rewrite(self.rules, form, longest=self._longest)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the rules as JSON values."""
        return {end: list(words) for end, words in self.rules.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rewriting:
        """Undo :meth:`to_dict`; raise a :class:`ModelError` if something is of the wrong type."""
        with checking("the vocabulary"):
            rules = {end: tuple(list_of(str, words, f"the rule for {end!r}")) for end, words in values.items()}
            if bad := [end for end, words in rules.items() if not end or not words or "" in words[1:]]:
                raise ValueError(f"the rule for {bad[0]!r} has an empty suffix, no words or an empty word")
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
    """Lower-case a form, unless that changes its length."""
    lower = form.lower()
    return lower if len(lower) == len(form) else form
