"""Tokens made by rule, of kinds that treebanks have few of: addresses, hashtags, emoji and telephone numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_lowercase

import numpy as np

from easyfirst.training.abbreviations import listed
from easyfirst.training.pieces import Piece, Pieces

TOP_DOMAINS = listed("com org net edu gov info io co.uk ac.uk de fr es com.br nl eu")
EXTENSIONS = listed("html htm php pdf doc docx xls xlsx txt jpg png zip csv py mp3")
SCHEMES = ("http://", "https://", "http://www.", "https://www.", "www.", "ftp://", "")
EMOJI = listed(
    "😀 😂 😊 😍 😢 😡 🤔 🙄 😎 😭 🥰 😉 👍 👎 👏 🙏 💪 ❤️ 💔 🔥 ✨ 🎉 🎂 🚀 ⚽ ☀️ ⭐ ✅ ❌ ☕ 🍕 🐶 🌍 "
    "👍🏽 🤷\u200d♀️ 👨\u200d👩\u200d👧 🇫🇷 🇧🇷 ☺️ ♥"
)
EMOTICONS = listed(":) :-) :( :-( ;) ;-) :D :-D :P :p <3 =) :/ ^_^ xD")
Words = Sequence[str]


def _some(rng: np.random.Generator, items: Sequence[str]) -> str:
    return items[int(rng.integers(len(items)))]


def _digits(rng: np.random.Generator, n: int) -> str:
    return "".join(map(str, rng.integers(0, 10, n)))


def _word(rng: np.random.Generator, words: Words) -> str:
    """Return a word in lower case, or a few random letters."""
    if rng.random() < 0.2:
        return "".join(_some(rng, ascii_lowercase) for _ in range(int(rng.integers(1, 4))))
    return _some(rng, words).lower()


def _label(rng: np.random.Generator, words: Words) -> str:
    """Return a part of an address: a word or two, with or without digits."""
    label, other = (_word(rng, words) for _ in range(2))
    chance = rng.random()
    if chance < 0.3:
        label += _some(rng, ("-", "-", "_", ".", "")) + other
    elif chance < 0.45:
        label += _digits(rng, int(rng.integers(1, 4)))
    return label


def domain(rng: np.random.Generator, words: Words) -> str:
    label = _label(rng, words).replace("_", "-").replace(".", "-")
    inner = f"{_some(rng, words).lower()}." if rng.random() < 0.15 else ""
    return f"{inner}{label}.{_some(rng, TOP_DOMAINS)}"


def url(rng: np.random.Generator, words: Words) -> str:
    """Return the address of a page."""
    scheme = _some(rng, SCHEMES)
    path = "".join("/" + _label(rng, words) for _ in range(int(rng.integers(0, 4))))
    if path and rng.random() < 0.2:
        path += "/"
    elif path and rng.random() < 0.4:
        path += f".{_some(rng, EXTENSIONS)}"
    if path and rng.random() < 0.25:
        path += f"?{_some(rng, words).lower()}={_some(rng, words)}" + (f"&id={_digits(rng, 3)}" * (rng.random() < 0.4))
    if path and rng.random() < 0.1:
        path += f"#{_some(rng, words).lower()}"
    port = f":{_digits(rng, 4)}" if scheme and rng.random() < 0.05 else ""
    return scheme + domain(rng, words) + port + (path or "/" * (rng.random() < 0.2))


def email(rng: np.random.Generator, words: Words) -> str:
    user, other = _some(rng, words), _word(rng, words)
    chance = rng.random()
    if chance < 0.35:
        user = f"{user if rng.random() < 0.5 else user[0]}.{other}"
    elif chance < 0.5:
        user = f"{user}{_some(rng, '_-+')}{other}"
    elif chance < 0.65:
        user += _digits(rng, 2)
    if rng.random() < 0.1:
        user += f"+{_word(rng, words)}"
    address = f"{user}@{domain(rng, words)}"
    return address if rng.random() < 0.3 else address.lower()


def hashtag(rng: np.random.Generator, words: Words) -> str:
    chosen = [_some(rng, words) for _ in range(int(rng.integers(1, 4)))]
    tag = "".join(word.capitalize() for word in chosen) if rng.random() < 0.6 else "".join(chosen).lower()
    return "#" + tag + _digits(rng, 4) * (rng.random() < 0.1)


def mention(rng: np.random.Generator, words: Words) -> str:
    return "@" + _some(rng, words) + _some(rng, ("", "", "_", "")) + _some(rng, words).lower()


def file_name(rng: np.random.Generator, words: Words) -> str:
    return f"{_label(rng, words)}.{_some(rng, EXTENSIONS)}"


MAKERS: tuple[Callable[[np.random.Generator, Words], str], ...] = (url, url, email, email, hashtag, mention, file_name)


def made_token(rng: np.random.Generator, words: Words) -> Pieces:
    """Return an address, a hashtag or the like."""
    return [Piece.of(MAKERS[int(rng.integers(len(MAKERS)))](rng, words))]


def emoji(rng: np.random.Generator) -> Pieces:
    """Return up to three emoji, each a token, or an emoticon."""
    if rng.random() < 0.25:
        return [Piece.of(_some(rng, EMOTICONS))]
    sign, n = _some(rng, EMOJI), int(rng.choice([1, 1, 1, 2, 3]))
    signs = [sign if rng.random() < 0.6 else _some(rng, EMOJI) for _ in range(n)]
    return [Piece.of(sign, "" if k + 1 < n else " ") for k, sign in enumerate(signs)]


def telephone(rng: np.random.Generator) -> Pieces:
    """Return a number in groups of digits. Brackets are tokens of their own."""
    sizes = (3, 3, 4)[int(rng.integers(2)) :] if rng.random() < 0.3 else rng.choice([2, 3, 4], int(rng.integers(2, 5)))
    groups = [_digits(rng, int(n)) for n in sizes]
    chance = rng.random()
    if chance < 0.3:
        return [Piece.of(_some(rng, "-.").join(groups))]
    prefix: Pieces = []
    if chance < 0.7:
        prefix = [Piece.of(f"+{_digits(rng, int(rng.integers(1, 4)))}")]
    if rng.random() < 0.5:
        space = "" if rng.random() < 0.4 else " "
        prefix += [Piece.of("(", ""), Piece.of("0" if space == "" else _digits(rng, 3), ""), Piece.of(")", space)]
    if rng.random() < 0.4:
        return [*prefix, Piece.of("-".join(groups))]
    return [*prefix, *map(Piece.of, groups)]
