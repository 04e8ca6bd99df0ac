"""Looking ahead where constraints could lead into a dead end: an attachment is allowed if a tree remains possible.

One such tree over the pending words, the *witness*, is kept. Most attachments either belong to it or leave it a tree
with a small change; only if no small change will do, the chart looks for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from easyfirst.parsing.brackets import Regions
from easyfirst.parsing.chart import search_tree
from easyfirst.parsing.feasible import Wanted

GONE = -1


class Lookahead:
    """The witness of one sentence. Asked only of neighbours of one region, where the modifier lacks no fixed one."""

    def __init__(self, wanted: Wanted, tree: Sequence[int], regions: Regions) -> None:
        """``tree``: a tree that is wanted. ``regions`` are kept up to date by others."""
        self._wanted = wanted
        self._regions = regions
        self._witness = [GONE, *tree[1:]]  # the head of each pending word
        self._next: dict[tuple[int, int], list[int] | None] = {}

    def allows(self, h: int, m: int) -> bool:
        """Whether m can be attached to h and a tree that is wanted is still possible."""
        if (h, m) not in self._next:
            self._next[h, m] = self._without(m) if self._wanted.allows(h, m) else None
        return self._next[h, m] is not None

    def attached(self, h: int, m: int) -> None:
        """m has been attached to h, which was allowed."""
        witness = self._next[h, m]
        assert witness is not None
        self._witness = witness
        self._next.clear()

    def _without(self, m: int) -> list[int] | None:
        """A witness for the pending words without m."""
        for changes in self._small_changes(m):
            if all(self._wanted.allows(head, word) for word, head in changes.items()):
                return [GONE if word == m else changes.get(word, head) for word, head in enumerate(self._witness)]
        words = [word for word, head in enumerate(self._witness) if head != GONE and word != m]
        found = search_tree(words, self._wanted.heads, self._wanted.brackets)
        return None if found is None else [found.get(word, GONE) for word in range(len(self._witness))]

    def _small_changes(self, m: int) -> Iterator[dict[int, int]]:
        """New heads that make the witness a projective tree without m: its modifiers go to its head, or one of them
        takes its place. Where m is the head of its region, that one must be of the region too."""
        head = self._witness[m]
        modifiers = [word for word, above in enumerate(self._witness) if above == m]
        region = self._regions.regions[m]
        if head and self._regions.is_inside(head, region):
            yield dict.fromkeys(modifiers, head)
        for heir in modifiers:
            if self._regions.is_inside(heir, region):
                yield dict.fromkeys(modifiers, heir) | {heir: head}
