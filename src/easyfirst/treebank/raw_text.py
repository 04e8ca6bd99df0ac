"""The raw text that a treebank annotates, in paragraphs, and where its tokens and sentences stand in it.

The text of a sentence is its ``# text`` if the tokens are found in it, and else made of forms and ``SpaceAfter=No``.
Sentences of a paragraph follow each other after a space, unless the last token of the first says ``SpaceAfter=No``;
``# newpar`` and ``# newdoc`` begin a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from easyfirst.errors import ConfigError, DataError
from easyfirst.treebank.sentence import Sentence

SPACES = ("given", "none")
"""``given``: the treebank says where white space is; ``none``: its language is written without."""
PARAGRAPH_BREAK = "\n\n"
_NEW_PARAGRAPH = re.compile(rb"^#[ \t]*new(par|doc)\b", re.MULTILINE)
_NEW_DOCUMENT = re.compile(rb"^#[ \t]*newdoc\b", re.MULTILINE)
_MULTIWORD_ID = re.compile(r"([0-9]+)-([0-9]+)")


@dataclass(frozen=True, slots=True)
class Token:
    """A token and where it stands in a text: ``text[start:end]``."""

    start: int
    end: int
    words: tuple[str, ...]
    """More than one: a multiword token."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text and its sentences, each of at least one token."""

    text: str
    sentences: tuple[tuple[Token, ...], ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A token without a place."""

    form: str
    words: tuple[str, ...]
    has_space_after: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence with its units in their places."""

    text: str
    tokens: tuple[Token, ...]
    has_space_after: bool


def read_paragraphs(treebank: Iterable[Sentence], *, spaces: str = "given") -> list[Paragraph]:
    """The paragraphs of a treebank. One that says nothing about white space is a :class:`DataError`, unless it is
    declared to be of a language without (``spaces="none"``)."""
    if spaces not in SPACES:
        raise ConfigError(f"spaces must be one of {', '.join(SPACES)}")
    sentences = list(treebank)
    if spaces == "given" and sentences and not any(map(_says_spaces, sentences)):
        raise DataError(
            "no sentence has a '# text' comment or SpaceAfter=No, so where the text has spaces is not known; say "
            "--no-spaces (spaces='none') if the language is written without them, or use a treebank that has its text",
            source=sentences[0].source,
        )
    paragraphs: list[list[_Line]] = []
    for sentence in sentences:
        if not paragraphs or _NEW_PARAGRAPH.search(sentence.prefix + sentence.block):
            paragraphs.append([])
        paragraphs[-1].append(_read_line(sentence, spaces))
    return [_join(lines) for lines in paragraphs]


def is_new_document(sentence: Sentence) -> bool:
    """Whether ``# newdoc`` stands before it."""
    return _NEW_DOCUMENT.search(sentence.prefix + sentence.block) is not None


def raw_text(paragraphs: Iterable[Paragraph]) -> str:
    """The text of all paragraphs, with a blank line between two."""
    return PARAGRAPH_BREAK.join(paragraph.text for paragraph in paragraphs)


def _says_spaces(sentence: Sentence) -> bool:
    return b"SpaceAfter=No" in sentence.block or "text" in sentence.metadata


def _join(lines: Sequence[_Line]) -> Paragraph:
    parts: list[str] = []
    sentences: list[tuple[Token, ...]] = []
    at = 0
    for number, line in enumerate(lines, 1):
        sentences.append(tuple(Token(at + token.start, at + token.end, token.words) for token in line.tokens))
        text = line.text + " " * (line.has_space_after and number < len(lines))
        parts.append(text)
        at += len(text)
    return Paragraph("".join(parts), tuple(sentences))


def _read_line(sentence: Sentence, spaces: str) -> _Line:
    units = _units_of(sentence)
    if spaces == "none":
        pairs = pairwise(units)
        follows = [_is_latin(unit.form[-1]) and _is_latin(after.form[0]) for unit, after in pairs]
        units = [_Unit(u.form, u.words, space) for u, space in zip(units, [*follows, False], strict=True)]
    else:
        text = sentence.metadata.get("text", "")
        spans = _find(text, [unit.form for unit in units])
        if spans:
            tokens = tuple(Token(*span, unit.words) for span, unit in zip(spans, units, strict=True))
            return _Line(text, tokens, units[-1].has_space_after)
    return _rebuild(units)


def _is_latin(character: str) -> bool:
    """Whether this is a letter or digit of a script with spaces, which also stand between two such words in a text of a
    language without."""
    return character.isascii() and character.isalnum()


def _rebuild(units: Sequence[_Unit]) -> _Line:
    parts: list[str] = []
    tokens: list[Token] = []
    at = 0
    for number, unit in enumerate(units, 1):
        tokens.append(Token(at, at + len(unit.form), unit.words))
        text = unit.form + " " * (unit.has_space_after and number < len(units))
        parts.append(text)
        at += len(text)
    return _Line("".join(parts), tuple(tokens), units[-1].has_space_after)


def _find(text: str, forms: Sequence[str]) -> list[tuple[int, int]] | None:
    """The spans of forms in a text that consists of them and white space; None if it does not."""
    spans: list[tuple[int, int]] = []
    at = 0
    for form in forms:
        while text[at : at + 1].isspace():
            at += 1
        if not text.startswith(form, at):
            return None
        spans.append((at, at + len(form)))
        at += len(form)
    return None if text[at:].strip() else spans


def _units_of(sentence: Sentence) -> list[_Unit]:
    units: list[_Unit] = []
    covered = 0  # the last word that a multiword token covers
    for row, line in enumerate(sentence.block.decode().split("\n")):
        cells = line.rstrip("\r").split("\t")
        if line.startswith("#") or len(cells) == 1:
            continue
        if multiword := _MULTIWORD_ID.fullmatch(cells[0]):
            covered = int(multiword[2])
            words = sentence.forms[int(multiword[1]) - 1 : covered]
        elif cells[0].isdecimal() and int(cells[0]) > covered:
            words = (cells[1],)
        else:
            continue
        if not (form := cells[1].strip()):
            place = None if sentence.line is None else sentence.line + row
            raise DataError(f"FORM is {cells[1]!r}, only white space; correct it", source=sentence.source, line=place)
        units.append(_Unit(form, words, "SpaceAfter=No" not in cells[-1].split("|")))
    return units
