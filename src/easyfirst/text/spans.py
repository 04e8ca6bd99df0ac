"""From boundary predictions for each character to tokens. No character is lost, whatever the predictions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from easyfirst.model.tokenizer_vocabulary import N_LETTER_CATEGORIES, Characters, TokenizerVocabulary
from easyfirst.model.word_cuts import APOSTROPHES
from easyfirst.nn.arrays import Bools, Ints
from easyfirst.nn.tokenizer_network import INSIDE, TOKEN_END

_ADDRESS = re.compile(r"(?<!\w)(?:(?:https?|ftp)://|www\.)\w[^\s<>\"“”]*", re.IGNORECASE)
_EMOJI = re.compile("[\U0001f000-\U0001faff]|[\u2600-\u27bf]\ufe0f")
_OPENING = {")": "(", "]": "["}
_AFTER_ADDRESS = ".,;:!?'’…*"
MAX_TOKEN_CHARACTERS = 500  # a token with more, not counting white space, is split


@dataclass(frozen=True, slots=True)
class Spans:
    """The tokens of several texts, concatenated."""

    first: Ints  # (n_tokens,): the rows of the first characters
    last: Ints  # (n_tokens,): the rows of the last characters, inclusive
    lengths: list[int]  # the number of tokens in each text


def find_spans(characters: Characters, boundaries: Ints, *, has_inner_spaces: bool) -> Spans:
    """Return the tokens. They end at predicted boundaries, at the end of a text and, unless they may have inner spaces,
    at white space."""
    text_ends = np.cumsum(characters.lengths)
    is_end = boundaries == TOKEN_END
    if not has_inner_spaces:
        is_end[:-1] |= characters.is_space[1:]
    is_end[text_ends - 1] = True
    [rows] = (~characters.is_space).nonzero()
    ends = _cut_long(is_end[rows])
    starts = np.empty_like(ends)
    starts[0], starts[1:] = True, ends[:-1]
    last = rows[ends]
    n_before: list[int] = last.searchsorted(text_ends).tolist()
    return Spans(rows[starts], last, [n - before for before, n in pairwise([0, *n_before])])


def whole_signs(characters: Characters, boundaries: Ints) -> Ints:
    """Return the predictions without boundaries inside grapheme clusters."""
    if not characters.is_bound.any():
        return boundaries
    return np.where(np.append(characters.is_bound[1:], False), INSIDE, boundaries)


def whole_words(text: str, characters: Characters, boundaries: Ints, vocabulary: TokenizerVocabulary) -> Ints:
    """Return the predictions without boundaries inside words of letters that are not cut.

    An apostrophe beside the letters makes them part of something else: *don* may be a word, *don't* is two.
    """
    cuts, whole = vocabulary.cuts, vocabulary.whole
    if cuts is None and not whole:
        return boundaries
    boundaries = boundaries.copy()
    places = characters.positions
    is_letter = characters.categories < N_LETTER_CATEGORIES
    begins_text = np.zeros(len(places) + 1, dtype=np.bool_)
    begins_text[np.cumsum([0, *characters.lengths])] = True
    continues = is_letter & np.append(False, is_letter[:-1]) & ~begins_text[:-1]  # the word of the letter before
    after = 0  # the end of the last word
    for row in np.flatnonzero((boundaries[:-1] != INSIDE) & continues[1:]).tolist():
        if row < after:  # a further boundary in the same word
            continue
        first, after = row, row + 2
        while continues[first]:
            first -= 1
        while after < len(places) and continues[after]:
            after += 1
        beside = text[places[first] - 1 : places[first]] * (not begins_text[first])
        beside += text[places[after - 1] + 1 : places[after - 1] + 2] * (not begins_text[after])
        word = text[places[first] : places[after - 1] + 1].lower()
        is_whole = word in whole or (cuts is not None and word not in cuts)
        if is_whole and not set(beside) & set(APOSTROPHES):
            boundaries[first : after - 1] = INSIDE
    return boundaries


def whole_addresses(texts: Sequence[str], characters: Characters, boundaries: Ints) -> Ints:
    """Return the predictions with each web address as one token. Punctuation after it is not part of it."""
    boundaries = boundaries.copy()
    begin = 0
    for text in texts:
        for match in _ADDRESS.finditer(text) if "://" in text or "www." in text.lower() else ():
            address = match[0].rstrip(_AFTER_ADDRESS)
            while (opening := _OPENING.get(address[-1])) and address.count(opening) < address.count(address[-1]):
                address = address[:-1].rstrip(_AFTER_ADDRESS)
            first, last = np.searchsorted(
                characters.positions, [begin + match.start(), begin + match.start() + len(address) - 1]
            ).tolist()
            boundaries[first:last], boundaries[last] = INSIDE, TOKEN_END
            if match.start():
                boundaries[first - 1] = TOKEN_END
        begin += len(text)
    return boundaries


def single_emoji(texts: Sequence[str], characters: Characters, boundaries: Ints) -> Ints:
    """Return the predictions with each emoji as one token, whatever is next to it."""
    if all(map(str.isascii, texts)):
        return boundaries
    boundaries = boundaries.copy()
    starts = np.append(np.flatnonzero(~characters.is_bound), len(boundaries))  # of grapheme clusters
    begin = 0
    for text in texts:
        for match in () if text.isascii() else _EMOJI.finditer(text):
            row = int(np.searchsorted(characters.positions, begin + match.start()))
            if not characters.is_bound[row]:
                boundaries[starts[np.searchsorted(starts, row, side="right")] - 1] = TOKEN_END
                if match.start():
                    boundaries[row - 1] = TOKEN_END
        begin += len(text)
    return boundaries


def _cut_long(ends: Bools) -> Bools:
    """Add ends inside tokens that are too long."""
    if len(ends) <= MAX_TOKEN_CHARACTERS:
        return ends
    places = np.flatnonzero(ends)
    sizes = np.diff(places, prepend=-1)
    for number in np.flatnonzero(sizes > MAX_TOKEN_CHARACTERS).tolist():
        begin = places[number] - sizes[number]
        ends[begin + MAX_TOKEN_CHARACTERS : places[number] : MAX_TOKEN_CHARACTERS] = True
    return ends
