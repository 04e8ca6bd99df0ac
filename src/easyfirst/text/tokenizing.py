"""The tokenizer: splits texts into sentences of tokens with their positions.

Paragraphs are tokenized separately: a blank line always ends a sentence. What the end of a line means depends on the
text: the line ends of a wrapped paragraph are spaces, and the network decides about others. Nothing is lost: every
character that is not white space is in exactly one token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from easyfirst.model.tokenizer_store import TokenizerModel
from easyfirst.model.tokenizer_vocabulary import Characters, lowered
from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Bools, Ints
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.sequences import span_states
from easyfirst.nn.tokenizer_network import REWRITTEN, SENTENCE_END, WORD_END, tokenizer_of
from easyfirst.text.lines import unwrap
from easyfirst.text.long_sentences import sentence_ends
from easyfirst.text.part_networks import tokenizer_network
from easyfirst.text.sentences import TokenizedText, cut
from easyfirst.text.spans import Spans, find_spans, single_emoji, whole_addresses, whole_signs, whole_words
from easyfirst.text.steps import Steps, finish
from easyfirst.text.windows import read_in_windows
from easyfirst.treebank.raw_text import Token

MAX_PIECE = 50_000  # characters; a longer paragraph is read in pieces
PIECE_MARGIN = 1000  # sentences that end this near the end of a piece are read again with the next
MAX_BATCH = 8000  # the most characters in a batch, which bounds the memory
# The rows whose outputs a window keeps, and its context on each side. More context changes nothing on EWT.
CHARACTER_WINDOW = {"size": 400, "context": 25}
TOKEN_WINDOW = {"size": 100, "context": 20}
_NOT_SPACE = re.compile(r"\S")
_MARK = re.compile(r"[^\w\s'’-]")
MIN_BARE = 8  # tokens; a shorter piece without punctuation may be a heading
_PARAGRAPH_END = re.compile(r"\n\s*\n|\u2029")
_LINE_ENDS = dict.fromkeys(map(ord, "\r\v\f\x85\u2028"), "\n")  # what else ends a line

Sentences = list[list[Token]]


@dataclass(slots=True)
class _Paragraph:
    """A paragraph of a text and the sentences found in it so far."""

    text: str
    shown: str  # the text as the network reads it: wrapped lines are joined
    begin: int  # of the part that has not been read yet
    end: int
    sentences: Sentences = field(default_factory=list[list[Token]])

    @property
    def piece(self) -> str:
        """The next piece to read; neither its first nor its last character is white space."""
        return self.shown[self.begin : min(self.begin + MAX_PIECE, self.end)].rstrip()

    def accept(self, sentences: Sentences, piece: str) -> None:
        """Add the sentences of a piece, except those at its end that more context might change. If these are more than
        half of the piece, all sentences are added, and the last one is split."""
        piece_end = self.begin + len(piece)
        if piece_end < self.end:
            sure = [sentence for sentence in sentences if sentence[-1].end <= piece_end - PIECE_MARGIN]
            if sure and sure[-1][-1].end - self.begin > len(piece) / 2:
                sentences = sure
        self.sentences += sentences
        next_character = _NOT_SPACE.search(self.text, sentences[-1][-1].end, self.end)
        self.begin = next_character.start() if next_character else self.end


class Tokenizer:
    """A trained tokenizer. Tokenizing does not change it, so threads may share it."""

    def __init__(self, model: TokenizerModel, backend: Backend | None = None) -> None:
        self.model = model
        self._backend = backend or Backend.choose()
        self._network = tokenizer_network(tokenizer_of(model.arrays), self._backend)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenizer, (self.model, self._backend)

    def tokenize(self, text: str) -> Sentences:
        """Return the sentences of a text; an empty list if it is only white space."""
        return self.tokenize_all([text])[0]

    def tokenize_all(self, texts: Sequence[str]) -> list[Sentences]:
        """Return the sentences of each text. Each is tokenized independently of the others."""
        return finish(self._sentence_steps(texts))

    def tokenize_texts(self, texts: Sequence[str], *, one_sentence: bool = False) -> list[TokenizedText]:
        """Tokenize texts; with ``one_sentence`` each text is one sentence, cut only if it is too long."""
        return finish(self.text_steps(texts, one_sentence=one_sentence))

    def text_steps(self, texts: Sequence[str], *, one_sentence: bool = False) -> Steps[list[TokenizedText]]:
        """Tokenize texts as :meth:`tokenize_texts` does, in steps. A step reads some thousand characters."""
        pairs = zip(texts, (yield from self._sentence_steps(texts)), strict=True)
        found = [TokenizedText(text, tuple(map(tuple, sentences))) for text, sentences in pairs]
        return [text.joined() for text in found] if one_sentence else found

    def _sentence_steps(self, texts: Sequence[str]) -> Steps[list[Sentences]]:
        reads_lines = self.model.vocabulary.reads_lines
        paragraphs = [list(_paragraphs_of(text, reads_lines=reads_lines)) for text in texts]
        waiting = [paragraph for of_text in paragraphs for paragraph in of_text][::-1]
        while waiting:
            batch: list[tuple[_Paragraph, str]] = []
            n = 0
            while waiting and (n == 0 or n + len(waiting[-1].piece) <= MAX_BATCH):
                paragraph = waiting.pop()
                batch.append((paragraph, paragraph.piece))
                n += len(batch[-1][1])
            yield from self._read(batch)
            waiting += [paragraph for paragraph, _ in batch if paragraph.begin < paragraph.end]
        return [[sentence for paragraph in of_text for sentence in paragraph.sentences] for of_text in paragraphs]

    def _read(self, batch: Sequence[tuple[_Paragraph, str]]) -> Steps[None]:
        """Read a piece of each paragraph, in steps."""
        vocabulary = self.model.vocabulary
        pieces = [piece for _, piece in batch]
        characters = vocabulary.read(pieces)
        h = yield from read_in_windows(
            lambda rows, lengths: self._network.read_characters(characters.rows[rows], lengths),
            characters.lengths,
            **CHARACTER_WINDOW,
        )
        boundaries = whole_signs(characters, self._network.score_boundaries(h).argmax(axis=1))
        boundaries = whole_words("".join(pieces), characters, boundaries, vocabulary)
        if vocabulary.reads_lines:  # older tokenizers work as they did
            boundaries = whole_addresses(pieces, characters, single_emoji(pieces, characters, boundaries))
        spans = find_spans(characters, boundaries, has_inner_spaces=vocabulary.has_inner_spaces)
        vectors = span_states(NUMPY, h, spans.first, spans.last)
        scores = yield from read_in_windows(
            lambda rows, lengths: self._network.score_tokens(vectors[rows], lengths),
            spans.lengths,
            **TOKEN_WINDOW,
        )
        tokens = self._tokens_of(batch, characters, boundaries, spans, scores[:, REWRITTEN] > 0)
        begin = 0
        for (paragraph, piece), n in zip(batch, spans.lengths, strict=True):
            is_bare = n >= MIN_BARE and not _MARK.search(piece)
            is_end = sentence_ends(scores[begin : begin + n, SENTENCE_END], vocabulary.lengths, is_bare=is_bare)
            paragraph.accept(_sentences_of(tokens[begin : begin + n], is_end), piece)
            begin += n

    def _tokens_of(
        self,
        batch: Sequence[tuple[_Paragraph, str]],
        characters: Characters,
        boundaries: Ints,
        spans: Spans,
        is_rewritten: Bools,
    ) -> list[Token]:
        begins = np.cumsum([0] + [len(piece) for _, piece in batch[:-1]])
        shift = np.repeat(np.array([paragraph.begin for paragraph, _ in batch]) - begins, spans.lengths)
        starts = (characters.positions[spans.first] + shift).tolist()
        ends = (characters.positions[spans.last] + shift + 1).tolist()
        texts = [paragraph.text for (paragraph, _), n in zip(batch, spans.lengths, strict=True) for _ in range(n)]
        forms = [text[start:end] for text, start, end in zip(texts, starts, ends, strict=True)]
        tokens = [Token(start, end, (form,)) for start, end, form in zip(starts, ends, forms, strict=True)]
        for k, word_ends in _word_ends(boundaries, spans).items():
            places = characters.positions[word_ends] + shift[k] + 1
            tokens[k] = _parted(tokens[k], texts[k], places.tolist())
        vocabulary = self.model.vocabulary
        rewriting, parts = vocabulary.rewriting, vocabulary.parts
        for k in np.flatnonzero(is_rewritten).tolist() if rewriting.rules else ():
            if lowered(forms[k]) not in vocabulary.whole:
                tokens[k] = Token(starts[k], ends[k], rewriting.rewrite(forms[k]))
        # Some tokens have the same parts almost everywhere in the treebank: split them whatever the network predicts.
        for k, form in enumerate(forms) if parts else ():
            if (form.lower() in parts or form in parts) and (lengths := parts.get(lowered(form))):
                tokens[k] = _parted(tokens[k], texts[k], [starts[k] + n for n in accumulate(lengths[:-1])])
        return tokens


def _word_ends(boundaries: Ints, spans: Spans) -> dict[int, list[int]]:
    """Return the rows of the last characters of words that end inside a token, by token."""
    rows: Ints = np.flatnonzero(boundaries == WORD_END)
    if not len(rows):
        return {}
    numbers: Ints = np.searchsorted(spans.last, rows)
    found: dict[int, list[int]] = {}
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        if spans.first[number] <= row < spans.last[number]:
            found.setdefault(number, []).append(row)
    return found


def _parted(token: Token, text: str, places: Sequence[int]) -> Token:
    """Return a token whose words end at these places and at its end."""
    words = (text[begin:end].strip() for begin, end in pairwise([token.start, *places, token.end]))
    return Token(token.start, token.end, tuple(word for word in words if word))


def _sentences_of(tokens: list[Token], is_end: Bools) -> Sentences:
    """Return the sentences of a piece, given which tokens end one."""
    ends: list[int] = (np.flatnonzero(is_end) + 1).tolist()
    bounds = pairwise([0, *ends])
    return [sentence for begin, end in bounds for sentence in cut(tokens[begin:end])]


def _paragraphs_of(text: str, *, reads_lines: bool) -> Iterator[_Paragraph]:
    parts: list[tuple[int, int]] = []
    begin = 0
    for end in [*(match.start() for match in _PARAGRAPH_END.finditer(text)), len(text)]:
        part = text[begin:end]
        if stripped := part.strip():
            first = begin + len(part) - len(part.lstrip())
            parts.append((first, first + len(stripped)))
        begin = end
    shown = _unwrapped(text, parts) if reads_lines else text
    for first, last in parts:
        yield _Paragraph(text, shown, first, last)


def _unwrapped(text: str, parts: Sequence[tuple[int, int]]) -> str:
    """Return a text of the same length with wrapped lines joined in these parts; old ends of lines are normalised."""
    text = text.replace("\r\n", " \n").translate(_LINE_ENDS)
    pieces: list[str] = []
    at = 0
    for first, last in parts:
        pieces += [text[at:first], unwrap(text[first:last])]
        at = last
    return "".join([*pieces, text[at:]])
