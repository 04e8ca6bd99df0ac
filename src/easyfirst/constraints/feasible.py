"""Is there a projective tree with one root that has given heads, lacks others, and has given brackets?

What is asked is a :class:`Wanted`: for each word the set of heads it may have. Most often a word's set holds one head
(it is *fixed*) or all (it is *free*). If that is so for every word, attaching neighbours in any order answers the
question: a word may be attached if its set allows it, if no word fixed to it is still pending, and if both are of one
region. Let T be a tree that is wanted and (h, m) such an attachment. Taking m out of T and giving its modifiers to its
head (or, if it is the head of its region, its place to one of its modifiers there) leaves a tree over the others that
is wanted too, since none of those modifiers is fixed to m. So there is no dead end unless there was no tree at all.

With other sets, a modifier of m in T may not be allowed where it goes. Then attaching neighbours may still find a tree,
and the chart decides if it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from easyfirst.constraints.brackets import Regions, find_crossing
from easyfirst.constraints.chart import search_tree


@dataclass(frozen=True)
class Wanted:
    """The heads that the words of a sentence may have, and the brackets that must be subtrees."""

    heads: Sequence[int]
    """By word, from 1 (that of 0 means nothing): bit h is set if h may be the head; bit 0: the word may be the root."""
    brackets: Sequence[tuple[int, int]] = ()

    @classmethod
    def fixed(cls, heads: Iterable[int | None]) -> Wanted:
        """Trees that have these heads where they are given."""
        given = list(heads)
        sets = [
            any_head(m, len(given)) if head is None else (1 << head) & any_head(m, len(given))
            for m, head in enumerate(given, 1)
        ]
        return cls([0, *sets])

    @property
    def n_words(self) -> int:
        return len(self.heads) - 1

    @cached_property
    def fixed_heads(self) -> list[int | None]:
        """The only head that a word may have; of 0, and of words that may have several, None."""
        return [bits.bit_length() - 1 if bits and not bits & (bits - 1) else None for bits in self.heads]

    @cached_property
    def is_simple(self) -> bool:
        """Whether every word is fixed or free, so that nothing can go wrong later."""
        pairs = enumerate(zip(self.heads, self.fixed_heads, strict=True))
        return all(h is not None or bits == any_head(m, self.n_words) for m, (bits, h) in pairs if m)

    def allows(self, h: int, m: int) -> bool:
        return bool(self.heads[m] >> h & 1)


def any_head(m: int, n_words: int) -> int:
    """The set of all heads that word m of a sentence can have."""
    return ((1 << n_words + 1) - 1) & ~(1 << m)


def find_tree(wanted: Wanted) -> list[int] | None:
    """The heads of a tree that is wanted, from 1 (that of 0 means nothing); None if there is none."""
    if find_crossing(wanted.brackets) or not all(wanted.heads[1:]):
        return None
    tree = _attach_neighbours(wanted)
    if tree is not None or wanted.is_simple:
        return tree
    found = search_tree(range(1, wanted.n_words + 1), wanted.heads, wanted.brackets)
    return None if found is None else [0, *(found[m] for m in range(1, wanted.n_words + 1))]


def _attach_neighbours(wanted: Wanted) -> list[int] | None:
    """From left to right, whatever can be attached. What was refused need not be looked at again before one of the
    two has got a modifier, and then it is the last word again."""
    tree = [0] * (wanted.n_words + 1)
    regions = Regions(wanted.n_words, wanted.brackets)
    fixed = wanted.fixed_heads
    n_missing = [0] * (wanted.n_words + 1)
    for head in fixed:
        n_missing[head or 0] += 1
    pending: list[int] = []
    for word in range(1, wanted.n_words + 1):
        pending.append(word)
        while len(pending) > 1:
            p, q = pending[-2:]
            if regions.regions[p] != regions.regions[q]:
                break
            arcs = ((p, q), (q, p)) if wanted.allows(0, p) else ((q, p), (p, q))  # rather keep what may be the root
            arc = next(((h, m) for h, m in arcs if not n_missing[m] and wanted.allows(h, m)), None)
            if arc is None:
                break
            h, m = arc
            tree[m] = h
            n_missing[fixed[m] or 0] -= 1
            regions.attach(h, m)
            pending[-2:] = [h]
    return tree if len(pending) == 1 and wanted.heads[pending[0]] & 1 else None
