"""Find a projective tree with one root that satisfies head sets and brackets, or decide that there is none.

A word is *fixed* if its head set has one head, and *free* if it has all. An attachment (h, m) of neighbours is allowed
if h is in the head set of m, no word fixed to m is pending, and both share their innermost open bracket. If every word
is fixed or free, allowed attachments in any order lead to a tree if there is one. Proof: let T be a satisfying tree and
(h, m) allowed. Remove m from T and give its modifiers to its head; if m is the head of its innermost open bracket, let
one of its modifiers in there take its place instead. No such modifier is fixed to m, so the result satisfies the head
sets and brackets of the remaining words.

With other head sets, the new head of such a modifier may not be allowed. Attaching neighbours may still find a tree; if
it does not, the chart decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from easyfirst.constraints.brackets import OpenBrackets, has_crossing
from easyfirst.constraints.chart import search_tree


@dataclass(frozen=True)
class HeadSets:
    """The heads that each word of a sentence may have, and the brackets that must be subtrees."""

    heads: Sequence[int]
    """Bit sets by word, from 1 (index 0 is unused). Bit h: h may be the head; bit 0: the word may be the root."""
    brackets: Sequence[tuple[int, int]] = ()

    @classmethod
    def fixed(cls, heads: Iterable[int | None]) -> HeadSets:
        """Fix the heads that are given, and leave the words with None free."""
        given = list(heads)
        sets = ((-1 if h is None else 1 << h) & all_heads(m, len(given)) for m, h in enumerate(given, 1))
        return cls([0, *sets])

    @property
    def n_words(self) -> int:
        return len(self.heads) - 1

    @cached_property
    def fixed_heads(self) -> list[int | None]:
        """The heads of fixed words by word, from 1; None for other words."""
        return [bits.bit_length() - 1 if bits and not bits & (bits - 1) else None for bits in self.heads]

    @cached_property
    def is_simple(self) -> bool:
        """Whether every word is fixed or free, so that allowed attachments never lead to a dead end."""
        pairs = enumerate(zip(self.heads, self.fixed_heads, strict=True))
        return all(h is not None or bits == all_heads(m, self.n_words) for m, (bits, h) in pairs if m)

    def allows(self, h: int, m: int) -> bool:
        return bool(self.heads[m] >> h & 1)


def all_heads(m: int, n_words: int) -> int:
    """Return the head set of a free word."""
    return ((1 << n_words + 1) - 1) & ~(1 << m)


def find_tree(head_sets: HeadSets) -> list[int] | None:
    """Return the heads of a satisfying tree by word, from 1, or None if there is none."""
    if has_crossing(head_sets.brackets) or not all(head_sets.heads[1:]):
        return None
    tree = _attach_neighbours(head_sets)
    if tree is not None or head_sets.is_simple:
        return tree
    words = range(1, head_sets.n_words + 1)
    found = search_tree(words, head_sets.heads, head_sets.brackets)
    return None if found is None else [0, *(found[m] for m in words)]


def _attach_neighbours(head_sets: HeadSets) -> list[int] | None:
    """Attach neighbours from left to right wherever this is allowed.

    A refused pair need not be tried again before one of the two gets a modifier, and then it is the last pair again.
    """
    tree = [0] * (head_sets.n_words + 1)
    brackets = OpenBrackets(head_sets.n_words, head_sets.brackets)
    fixed = head_sets.fixed_heads
    n_missing = [0] * (head_sets.n_words + 1)
    for head in fixed:
        n_missing[head or 0] += 1
    pending: list[int] = []
    for word in range(1, head_sets.n_words + 1):
        pending.append(word)
        while len(pending) > 1:
            p, q = pending[-2:]
            if brackets.innermost[p] != brackets.innermost[q]:
                break
            arcs = ((p, q), (q, p)) if head_sets.allows(0, p) else ((q, p), (p, q))  # prefer to keep a possible root
            arc = next(((h, m) for h, m in arcs if not n_missing[m] and head_sets.allows(h, m)), None)
            if arc is None:
                break
            h, m = arc
            tree[m] = h
            n_missing[fixed[m] or 0] -= 1
            brackets.attach(h, m)
            pending[-2:] = [h]
    return tree if len(pending) == 1 and head_sets.allows(0, pending[0]) else None
