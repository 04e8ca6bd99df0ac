"""How a language is written: its characters, its multiword tokens, and whether tokens hold spaces."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from easyfirst.errors import InputError, ModelError
from easyfirst.model.rewriting import Rewriting, lowered
from easyfirst.nn.arrays import Bools, Ints
from easyfirst.treebank.raw_text import Paragraph

SPACE = " "
MIN_PARTED = 2 / 3
"""The share of a token's occurrences that have the same parts, for it to be parted so wherever it stands."""
MIN_SEEN = 5
"""How often it must have them: *plumbers* for *plumber's* is a slip, and says nothing of other plumbers."""
# fmt: off
CATEGORIES = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
)
# fmt: on
"""Unicode's general categories: all that the network knows of a character that is not in its alphabet.

Each has a row in the table of characters, and the alphabet's rows follow them."""
_ROW_OF_CATEGORY = {category: row for row, category in enumerate(CATEGORIES)}
_JOINER = "\u200d"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_EMOJI_PARTS = frozenset([_JOINER, *map(chr, range(0x1F3FB, 0x1F400)), *map(chr, range(0xE0020, 0xE0080))])
"""Joiner, skin tones and tags."""


@dataclass(frozen=True, slots=True)
class Characters:
    """Texts as the tokenizer sees them, one after the other: every run of white space is one space."""

    rows: Ints  # in the table of characters
    categories: Ints  # the row each would have if it were unknown
    positions: Ints  # of each in the texts, joined
    is_space: Bools
    is_bound: Bools
    """Whether a character cannot be parted from the one before it: an accent, the rest of an emoji."""
    lengths: list[int]  # of each text


@dataclass(frozen=True, slots=True)
class TokenizerVocabulary:
    """What a tokenizer knows by name."""

    alphabet: Mapping[str, int]  # character -> row, after those of categories; white space of every kind is a space
    rewriting: Rewriting
    has_inner_spaces: bool
    """Whether there are tokens with white space in them."""
    parts: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """Tokens, in lower case, that mostly have the same words, which are their parts, and the lengths of these: English
    ``cannot`` is ``can`` and ``not``."""

    @classmethod
    def of(cls, paragraphs: Iterable[Paragraph], *, min_count: int) -> TokenizerVocabulary:
        """Of the characters that a treebank's text has at least so often, and of its tokens."""
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
                    seen[lowered(form)][()] += 1  # these are not its parts
                else:
                    seen[lowered(form)][tuple(map(len, token.words))] += 1
        known = [character for character, n in counts.items() if n >= min_count and not character.isspace()]
        known.sort(key=lambda character: (-counts[character], character))
        parts = {form: lengths for form, ways in sorted(seen.items()) if (lengths := _usual_parts(form, ways))}
        return cls(_numbered([SPACE, *known]), Rewriting.of(rewritten), has_inner_spaces, parts)

    def read(self, texts: Sequence[str]) -> Characters:
        """Texts that neither begin nor end with white space, and are not empty."""
        try:
            codes = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
        except UnicodeEncodeError as error:
            message = f"{error.object[error.start]!r} is not valid Unicode: decode the text with errors='replace'"
            raise InputError(f"the text has half of a surrogate pair in it; {message}") from None
        different, kinds = np.unique(codes, return_inverse=True)
        rows, categories, traits = self._look_up([chr(code) for code in different])
        is_space = (traits == _IS_SPACE)[kinds]
        is_kept = ~is_space
        is_kept[1:] |= ~is_space[:-1]
        kinds = kinds[is_kept]
        ends = np.cumsum(is_kept)[np.cumsum([len(text) for text in texts]) - 1]
        return Characters(
            rows[kinds],
            categories[kinds],
            np.flatnonzero(is_kept),
            is_space[is_kept],
            _bound(traits[kinds]),
            np.diff(ends, prepend=0).tolist(),
        )

    def _look_up(self, characters: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """The row, the category and the trait of different characters."""
        known = [SPACE if character.isspace() else character for character in characters]
        categories = [_ROW_OF_CATEGORY[unicodedata.category(character)] for character in known]
        rows = [self.alphabet.get(character, category) for character, category in zip(known, categories, strict=True)]
        return (
            np.array(rows),
            np.array(categories),
            np.array([_trait_of(character) for character in characters], dtype=np.int64),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "characters": list(self.alphabet),
            "rewriting": self.rewriting.to_dict(),
            "has_inner_spaces": self.has_inner_spaces,
            "parts": {form: list(lengths) for form, lengths in self.parts.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TokenizerVocabulary:
        """The inverse of :meth:`to_dict`; raises :class:`ModelError` if something is missing or of the wrong kind."""
        try:
            characters, inner = values["characters"], values["has_inner_spaces"]
            alphabet = _numbered(characters)
            if len(alphabet) != len(characters) or any(len(c) != 1 for c in alphabet) or SPACE not in alphabet:
                raise ValueError("characters must be single and different, and a space among them")
            if type(inner) is not bool:
                raise ValueError("has_inner_spaces must be true or false")
            parts = {form: tuple(lengths) for form, lengths in values.get("parts", {}).items()}  # older ones have none
            if any(
                len(form) != sum(sizes) or {type(n) for n in sizes} != {int} or min(sizes) < 1
                for form, sizes in parts.items()
            ):
                raise ValueError("the parts of a token must be as long as it is")
            return cls(alphabet, Rewriting.from_dict(values["rewriting"]), inner, parts)
        except KeyError as error:
            raise ModelError(f"the vocabulary is damaged ({error} is missing)") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"the vocabulary is damaged ({error})") from error


def _numbered(characters: Iterable[Any]) -> dict[str, int]:
    return {str(character): row for row, character in enumerate(characters, len(CATEGORIES))}


def is_rewritten(form: str, words: Sequence[str]) -> bool:
    """Whether a token's words are not simply its parts."""
    return len(words) > 1 and "".join(form.split()) != "".join("".join(words).split())


def _usual_parts(form: str, ways: Counter[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The lengths of a token's words, if it has several, as it mostly does."""
    lengths, n = ways.most_common(1)[0]
    is_usual = len(lengths) > 1 and n >= max(MIN_SEEN, MIN_PARTED * ways.total())
    return lengths if is_usual and sum(lengths) == len(form) else None


_PLAIN, _IS_SPACE, _CONTINUES, _JOINS, _IS_FLAG_LETTER = range(5)


def _trait_of(character: str) -> int:
    if character.isspace():
        return _IS_SPACE
    if character == _JOINER:
        return _JOINS
    if ord(character) in _FLAG_LETTERS:
        return _IS_FLAG_LETTER
    return _CONTINUES if character in _EMOJI_PARTS or unicodedata.category(character)[0] == "M" else _PLAIN


def _bound(traits: Ints) -> Bools:
    """Marks continue a character, a joiner joins two, and two letters make a flag."""
    is_bound = (traits == _CONTINUES) | (traits == _JOINS)
    is_bound[1:] |= traits[:-1] == _JOINS
    for place in np.flatnonzero(traits == _IS_FLAG_LETTER).tolist():
        if place and traits[place - 1] == _IS_FLAG_LETTER:
            is_bound[place] = not is_bound[place - 1]
    return is_bound
