"""Which words may be cut between two letters.

English *dont* is *do* and *nt*, so a network that reads characters may cut *Vermont* in the same way. A treebank tells
which words it cuts. If it cuts the same ones again and again, as in English, no others are cut, whatever the network
predicts. If every word may be cut, as in Tamil, at least those that occur often and are never cut stay whole.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from easyfirst.treebank.raw_text import Paragraph

APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}`\N{ACUTE ACCENT}"
NO_APOSTROPHES = str.maketrans("", "", APOSTROPHES)
MIN_SEEN = 5  # the minimal number of occurrences of a word that is known whole
MIN_RATIO = 4  # the cuts of a word at an apostrophe for each time it is whole, at least
MIN_AGAIN = 0.75  # the share of cuts whose word is cut elsewhere too, above which only such words are cut
MAX_JOINED = 0.1  # a language in which more tokens follow another letter by letter is written without spaces


def is_letter(character: str) -> bool:
    """Return whether a character is a letter, or a mark on one."""
    return character.isalpha() or unicodedata.category(character)[0] == "M"


@dataclass(slots=True)
class _Evidence:
    """What a treebank shows about words of letters: how often they are whole, and where others are cut."""

    whole: Counter[str] = field(default_factory=Counter[str])
    cut: Counter[str] = field(default_factory=Counter[str])  # words with a cut inside, without apostrophes
    between_letters: Counter[str] = field(default_factory=Counter[str])  # those of them that have no apostrophes
    ends: set[str] = field(default_factory=set[str])  # what follows the last cut
    n_joined: int = 0

    @classmethod
    def of(cls, paragraphs: Iterable[Paragraph]) -> _Evidence:
        found = cls()
        for paragraph in paragraphs:
            found.add(paragraph)
        return found

    def add(self, paragraph: Paragraph) -> None:
        before, end = "", -1  # the letters of the tokens that directly precede
        for token in (token for sentence in paragraph.sentences for token in sentence):
            form = paragraph.text[token.start : token.end].lower()
            is_word = all(map(is_letter, form))
            if len(token.words) > 1:
                self.cut[form.translate(NO_APOSTROPHES)] += 1
                self.between_letters[form] += is_word and "".join(token.words).lower() == form
                self.ends.add(token.words[-1].lower().translate(NO_APOSTROPHES))
            elif is_word:
                self.whole[form] += 1
            if before and end == token.start and is_word:
                self.n_joined += 1
                before += form
                self.cut[before] += 1
                self.between_letters[before] += 1
                self.ends.add(form)
            else:
                before = form if is_word else ""
            end = token.end

    @property
    def has_spaces(self) -> bool:
        return self.n_joined <= MAX_JOINED * self.whole.total()


def find_whole_words(paragraphs: Iterable[Paragraph], known: Mapping[str, int] | None = None) -> frozenset[str]:
    """Return words in lower case that are known whole and end like a word that is cut; others are not at risk.

    ``known``: the frequencies of words in other text. Words that the treebank cuts somewhere, and languages written
    without spaces, have none.
    """
    found = _Evidence.of(paragraphs)
    if not found.has_spaces:
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


def find_cut_words(paragraphs: Iterable[Paragraph], known: Mapping[str, int] | None = None) -> frozenset[str] | None:
    """Return the only words that may be cut between letters, in lower case and without apostrophes; None if any may.

    A word is one of them if the treebank cuts it between letters often, or more often than it is whole. If the treebank
    cuts it only at an apostrophe, which may be left out, it must do so often, and the word must be rare as a whole: so
    *couldnt* may be cut like *couldn't*, but not *doctors* like *doctor's*. ``known`` has the frequencies of words in
    other text, which tell how often words are whole where the treebank is too small.
    """
    found = _Evidence.of(paragraphs)
    n_again = sum(n for form, n in found.between_letters.items() if found.cut[form] > 1)
    if not found.has_spaces or n_again < MIN_AGAIN * found.between_letters.total():
        return None
    others = Counter[str]()
    for form, n in (known or {}).items():
        others[form.lower()] += n
    share = found.whole.total() / max(others.total(), 1)

    def may_be_cut(form: str) -> bool:
        n_cut, n_all, n_whole = found.between_letters[form], found.cut[form], found.whole[form] + share * others[form]
        return n_cut >= MIN_SEEN or n_cut > n_whole or (n_all >= MIN_SEEN and n_all >= MIN_RATIO * n_whole)

    return frozenset(form for form in found.cut if all(map(is_letter, form)) and may_be_cut(form))
