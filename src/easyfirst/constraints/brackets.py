"""The order of attachments in brackets: a bracket is completed before its head is linked to a word outside it."""

from __future__ import annotations

from collections.abc import Iterable

SENTENCE = 0
"""The number of the bracket around the whole sentence."""


class OpenBrackets:
    """The innermost open bracket of each pending word. Two words may be linked only if they share it.

    A bracket is open while two or more of its words are pending. Linking the words of a bracket before anything else
    excludes some orders of attachments, but no tree.
    """

    def __init__(self, n_words: int, brackets: Iterable[tuple[int, int]]) -> None:
        """``brackets``: pairs (first, last), none of which cross (see :func:`has_crossing`)."""
        outer_first = sorted({(first, last) for first, last in brackets if first < last}, key=lambda b: (b[0], -b[1]))
        self.spans = [(1, n_words), *outer_first]
        self.innermost = [SENTENCE] * (n_words + 1)
        """The bracket of each word, from 1; meaningless for a word that is not pending."""
        self._parents = [SENTENCE] * len(self.spans)
        self._n_pending = [last - first + 1 for first, last in self.spans]
        for number, (first, last) in enumerate(self.spans):
            self._parents[number] = self.innermost[first]
            self.innermost[first : last + 1] = [number] * (last - first + 1)

    def attach(self, h: int, m: int) -> None:
        """Attach m to h, a word with the same innermost open bracket."""
        bracket = number = self.innermost[m]
        while number != SENTENCE:
            self._n_pending[number] -= 1
            number = self._parents[number]
        if bracket != SENTENCE and self._n_pending[bracket] == 1:
            self.innermost[h] = self._parents[bracket]

    def contains(self, bracket: int, word: int) -> bool:
        first, last = self.spans[bracket]
        return first <= word <= last


def has_crossing(brackets: Iterable[tuple[int, int]]) -> bool:
    """Return whether two brackets overlap without one containing the other."""
    ends: list[int] = []
    for first, last in sorted(brackets, key=lambda b: (b[0], -b[1])):
        while ends and ends[-1] < first:
            ends.pop()
        if ends and ends[-1] < last:
            return True
        ends.append(last)
    return False
