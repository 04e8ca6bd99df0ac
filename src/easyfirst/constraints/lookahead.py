"""Look-ahead for head sets that can lead to a dead end: an attachment is feasible if a satisfying tree remains.

The look-ahead keeps one such tree over the pending words, the *witness*. Most attachments are in the witness, or need
only a local repair of it. Otherwise the chart searches for another tree, unless a quick test rules one out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from easyfirst.constraints.brackets import OpenBrackets
from easyfirst.constraints.chart import search_tree
from easyfirst.constraints.feasible import HeadSets


class Lookahead:
    """The witness of one sentence.

    It decides about neighbours that share their innermost open bracket, where no word fixed to the modifier is pending.
    """

    def __init__(self, head_sets: HeadSets, tree: Sequence[int], brackets: OpenBrackets) -> None:
        """``tree``: a satisfying tree. ``brackets``: updated by the caller."""
        self._head_sets = head_sets
        self._brackets = brackets
        self.witness = dict(enumerate(tree[1:], 1))
        """The head of each pending word."""
        self._modifiers: list[set[int]] = [set() for _ in tree]
        for m, h in self.witness.items():
            self._modifiers[h].add(m)
        self._repairs: dict[tuple[int, int], dict[int, int] | None] = {}

    def allows(self, h: int, m: int) -> bool:
        """Return whether a satisfying tree remains if m is attached to h."""
        if (h, m) not in self._repairs:
            self._repairs[h, m] = self._repair(m) if self._head_sets.allows(h, m) else None
        return self._repairs[h, m] is not None

    def attach(self, h: int, m: int) -> None:
        """Attach m to h, which :meth:`allows` has found feasible."""
        repair = self._repairs[h, m]
        assert repair is not None
        for word, head in repair.items():
            self._modifiers[self.witness[word]].discard(word)
            self._modifiers[head].add(word)
            self.witness[word] = head
        self._modifiers[self.witness.pop(m)].discard(m)
        self._repairs.clear()

    def _repair(self, m: int) -> dict[int, int] | None:
        """Return new heads that make the witness a satisfying tree without m, or None if there is no such tree."""
        for repair in self._local_repairs(m):
            if all(self._head_sets.allows(head, word) for word, head in repair.items()):
                return repair
        words, heads = [word for word in self.witness if word != m], self._head_sets.heads
        left = sum(1 << word for word in words) | 1
        if not all(heads[word] & left for word in words) or not any(heads[word] & 1 for word in words):
            return None  # a word has no head left, or no word may be the root
        return search_tree(words, heads, self._head_sets.brackets)

    def _local_repairs(self, m: int) -> Iterator[dict[int, int]]:
        """Yield new heads for the modifiers of m: its own head, or one of them in its place.

        If m is the head of its innermost open bracket, the one in its place must be in the bracket."""
        head, modifiers, bracket = self.witness[m], sorted(self._modifiers[m]), self._brackets.innermost[m]
        if head and self._brackets.contains(bracket, head):
            yield dict.fromkeys(modifiers, head)
        for heir in modifiers:
            if self._head_sets.allows(head, heir) and self._brackets.contains(bracket, heir):
                yield dict.fromkeys(modifiers, heir) | {heir: head}
