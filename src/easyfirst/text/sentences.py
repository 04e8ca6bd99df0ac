"""Tokenized texts, and their sentences, which store the position of each token in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence, SurfaceToken

MAX_SENTENCE_WORDS = 500  # longer sentences of a text are split


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text and the tokens of each of its sentences."""

    text: str
    tokens: tuple[tuple[Token, ...], ...]

    def joined(self) -> TokenizedText:
        """Return the text as one sentence, cut only if it is too long."""
        tokens = [token for sentence in self.tokens for token in sentence]
        return TokenizedText(self.text, tuple(map(tuple, cut(tokens))) if tokens else ())

    def sentences(self) -> list[Sentence]:
        """Return the sentences as CoNLL-U has them, without tags and trees."""
        return list(sentences_of(self.text, self.tokens))


def sentences_of(text: str, sentences: Sequence[Sequence[Token]]) -> Iterator[Sentence]:
    """Yield a :class:`Sentence` for each list of tokens, given in the order of the text.

    In ``# text`` and in forms, a run of white space becomes one space. MISC has ``TokenRange=start:end`` (on its own
    line for a multiword token), and ``SpaceAfter=No`` if the next token follows immediately.
    """
    next_starts = [tokens[0].start for tokens in sentences[1:]] + [None]
    for tokens, next_start in zip(sentences, next_starts, strict=False):
        yield _sentence_of(text, tokens, next_start)


def cut(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield a sentence, or its parts if it is too long: each of at most MAX_SENTENCE_WORDS words or of one token."""
    part: list[Token] = []
    n_words = 0
    for token in tokens:
        if part and n_words + len(token.words) > MAX_SENTENCE_WORDS:
            yield part
            part, n_words = [], 0
        part.append(token)
        n_words += len(token.words)
    yield part


def _sentence_of(text: str, tokens: Sequence[Token], next_start: int | None) -> Sentence:
    forms: list[str] = []
    misc: list[str] = []
    multiword: list[SurfaceToken] = []
    for (start, end, words), follows in zip(tokens, [*(token.start for token in tokens[1:]), next_start], strict=True):
        cell = f"{'SpaceAfter=No|' if follows == end else ''}TokenRange={start}:{end}"
        if len(words) == 1:
            forms.append(_in_one_line(words[0]))
            misc.append(cell)
        else:
            places = range(len(forms), len(forms) + len(words))
            multiword.append(SurfaceToken(_in_one_line(text[start:end]), places, cell, True))
            forms += map(_in_one_line, words)
            misc += ["_"] * len(words)
    comment = f"# text = {_in_one_line(text[tokens[0].start : tokens[-1].end])}"
    return Sentence.unannotated(forms, misc, multiword=tuple(multiword), comments=(comment,))


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
