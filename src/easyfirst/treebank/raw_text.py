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


class Place(NamedTuple):
    """Where the words of a sentence are in a text."""

    text: str
    """The text, from ``offset`` on and at least to the white space that follows the sentence."""
    tokens: tuple[Token, ...]
    """The tokens of the sentence."""
    offset: int = 0

    @classmethod
    def of(cls, sentence: Sentence) -> Place:
        """Return the place of a sentence in its own text. A space follows it unless its last token has
        ``SpaceAfter=No``."""
        text, tokens, has_space_after = _read_sentence(sentence, "given")
        return cls(text + " " * has_space_after, tokens)

    @property
    def start(self) -> int:
        """The position of the first character of the sentence."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The position after its last character."""
        return self.tokens[-1].end

    def between(self, start: int, end: int) -> str:
        """Return the characters between two positions."""
        return self.text[start - self.offset : end - self.offset]

    def spans(self) -> list[tuple[int, int]]:
        """Return the start and the end of each word. The words of a multiword token have their own parts of it if it
        consists of them, and else all of it."""
        spans: list[tuple[int, int]] = []
        for start, end, words in self.tokens:
            if len(words) == 1 or "".join(words) != self.between(start, end):
                spans += [(start, end)] * len(words)
            else:
                for word in words:
                    spans.append((start, start + len(word)))
                    start += len(word)
        return spans

    def end_of_space(self) -> int:
        """Return the position after the white space that follows the sentence."""
        end = self.end - self.offset
        while self.text[end : end + 1].isspace():
            end += 1
        return end + self.offset

    def shortened(self) -> Place:
        """Return the place in the part of the text that belongs to the sentence."""
        return Place(self.between(self.start, self.end_of_space()), self.tokens, self.start)


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
        text, tokens, has_space_after = _read_sentence(sentence, spaces, at)
        sentences.append(tokens)
        parts.append(text + " " * has_space_after)
        at += len(parts[-1])
    return Paragraph("".join(parts).removesuffix(" "), tuple(sentences))


def _read_sentence(sentence: Sentence, spaces: str, at: int = 0) -> tuple[str, tuple[Token, ...], bool]:
    """Return the text of a sentence, its tokens if the text begins ``at`` a position, and whether a space follows."""
    text, spans, has_space_after = _read_line(sentence, spaces)
    words = (sentence.forms[token.words.start : token.words.stop] for token in sentence.surface_tokens)
    tokens = zip(spans, words, strict=True)
    return text, tuple(Token(at + start, at + end, forms) for (start, end), forms in tokens), has_space_after


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
