"""Tokenized text as sentences: CoNLL-U blocks that say where in the text each token stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence

NO_COLUMNS = "\t_" * 7
MAX_SENTENCE_WORDS = 500
"""A sentence of a text with more words is cut."""


def sentences_of(text: str, sentences: Sequence[Sequence[Token]]) -> Iterator[Sentence]:
    """A :class:`Sentence` for each list of tokens, which stand in their order in the text.

    ``# text`` has one space for each run of white space, as has a form. MISC says ``TokenRange=start:end``, on the line
    of the multiword token if it is one, and ``SpaceAfter=No`` if the next token follows at once.
    """
    next_starts = [tokens[0].start for tokens in sentences[1:]] + [None]
    for tokens, next_start in zip(sentences, next_starts, strict=False):
        yield _sentence_of(text, tokens, next_start)


def joined(sentences: Sequence[Sequence[Token]]) -> list[list[Token]]:
    """All tokens of a text as one sentence, cut only if it is too long; none if there are none."""
    return list(cut([token for sentence in sentences for token in sentence])) if sentences else []


def cut(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """A sentence, or its parts: each of at most MAX_SENTENCE_WORDS words or of one token."""
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
    lines = [f"# text = {_in_one_line(text[tokens[0].start : tokens[-1].end])}\n"]
    forms: list[str] = []
    for number, token in enumerate(tokens, 1):
        follows = tokens[number].start if number < len(tokens) else next_start
        misc = f"{'SpaceAfter=No|' * (follows == token.end)}TokenRange={token.start}:{token.end}"
        words = [_in_one_line(word) for word in token.words]
        first = len(forms) + 1
        forms += words
        if len(words) == 1:
            lines.append(f"{first}\t{words[0]}{NO_COLUMNS}\t{misc}\n")
        else:
            form = _in_one_line(text[token.start : token.end])
            lines.append(f"{first}-{len(forms)}\t{form}{NO_COLUMNS}\t{misc}\n")
            lines += [f"{m}\t{word}{NO_COLUMNS}\t_\n" for m, word in enumerate(words, first)]
    lines.append("\n")
    none, nothing = ("_",) * len(forms), (None,) * len(forms)
    return Sentence(
        forms=tuple(forms),
        upos=none,
        xpos=none,
        heads=nothing,
        relations=nothing,
        block="".join(lines).encode(),
    )


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
