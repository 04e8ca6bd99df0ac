"""Tokens that are never split: words that occur often, and never with a word or a token ending inside.

English *dont* is *do* and *nt*, so a network that reads characters may cut *Vermont* in the same way. A word that is
known whole is not cut, whatever the network predicts.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from easyfirst.treebank.raw_text import Paragraph

APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}`\N{ACUTE ACCENT}"
MIN_SEEN = 5  # the minimal number of occurrences of a word that is known whole
MAX_JOINED = 0.1  # a language in which more tokens follow another letter by letter is written without spaces
NO_APOSTROPHES = str.maketrans("", "", APOSTROPHES)


def is_letter(character: str) -> bool:
    """Return whether a character is a letter, or a mark on one."""
    return character.isalpha() or unicodedata.category(character)[0] == "M"


@dataclass(slots=True)
class _Evidence:
    """What a treebank shows about words of letters: how often they are whole, and where others are cut."""

    whole: Counter[str] = field(default_factory=Counter[str])
    cut: set[str] = field(default_factory=set[str])  # forms with a cut inside, without apostrophes
    ends: set[str] = field(default_factory=set[str])  # what follows the last cut
    n_joined: int = 0

    def add(self, paragraph: Paragraph) -> None:
        before, end = "", -1  # the letters of the tokens that directly precede
        for token in (token for sentence in paragraph.sentences for token in sentence):
            form = paragraph.text[token.start : token.end].lower()
            is_word = all(map(is_letter, form))
            if len(token.words) > 1:
                self.cut.add(form.translate(NO_APOSTROPHES))
                self.ends.add(token.words[-1].lower().translate(NO_APOSTROPHES))
            elif is_word:
                self.whole[form] += 1
            if before and end == token.start and is_word:
                self.n_joined += 1
                self.cut.add(before + form)
                self.ends.add(form)
                before += form
            else:
                before = form if is_word else ""
            end = token.end


def find_whole_tokens(paragraphs: Iterable[Paragraph], known: Mapping[str, int] | None = None) -> frozenset[str]:
    """Return words in lower case that are known whole and end like a word that is cut; others are not at risk.

    ``known``: the frequencies of words in other text. Words that the treebank cuts somewhere, and languages written
    without spaces, have none.
    """
    found = _Evidence()
    for paragraph in paragraphs:
        found.add(paragraph)
    if found.n_joined > MAX_JOINED * found.whole.total():
        return frozenset()
    counts = found.whole.copy()
    for form, n in (known or {}).items():
        counts[form.lower()] += n
    lengths = sorted({len(end) for end in found.ends if end})

    def is_at_risk(form: str) -> bool:
        return any(form[-n:] in found.ends for n in lengths if n < len(form))

    return frozenset(
        form
        for form, n in counts.items()
        if n >= MIN_SEEN and form not in found.cut and is_at_risk(form) and all(map(is_letter, form))
    )
