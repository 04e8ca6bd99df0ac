"""From boundary predictions for each character to tokens. No character is lost, whatever the predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfirst.model.tokenizer_vocabulary import Characters
from easyfirst.nn.arrays import Bools, Ints
from easyfirst.nn.tokenizer_network import INSIDE, TOKEN_END

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
    rows = np.flatnonzero(~characters.is_space)
    ends = _cut_long(is_end[rows])
    starts = np.empty_like(ends)
    starts[0], starts[1:] = True, ends[:-1]
    last = rows[ends]
    return Spans(rows[starts], last, np.diff(np.searchsorted(last, text_ends), prepend=0).tolist())


def whole_signs(characters: Characters, boundaries: Ints) -> Ints:
    """Return the predictions without boundaries inside grapheme clusters."""
    return np.where(np.append(characters.is_bound[1:], False), INSIDE, boundaries)


def _cut_long(ends: Bools) -> Bools:
    """Add ends inside tokens that are too long."""
    places = np.flatnonzero(ends)
    sizes = np.diff(places, prepend=-1)
    for number in np.flatnonzero(sizes > MAX_TOKEN_CHARACTERS).tolist():
        begin = places[number] - sizes[number]
        ends[begin + MAX_TOKEN_CHARACTERS : places[number] : MAX_TOKEN_CHARACTERS] = True
    return ends
