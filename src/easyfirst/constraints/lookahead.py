"""Looking ahead where constraints could lead into a dead end: an attachment is allowed if a tree remains possible.

One such tree over the pending words, the *witness*, is kept. Most attachments either belong to it or leave it a tree
with a small change; only if no small change will do, the chart looks for another, unless a glance shows that there is
none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from easyfirst.constraints.brackets import Regions
from easyfirst.constraints.chart import search_tree
from easyfirst.constraints.feasible import Wanted


class Lookahead:
    """The witness of one sentence. Asked only of neighbours of one region, where the modifier lacks no fixed one."""

    def __init__(self, wanted: Wanted, tree: Sequence[int], regions: Regions) -> None:
        """``tree``: a tree that is wanted. ``regions`` are kept up to date by others."""
        self._wanted = wanted
        self._regions = regions
        self.witness = dict(enumerate(tree[1:], 1))
        """The head of each pending word."""
        self._modifiers: list[set[int]] = [set() for _ in tree]
        for m, h in self.witness.items():
            self._modifiers[h].add(m)
        self._changes: dict[tuple[int, int], dict[int, int] | None] = {}

    def allows(self, h: int, m: int) -> bool:
        """Whether m can be attached to h and a tree that is wanted is still possible."""
        if (h, m) not in self._changes:
            self._changes[h, m] = self._without(m) if self._wanted.allows(h, m) else None
        return self._changes[h, m] is not None

    def attached(self, h: int, m: int) -> None:
        """m has been attached to h, which was allowed."""
        changes = self._changes[h, m]
        assert changes is not None
        for word, head in changes.items():
            self._modifiers[self.witness[word]].discard(word)
            self._modifiers[head].add(word)
            self.witness[word] = head
        self._modifiers[self.witness.pop(m)].discard(m)
        self._changes.clear()

    def _without(self, m: int) -> dict[int, int] | None:
        """New heads in the witness, so that it is one for the pending words without m."""
        for changes in self._small_changes(m):
            if all(self._wanted.allows(head, word) for word, head in changes.items()):
                return changes
        words, heads = [word for word in self.witness if word != m], self._wanted.heads
        left = sum(1 << word for word in words) | 1  # the outside too
        if not all(heads[word] & left for word in words) or not any(heads[word] & 1 for word in words):
            return None  # a word has no head left, or no word may be the root
        return search_tree(words, heads, self._wanted.brackets)

    def _small_changes(self, m: int) -> Iterator[dict[int, int]]:
        """New heads that make the witness a projective tree without m: its modifiers go to its head, or one of them
        takes its place. Where m is the head of its region, that one must be of the region too."""
        head, modifiers, region = self.witness[m], sorted(self._modifiers[m]), self._regions.regions[m]
        if head and self._regions.is_inside(head, region):
            yield dict.fromkeys(modifiers, head)
        for heir in modifiers:
            if self._wanted.allows(head, heir) and self._regions.is_inside(heir, region):
                yield dict.fromkeys(modifiers, heir) | {heir: head}
