"""The tokenizer's vocabulary: characters, known tokens, whether tokens contain spaces, and how long sentences are."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from easyfirst.errors import InputError
from easyfirst.json_values import checking, distinct_strings, list_of, scalar, table
from easyfirst.model.lexicon import numbered
from easyfirst.model.sentence_lengths import SentenceLengths
from easyfirst.model.word_cuts import NO_APOSTROPHES, find_cut_words, find_whole_words
from easyfirst.nn.arrays import Bools, Ints
from easyfirst.treebank.raw_text import Paragraph

SPACE = " "
LINE_END = "\n"
MIN_SHARE = 2 / 3  # a token is always split the same way if at least this share of its occurrences is
MIN_SEEN = 5  # the minimal number of such occurrences: *plumbers* split as *plumber's* is a typo, not a rule
CATEGORIES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    *("Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"),
)
"""Unicode's general categories. Each has a row in the character table, for characters outside the alphabet, whose rows
follow."""
N_LETTER_CATEGORIES = 8  # the first categories: letters, and marks on them
_ROW_OF_CATEGORY = {category: row for row, category in enumerate(CATEGORIES)}
_JOINER = "\u200d"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_EMOJI_PARTS = frozenset([_JOINER, *map(chr, range(0x1F3FB, 0x1F400)), *map(chr, range(0xE0020, 0xE0080))])
"""The joiner, skin tones and tags."""
_PLAIN, _IS_SPACE, _CONTINUES, _JOINS, _IS_FLAG_LETTER = range(5)
_TRAIT_BITS, _CATEGORY_BITS = 3, 5
_TRAIT_MASK, _CATEGORY_MASK = (1 << _TRAIT_BITS) - 1, (1 << _CATEGORY_BITS) - 1
MAX_KINDS = 1 << 14
Words = tuple[str, ...]


@dataclass(frozen=True)
class Rewriting:
    """Rules for multiword tokens whose words are not substrings of them: Spanish ``del`` is ``de`` and ``el``.

    A rule replaces a token's suffix: *...el* becomes *...e, el*. The rule with the longest matching suffix applies, so
    rules for whole tokens take precedence.
    """

    rules: Mapping[str, Words]  # lower-case suffix -> words, the first of which is joined to the rest of the token

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


@dataclass(frozen=True, slots=True)
class Characters:
    """Texts as the tokenizer reads them, concatenated, with one space or line end for each run of white space."""

    rows: Ints  # in the character table
    categories: Ints  # the row of each character's category
    positions: Ints  # in the concatenated texts
    is_space: Bools
    is_bound: Bools  # whether a character continues the grapheme before it, like an accent or the rest of an emoji
    lengths: list[int]  # of each text


class _Kinds(dict[str, int]):
    """What the tokenizer sees of a character, in one number: the row, the category and the trait. Each is worked out
    when the character is first met."""

    def __init__(self, alphabet: Mapping[str, int]) -> None:
        super().__init__()
        self._alphabet = alphabet

    def __missing__(self, character: str) -> int:
        if len(self) >= MAX_KINDS:
            self.clear()
        line_end = LINE_END if LINE_END in self._alphabet else SPACE
        known = character if not character.isspace() else line_end if character == LINE_END else SPACE
        category = _ROW_OF_CATEGORY["Zs" if known == LINE_END else unicodedata.category(known)]
        row = self._alphabet.get(known, category)
        kind = (row << _CATEGORY_BITS | category) << _TRAIT_BITS | _trait_of(character)
        self[character] = kind
        return kind

    def of(self, text: str) -> Ints:
        """Return the kind of each character."""
        return np.fromiter(map(self.__getitem__, text), dtype=np.intp, count=len(text))


@dataclass(frozen=True, slots=True)
class TokenizerVocabulary:
    """The alphabet and the multiword tokens of a language."""

    alphabet: Mapping[str, int]  # character -> row, after those of the categories; white space is a space or a line end
    rewriting: Rewriting
    has_inner_spaces: bool  # whether some tokens contain white space
    parts: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """The lengths of the words of tokens (in lower case) that are usually split the same way into substrings: English
    ``cannot`` is ``can`` and ``not``."""
    cuts: frozenset[str] | None = None  # the only words (in lower case) that are cut between letters; None: any may be
    whole: frozenset[str] = frozenset()  # words (in lower case) that are never split
    lengths: SentenceLengths | None = None  # None: no sentence is too long
    _kinds: _Kinds = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kinds", _Kinds(self.alphabet))

    @property
    def reads_lines(self) -> bool:
        """Whether the network sees where lines end; otherwise a line end is a space. Older models do not."""
        return LINE_END in self.alphabet

    @classmethod
    def of(
        cls, paragraphs: Sequence[Paragraph], *, min_count: int, known: Mapping[str, int] | None = None
    ) -> TokenizerVocabulary:
        """Collect the characters that occur at least ``min_count`` times, the known tokens and the lengths of
        sentences. ``known``: the frequencies of words in other text."""
        counts: Counter[str] = Counter()
        rewritten: list[tuple[str, tuple[str, ...]]] = []
        seen: dict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
        has_inner_spaces = False
        for paragraph in paragraphs:
            counts.update(paragraph.text)
            for token in (token for sentence in paragraph.sentences for token in sentence):
                form = paragraph.text[token.start : token.end]
                has_inner_spaces = has_inner_spaces or len(form.split()) > 1
                if is_rewritten(form, token.words):
                    rewritten.append((form, token.words))
                    seen[lowered(form)][()] += 1  # its words are not substrings
                else:
                    seen[lowered(form)][tuple(map(len, token.words))] += 1
        often = [character for character, n in counts.items() if n >= min_count and not character.isspace()]
        often.sort(key=lambda character: (-counts[character], character))
        parts = {form: lengths for form, ways in sorted(seen.items()) if (lengths := _usual_parts(form, ways))}
        parts |= {form: lengths for form, lengths in _without_apostrophes(parts) if form not in seen}
        alphabet = numbered([SPACE, LINE_END, *often], len(CATEGORIES))
        rewriting, cuts = Rewriting.of(rewritten), find_cut_words(paragraphs, known)
        whole = find_whole_words(paragraphs, known) if cuts is None or rewriting.rules else frozenset[str]()
        lengths = SentenceLengths.of([len(sentence) for p in paragraphs for sentence in p.sentences])
        return cls(alphabet, rewriting, has_inner_spaces, parts, cuts, whole, lengths)

    def read(self, texts: Sequence[str]) -> Characters:
        """Encode texts, which must not be empty and neither start nor end with white space."""
        text = "".join(texts)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            message = f"the text has an unpaired surrogate: {error.object[error.start]!r} is not valid Unicode"
            raise InputError(f"{message}; decode the text with errors='replace'") from None
        kinds = self._kinds.of(text)
        is_space = kinds & _TRAIT_MASK == _IS_SPACE
        is_kept = ~is_space
        is_kept[1:] |= ~is_space[:-1]
        if self.reads_lines:
            kinds = _with_line_ends(kinds, is_space, is_line_end=kinds == self._kinds[LINE_END])
        positions = is_kept.nonzero()[0]
        kinds = kinds[positions]
        ends = positions.searchsorted(np.cumsum([len(text) for text in texts]))
        rows, categories = kinds >> _TRAIT_BITS + _CATEGORY_BITS, kinds >> _TRAIT_BITS & _CATEGORY_MASK
        traits = kinds & _TRAIT_MASK
        lengths = (ends - np.append(0, ends[:-1])).tolist()
        return Characters(rows, categories, positions, traits == _IS_SPACE, _bound(traits), lengths)

    def to_dict(self) -> dict[str, Any]:
        """Return the vocabulary as JSON values."""
        return {
            "characters": list(self.alphabet),
            "rewriting": self.rewriting.to_dict(),
            "has_inner_spaces": self.has_inner_spaces,
            "parts": {form: list(lengths) for form, lengths in self.parts.items()},
            "whole": sorted(self.whole),
            **({} if self.cuts is None else {"cuts": sorted(self.cuts)}),
            **({} if self.lengths is None else {"sentence_lengths": self.lengths.to_dict()}),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TokenizerVocabulary:
        """Undo :meth:`to_dict`; raise a :class:`ModelError` if something is missing or of the wrong type."""
        with checking("the vocabulary"):
            characters = distinct_strings(values["characters"], "characters")
            if any(len(character) != 1 for character in characters) or SPACE not in characters:
                raise ValueError("characters must be single characters, including a space")
            stored = table(values.get("parts", {}), "parts")  # absent in older files
            parts = {form: tuple(list_of(int, lengths, "parts")) for form, lengths in stored.items()}
            if any(len(form) != sum(lengths) or min(lengths, default=0) < 1 for form, lengths in parts.items()):
                raise ValueError("the parts of a token must be as long as the token")
            cuts, lengths = values.get("cuts"), values.get("sentence_lengths")
            return cls(
                numbered(characters, len(CATEGORIES)),
                Rewriting.from_dict(table(values["rewriting"], "rewriting")),
                scalar(bool, values["has_inner_spaces"], "has_inner_spaces"),
                parts,
                None if cuts is None else frozenset(list_of(str, cuts, "cuts")),
                frozenset(list_of(str, values.get("whole", []), "whole")),
                None if lengths is None else SentenceLengths.from_dict(lengths),
            )


def is_rewritten(form: str, words: Sequence[str]) -> bool:
    """Return whether a token has several words that are not its substrings."""
    return len(words) > 1 and "".join(form.split()) != "".join("".join(words).split())


def _usual_parts(form: str, ways: Counter[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the lengths of a token's words if it is usually split into the same several words."""
    lengths, n = ways.most_common(1)[0]
    is_usual = len(lengths) > 1 and n >= max(MIN_SEEN, MIN_SHARE * ways.total())
    return lengths if is_usual and sum(lengths) == len(form) else None


