"""Cutting sentences that are improbably long, such as those of text without punctuation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from easyfirst.model.sentence_lengths import SentenceLengths
from easyfirst.nn.arrays import Bools, Floats

LEAST_IN_LONG = -1.0  # the log-odds above which a long sentence is cut: a probability of 27 %
LEAST_IN_BARE = -0.5  # the same in text without punctuation, where as many ends are missed as are wrong
MAX_SENTENCE_TOKENS = 500  # no sentence is longer once it is cut


def sentence_ends(log_odds: Floats, lengths: SentenceLengths | None, *, is_bare: bool = False) -> Bools:
    """Return which tokens end a sentence, given the log-odds of each token. The last one always does. ``is_bare``: the
    text has no punctuation.

    A sentence ends where that is more probable than not; a long one is also cut where that is nearly as probable. One
    that is still longer than usual is cut where the sum of the log-odds is greatest after subtracting what excess
    lengths cost: half the square of the excess, in units of the mean excess. The cost grows faster than the length, so
    that every sentence is cut somewhere if it only gets long enough.
    """
    is_end = log_odds > (LEAST_IN_BARE if is_bare and lengths is not None else 0)
    is_end[-1] = True
    if lengths is None:
        return is_end
    for part in _longer(is_end, lengths.long):
        is_end[part] |= log_odds[part] > LEAST_IN_LONG
    for part in _longer(is_end, lengths.usual):
        is_end[part] = _best_ends(log_odds[part], lengths)
    return is_end


def _longer(is_end: Bools, length: int) -> list[slice]:
    """Return the sentences that are longer than this."""
    if len(is_end) <= length:
        return []
    ends = (np.flatnonzero(is_end) + 1).tolist()
    return [slice(begin, end) for begin, end in pairwise([0, *ends]) if end - begin > length]


def _best_ends(log_odds: Floats, lengths: SentenceLengths) -> Bools:
    """Return the best ends inside a sentence, by dynamic programming over its tokens."""
    n = len(log_odds)
    reach = min(n, MAX_SENTENCE_TOKENS)
    costs = (np.maximum(np.arange(1, reach + 1) - lengths.usual, 0) / lengths.excess) ** 2 / 2
    best = np.zeros(n + 1)  # of the tokens before each place, with the log-odds of an end there
    previous = np.zeros(n + 1, dtype=np.intp)
    for place in range(1, n + 1):
        first = max(0, place - reach)
        totals = best[first:place] - costs[: place - first][::-1]
        previous[place] = first + int(totals.argmax())
        best[place] = totals.max() + (log_odds[place - 1] if place < n else 0)
    is_end = np.zeros(n, dtype=np.bool_)
    place = n
    while place:
        is_end[place - 1] = True
        place = int(previous[place])
    return is_end
