"""The raw text of a treebank, in paragraphs, with the positions of its tokens and sentences.

The text of a sentence is its ``# text`` comment if that contains the tokens, and otherwise rebuilt from forms and
``SpaceAfter=No``. The sentences of a paragraph are separated by a space, unless the last token of the first has
``SpaceAfter=No``. ``# newpar`` and ``# newdoc`` begin a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from easyfirst.errors import ConfigError, DataError
from easyfirst.treebank.misc import entries
from easyfirst.treebank.sentence import Sentence, SurfaceToken
from easyfirst.treebank.spacing import guessed, has_unspaced_script, unspaced

SPACES = ("given", "none", "guessed")  # the treebank marks white space; its text has none; it is guessed
_NEW_PARAGRAPH = re.compile(r"#[ \t]*new(par|doc)\b")
_NEW_DOCUMENT = re.compile(r"#[ \t]*newdoc\b")


class Token(NamedTuple):
    """A token and its position in a text: ``text[start:end]``."""

    start: int
    """The position of its first character."""
    end: int
    """The position after its last character."""
    words: tuple[str, ...]
    """The syntactic words; more than one for a multiword token."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text and its sentences, each of at least one token."""

    text: str
    sentences: tuple[tuple[Token, ...], ...]


def read_paragraphs(treebank: Iterable[Sentence], *, spaces: str = "given") -> list[Paragraph]:
    """Return the paragraphs of a treebank. If it does not mark white space (see :func:`spaces_of`), its text has none
    or it is guessed, depending on the script."""
    if spaces not in SPACES:
        raise ConfigError(f"spaces must be one of {', '.join(SPACES)}")
    sentences = list(treebank)
    spaces = spaces_of(sentences) if spaces == "given" else spaces
    paragraphs: list[list[Sentence]] = []
    for sentence in sentences:
        if not paragraphs or _has_comment(sentence, _NEW_PARAGRAPH):
            paragraphs.append([])
        paragraphs[-1].append(sentence)
    return [_read_paragraph(paragraph, spaces) for paragraph in paragraphs]


def read_text(sentence: Sentence) -> Paragraph:
    """Return the text of one sentence. If neither ``# text`` nor ``SpaceAfter=No`` marks white space, there is a space
    between any two tokens."""
    return _read_paragraph([sentence], "given")


def text_of(sentence: Sentence) -> str:
    """Return one sentence as it was most likely written: if nothing marks white space, it is guessed."""
    if not all(map(str.strip, sentence.forms)):
        return " ".join(sentence.forms)
    return _read_paragraph([sentence], spaces_of([sentence])).text


def spaces_of(sentences: Sequence[Sentence]) -> str:
    """Return how the spaces of a treebank are known: one of ``SPACES``. A treebank marks them if a sentence has a
    ``# text`` comment or ``SpaceAfter=No``."""
    if any("text" in s.metadata or not all(map(_has_space_after, s.surface_tokens)) for s in sentences):
        return "given"
    return "none" if has_unspaced_script(form for s in sentences for form in s.forms) else "guessed"


def is_new_document(sentence: Sentence) -> bool:
    """Return whether ``# newdoc`` stands before the sentence."""
    return _has_comment(sentence, _NEW_DOCUMENT)


def raw_text(paragraphs: Iterable[Paragraph]) -> str:
    """Return the text of all paragraphs, separated by blank lines."""
    return "\n\n".join(paragraph.text for paragraph in paragraphs)


def surface_text(sentence: Sentence) -> str:
    """Return the text of a sentence from its forms and ``SpaceAfter=No``.

    >>> surface_text(Sentence.from_words(["The", "fox"]))
    'The fox'
    """
    parts = [(token.form, " " * _has_space_after(token)) for token in sentence.surface_tokens]
    return "".join(form + space for form, space in parts[:-1]) + parts[-1][0]


def _has_comment(sentence: Sentence, pattern: re.Pattern[str]) -> bool:
    """Return whether one of the comments of a sentence, or of those before it that belong to none, matches."""
    before = sentence.prefix.decode(errors="replace").split("\n") if sentence.prefix else ()
    return any(pattern.match(comment) for comment in (*before, *sentence.comments))


def _has_space_after(token: SurfaceToken) -> bool:
    return ("SpaceAfter", "=", "No") not in entries(token.misc)


def _read_paragraph(paragraph: Sequence[Sentence], spaces: str) -> Paragraph:
    parts: list[str] = []
    sentences: list[tuple[Token, ...]] = []
    at = 0
    for sentence in paragraph:
        text, spans, has_space_after = _read_line(sentence, spaces)
        words = (sentence.forms[token.words.start : token.words.stop] for token in sentence.surface_tokens)
        tokens = zip(spans, words, strict=True)
        sentences.append(tuple(Token(at + start, at + end, forms) for (start, end), forms in tokens))
        parts.append(text + " " * has_space_after)
        at += len(parts[-1])
    return Paragraph("".join(parts).removesuffix(" "), tuple(sentences))


def _read_line(sentence: Sentence, spaces: str) -> tuple[str, list[tuple[int, int]], bool]:
    """Return the text of a sentence, the spans of its tokens in it, and whether a space follows."""
    tokens = list(sentence.surface_tokens)
    forms = [_form(token, sentence) for token in tokens]
    if spaces != "given":
        has_space_after = unspaced(forms) if spaces == "none" else guessed(forms)
        return *_rebuild(forms, has_space_after), has_space_after[-1]
    has_space_after = list(map(_has_space_after, tokens))
    text = sentence.metadata.get("text", "")
    spans = _find(text, forms)
    return *(_rebuild(forms, has_space_after) if spans is None else (text, spans)), has_space_after[-1]


def _form(token: SurfaceToken, sentence: Sentence) -> str:
    """Return the form of a token without white space around it."""
    if not (form := token.form.strip()):
        message = f"FORM is {token.form!r}, only white space; correct it"
        raise DataError(message, source=sentence.source, line=token.line)
    return form


def _rebuild(forms: Sequence[str], has_space_after: Sequence[bool]) -> tuple[str, list[tuple[int, int]]]:
    """Join forms into a text; return it and the spans of the forms."""
    text = ""
    spans: list[tuple[int, int]] = []
    for form, space in zip(forms, has_space_after, strict=True):
        spans.append((len(text), len(text) + len(form)))
        text += form + " " * space
    return text[: spans[-1][1]], spans


def _find(text: str, forms: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the spans of forms in a text that consists of them and white space; None if it does not."""
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