def _without_apostrophes(parts: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield tokens without their apostrophes, with the lengths of their words: *hasnt* is split like *hasn't*. A last
    word of one letter is left out: *worlds* is rarely *world's*."""
    for form, lengths in parts.items():
        ends = list(accumulate(lengths))
        words = [form[end - n : end].translate(NO_APOSTROPHES) for n, end in zip(lengths, ends, strict=True)]
        if "".join(words) != form and all(words) and len(words[-1]) > 1:
            yield "".join(words), tuple(map(len, words))


def _with_line_ends(kinds: Ints, is_space: Bools, *, is_line_end: Bools) -> Ints:
    """Return the kinds of characters, with a line end as the first character of a run of white space that has one."""
    [line_ends] = is_line_end.nonzero()
    if not len(line_ends):
        return kinds
    kinds = kinds.copy()
    begins = np.flatnonzero(is_space & ~np.append(False, is_space[:-1]))
    kinds[begins[np.searchsorted(begins, line_ends, side="right") - 1]] = kinds[line_ends[0]]
    return kinds


def _trait_of(character: str) -> int:
    if character.isspace():
        return _IS_SPACE
    if character == _JOINER:
        return _JOINS
    if ord(character) in _FLAG_LETTERS:
        return _IS_FLAG_LETTER
    return _CONTINUES if character in _EMOJI_PARTS or unicodedata.category(character)[0] == "M" else _PLAIN


def _bound(traits: Ints) -> Bools:
    """Return which characters continue a grapheme: combining marks, what follows a joiner, the second flag letter."""
    is_bound = (traits == _CONTINUES) | (traits == _JOINS)
    is_bound[1:] |= traits[:-1] == _JOINS
    for place in np.flatnonzero(traits == _IS_FLAG_LETTER).tolist():
        if place and traits[place - 1] == _IS_FLAG_LETTER:
            is_bound[place] = not is_bound[place - 1]
    return is_bound
