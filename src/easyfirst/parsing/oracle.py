"""The dynamic oracle G (section 5.2): which actions lose nothing that is not lost already.

An action is correct if its modifier is *complete* (no gold modifier of it is still unattached) and

- its head is the modifier's gold head and its relation the gold relation, or
- the modifier's gold head is gone from the pending list: then any head and any relation is as good as another.

The gold root's head is the outside, which never leaves the list, so attaching the gold root is never correct. For a
projective gold tree there is always a correct action, whatever mistakes came before.

Gold trees may be partial. A word without a gold head may be attached anywhere, as if its gold head were gone, and is
nobody's missing modifier; if only its relation is missing, its gold head is correct under any relation. Gold arcs
between pending words that fit into some projective tree still fit into one after any attachment (see
:mod:`easyfirst.constraints.feasible`), so there is always a correct action here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Bools, Ints

NOT_ANNOTATED = -1
"""Stands for a head or a relation that is missing from the gold tree."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold trees of a batch, over its rows."""

    heads: Ints  # (n_rows + 1,) the row of each word's head: the outside for the root, outside + 1 if missing
    relations: Ints  # (n_rows + 1,) NOT_ANNOTATED if it is missing though the head is given

    @classmethod
    def of(cls, heads: Sequence[Sequence[int]], relations: Sequence[Sequence[int]]) -> Gold:
        """Convert 1-based heads (0 = root) and relation numbers (the root's is ignored), sentence by sentence. Either
        may be NOT_ANNOTATED."""
        outside = sum(map(len, heads))
        head_rows = np.full(outside + 1, outside, dtype=np.intp)
        relation_ids = np.zeros(outside + 1, dtype=np.intp)
        start = 0
        for sentence_heads, sentence_relations in zip(heads, relations, strict=True):
            end = start + len(sentence_heads)
            ids = np.asarray(sentence_heads, dtype=np.intp)
            head_rows[start:end] = rows_of_heads(ids, start, outside)
            relation_ids[start:end] = sentence_relations
            start = end
        return cls(head_rows, relation_ids)


def rows_of_heads(heads: Ints, starts: Ints | int, outside: int) -> Ints:
    """Convert 1-based heads to rows. ``starts``: the first row of each word's sentence."""
    rows = np.where(heads == 0, outside, heads - 1 + starts)
    return np.where(heads == NOT_ANNOTATED, outside + 1, rows)


class Oracle:
    """The gold trees of a batch, and which of their words have been attached so far."""

    __slots__ = ("_has_missing_relations", "gold", "is_gone", "n_missing")

    def __init__(self, gold: Gold) -> None:
        self.gold = gold
        outside = len(gold.heads) - 1
        self._has_missing_relations = bool((gold.relations == NOT_ANNOTATED).any())
        self.n_missing = np.bincount(gold.heads[:outside], minlength=outside + 2)
        """The number of gold modifiers of each word that have not been attached to any head."""
        self.is_gone = np.zeros(outside + 2, dtype=bool)
        """Which words have left the pending list; a missing head counts as gone."""
        self.is_gone[outside + 1] = True

    def judge(self, h: Ints, m: Ints) -> tuple[Bools, Bools]:
        """Return which arcs h -> m are correct under the gold relation only, and which under any relation."""
        gold_head = self.gold.heads[m]
        is_complete = self.n_missing[m] == 0
        is_gold, is_free = is_complete & (gold_head == h), is_complete & self.is_gone[gold_head]
        if self._has_missing_relations:
            is_missing = self.gold.relations[m] == NOT_ANNOTATED
            return is_gold & ~is_missing, is_free | (is_gold & is_missing)
        return is_gold, is_free

    def attached(self, m: Ints) -> None:
        """Record that modifiers have been attached, at most one in each sentence."""
        self.n_missing[self.gold.heads[m]] -= 1
        self.is_gone[m] = True
