"""The pending lists of a batch of sentences (section 4.1), and the words this package uses for what happens to them.

Rows and names, here and in all modules of the package:

- The words of a batch are numbered through, sentence after sentence, longest sentence first: a word is a *row*.
  One more row, ``outside``, stands for whatever is beyond either end of a pending list.
- ``i`` is a position in a pending list; the *pair* at ``i`` is pend[i] and pend[i+1], identified by the row of pend[i].
- An *action* on a pair is a direction and a relation. ``LEFT`` makes pend[i] the left-most modifier of pend[i+1],
  ``RIGHT`` makes pend[i+1] the right-most modifier of pend[i]: the direction is the side the modifier is on.
- ``h`` and ``m`` are the rows of head and modifier, ``r`` the number of a relation.

A pending list is a linked list, so removing a modifier costs the same wherever it stands.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easyfirst.nn.arrays import Ints


class Pending:
    """The pending lists of all sentences of a batch, as links between neighbouring rows."""

    __slots__ = ("lengths", "next", "outside", "previous", "starts")

    def __init__(self, lengths: Sequence[int] | Ints) -> None:
        self.lengths = np.asarray(lengths, dtype=np.intp)  # (n_sentences,)
        self.starts = np.cumsum(self.lengths) - self.lengths  # (n_sentences,) row of the first word
        self.outside = int(self.lengths.sum())
        self.next = np.arange(1, self.outside + 2)  # (n_rows + 1,)
        self.next[self.starts + self.lengths - 1] = self.outside
        self.previous = np.arange(-1, self.outside)
        self.previous[self.starts] = self.outside
        self.next[self.outside] = self.previous[self.outside] = self.outside

    def remove(self, rows: Ints) -> None:
        """Remove rows, no two of them neighbours."""
        before, after = self.previous.take(rows), self.next.take(rows)
        self.next[before] = after
        self.previous[after] = before
        self.next[self.outside] = self.previous[self.outside] = self.outside

    def around(self, rows: Ints, before: int, after: int) -> Ints:
        """Return each row with its neighbours: (n, before + 1 + after)."""
        columns = [rows]
        for _ in range(before):
            columns.append(self.previous.take(columns[-1]))
        columns.reverse()
        for _ in range(after):
            columns.append(self.next.take(columns[-1]))
        return np.concatenate(columns).reshape(len(columns), len(rows)).T

    def rows_of(self, sentences: Ints) -> Ints:
        """Return the rows of some sentences, one sentence after the other."""
        lengths = self.lengths[sentences]
        starts = np.cumsum(lengths) - lengths
        return np.arange(int(lengths.sum())) + np.repeat(self.starts[sentences] - starts, lengths)

    def select(self, sentences: Ints) -> Pending:
        """Copy the pending lists of some sentences, longest first, into a new batch. A sentence may be repeated."""
        copy, rows = Pending(self.lengths[sentences]), self.rows_of(sentences)
        shift = np.arange(copy.outside) - rows
        for links, old in ((copy.next, self.next[rows]), (copy.previous, self.previous[rows])):
            links[: copy.outside] = np.where(old == self.outside, copy.outside, old + shift)
        return copy
