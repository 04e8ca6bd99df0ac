"""The dynamic oracle G (section 5.2): which actions do no more harm than has been done already.

An action is correct if its modifier is *complete* (no gold modifier of it is still unattached) and

- its head is the modifier's gold head and its relation the gold relation, or
- the modifier's gold head is gone from the pending list: then any head and any relation is as good as another.

The gold root's head is the outside, which never goes, so attaching the gold root is never correct. For a projective
gold tree there is always a correct action, whatever mistakes came before.

Gold trees may be known in part. A word whose head is not known loses nothing wherever it is attached, as if its gold
head had gone, and counts as nobody's missing modifier; if only its relation is not known, its gold head is correct
under any. Known arcs between pending words that fit into some projective tree fit into one whatever is attached
(see :mod:`easyfirst.constraints.feasible`), so there is always a correct action here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Bools, Ints

NOT_ANNOTATED = -1
"""Stands for a head, or a relation, that the gold tree does not tell."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold trees of a batch, over its rows."""

    heads: Ints  # (n_rows + 1,) the row of each word's head; the root's is the outside, an unknown one comes after that
    relations: Ints  # (n_rows + 1,) NOT_ANNOTATED if it is not known though the head is

    @classmethod
    def of(cls, heads: Sequence[Sequence[int]], relations: Sequence[Sequence[int]]) -> Gold:
        """From 1-based heads (0 = root) and relation numbers (the root's is not looked at), sentence by sentence.
        Either may be NOT_ANNOTATED."""
        outside = sum(map(len, heads))
        head_rows = np.full(outside + 1, outside, dtype=np.int64)
        relation_ids = np.zeros(outside + 1, dtype=np.int64)
        start = 0
        for sentence_heads, sentence_relations in zip(heads, relations, strict=True):
            end = start + len(sentence_heads)
            ids = np.asarray(sentence_heads, dtype=np.int64)
            head_rows[start:end] = rows_of_heads(ids, start, outside)
            relation_ids[start:end] = sentence_relations
            start = end
        return cls(head_rows, relation_ids)


def rows_of_heads(heads: Ints, starts: Ints | int, outside: int) -> Ints:
    """The rows of 1-based heads of words whose sentences begin at the rows ``starts``."""
    rows = np.where(heads == 0, outside, heads - 1 + starts)
    return np.where(heads == NOT_ANNOTATED, outside + 1, rows)


class Oracle:
    """The gold trees and what has become of their words so far."""

    __slots__ = ("_has_unknown_relations", "gold", "is_gone", "n_missing")

    def __init__(self, gold: Gold) -> None:
        self.gold = gold
        outside = len(gold.heads) - 1
        self._has_unknown_relations = bool((gold.relations == NOT_ANNOTATED).any())
        self.n_missing = np.bincount(gold.heads[:outside], minlength=outside + 2)
        """Gold modifiers of each word not yet attached, to whatever head."""
        self.is_gone = np.zeros(outside + 2, dtype=bool)
        """Which words have left the pending list. What is not known is never there."""
        self.is_gone[outside + 1] = True

    def judge(self, h: Ints, m: Ints) -> tuple[Bools, Bools]:
        """Of arcs h -> m: which are correct under the gold relation only, and which under any relation."""
        gold_head = self.gold.heads[m]
        is_complete = self.n_missing[m] == 0
        is_gold, is_free = is_complete & (gold_head == h), is_complete & self.is_gone[gold_head]
        if self._has_unknown_relations:
            is_unknown = self.gold.relations[m] == NOT_ANNOTATED
            return is_gold & ~is_unknown, is_free | (is_gold & is_unknown)
        return is_gold, is_free

    def attached(self, m: Ints) -> None:
        """Modifiers have been attached, one in each of some sentences."""
        self.n_missing[self.gold.heads[m]] -= 1
        self.is_gone[m] = True
