"""Words as subwords, and the sequences of subwords that a transformer reads.

Every word is split on its own, so that its subwords do not depend on its neighbours. A sentence that is too long to be
read at once is read in overlapping windows; each subword's vector comes from the window in whose middle it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from easyfirst.nn.arrays import Ints
from easyfirst.nn.sequences import longest_first
from easyfirst.nn.windows import Window, windows_of

MAX_KNOWN = 200_000  # the forms whose subwords are kept, so that they are split once


class Subwords(NamedTuple):
    """The words of sentences as subwords."""

    ids: Ints  # (n_subwords,): the words of all sentences, one after the other
    counts: Ints  # (n_words,): how many subwords each word has, at least one
    lengths: list[int]  # of each sentence, in subwords


class Splitter:
    """Splits words into subwords. Threads may share it."""

    def __init__(self, tokenizer: str, unknown: int) -> None:
        """``tokenizer``: as the library saves it, in JSON; ``unknown``: the subword of words that it leaves nothing
        of, such as a word of control characters."""
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._unknown = unknown
        self._known: dict[str, list[int]] = {}

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Subwords:
        """Split the words of sentences."""
        known = self._known if len(self._known) < MAX_KNOWN else {}
        self._known = known
        if new := list(dict.fromkeys(form for forms in sentences for form in forms if form not in known)):
            found = self._tokenizer.encode_batch(new, add_special_tokens=False)
            known.update((form, each.ids or [self._unknown]) for form, each in zip(new, found, strict=True))
        words = [[known[form] for form in forms] for forms in sentences]
        ids = np.array([number for of_words in words for word in of_words for number in word], dtype=np.int64)
        counts = np.array([len(word) for of_words in words for word in of_words], dtype=np.int64)
        return Subwords(ids, counts, [sum(map(len, of_words)) for of_words in words])


class Batch(NamedTuple):
    """Windows of similar length, to be read at once. Shorter ones are padded at their ends."""

    ids: Ints  # (n_windows, length)
    is_given: Ints  # (n_windows, length): 1, or 0 for padding
    kept: Ints  # the positions, in all of ``ids``, of subwords whose vectors are kept
    places: Ints  # the numbers of these subwords


def batches_of(
    subwords: Subwords, *, room: int, before: Sequence[int], after: Sequence[int], max_subwords: int
) -> Iterator[Batch]:
    """Yield the windows of sentences in batches. A window has at most ``room`` subwords of the sentence, between those
    that begin and end every sequence. A batch has at most ``max_subwords``; a longer window is a batch of its own."""
    windows: list[Window] = []
    begin = 0
    for length in subwords.lengths:
        windows += windows_of(begin, length, size=room - 2 * (room // 4), context=room // 4)
        begin += length
    n_ends = len(before) + len(after)
    for numbers in longest_first([each.end - each.begin + n_ends for each in windows], max_rows=max_subwords):
        some = [windows[number] for number in numbers]
        width = some[0].end - some[0].begin + n_ends
        ids, is_given = np.zeros((2, len(some), width), dtype=np.int64)
        kept: list[Ints] = []
        for row, window in enumerate(some):
            sequence = [*before, *subwords.ids[window.begin : window.end].tolist(), *after]
            ids[row, : len(sequence)] = sequence
            is_given[row, : len(sequence)] = 1
            offset = row * width + len(before) - window.begin
            kept.append(np.arange(window.kept_begin, window.kept_end) + offset)
        places = np.concatenate([np.arange(window.kept_begin, window.kept_end) for window in some])
        yield Batch(ids, is_given, np.concatenate(kept), places)
