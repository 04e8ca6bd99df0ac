"""Where a text has spaces, for treebanks that do not say it.

Some treebanks have neither ``# text`` nor ``SpaceAfter=No``. If their script is written without spaces, so is their
text. Otherwise spaces are guessed from the punctuation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

UNSPACED = ("CJK ", "HIRAGANA", "KATAKANA", "BOPOMOFO", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ", "YI ")
LETTERS = 10_000  # read to find out the script
_BEFORE = set(".,;:!?…%)]}»”’›।،؛؟")  # no space before
_AFTER = set("([{«“„‘‚‹¿¡")  # no space after
_QUOTES = set("\"'`")  # these alternate: opening, closing
_BOTH = set("/")


def has_unspaced_script(forms: Iterable[str]) -> bool:
    """Return whether most letters are of scripts that are written without spaces."""
    n_letters = n_unspaced = 0
    for form in forms:
        for character in form:
            if character.isalpha():
                n_letters += 1
                n_unspaced += unicodedata.name(character, "").startswith(UNSPACED)
        if n_letters >= LETTERS:
            break
    return 2 * n_unspaced > n_letters


def unspaced(forms: Sequence[str]) -> list[bool]:
    """Return after which forms of a sentence there is a space if its script has none: between two that are Latin."""
    return [_is_latin(form[-1]) and _is_latin(after[0]) for form, after in pairwise(forms)] + [False]


def guessed(forms: Sequence[str]) -> list[bool]:
    """Return after which forms of a sentence there is most likely a space."""
    joins_next: list[bool] = []
    joins_last: list[bool] = []
    is_open = dict.fromkeys(_QUOTES, False)
    for form in forms:
        opens = closes = False
        if form in _QUOTES or form in ("''", "``"):
            mark = '"' if len(form) == 2 else form
            opens, closes = not is_open[mark], is_open[mark]
            is_open[mark] = opens
        joins_next.append(opens or (form[-1] in _AFTER and len(form) == 1) or form in _BOTH)
        joins_last.append(closes or set(form) <= _BEFORE or form in _BOTH)
    pairs = zip(joins_next, joins_last[1:], strict=False)
    return [not (joined or joins) for joined, joins in pairs] + [True]


def _is_latin(character: str) -> bool:
    """Return whether this is an ASCII letter or digit: even texts without spaces have one between two such words."""
    return character.isascii() and character.isalnum()
