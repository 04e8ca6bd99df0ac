"""The levels of finished trees: an order in which the nodes of many trees can be encoded at once (section 3).

Each side of a node is a sequence of its head and the modifiers there, which an RNN reads. Head-outward, as in the
paper, it reads the head and then the modifiers from the nearest to the farthest. Head-inward it reads them from the
farthest to the nearest, and the head last. A bidirectional encoder does both, with RNNs of their own. In each case a
modifier is read as enc(modifier), which depends on all sequences of the modifier.

Reading one item is a *step*. The level of a step is one more than the highest level it depends on, so all steps of a
level, of all trees, are computed at once. A *pool* of rows holds the zero state, in which every sequence starts, and
then the states after each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from easyfirst.errors import InputError
from easyfirst.nn import trees
from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.trees import TreeWeights

OUTWARD, INWARD, BIDIRECTIONAL = "outward", "inward", "bidirectional"
ORDERS = (OUTWARD, INWARD, BIDIRECTIONAL)
ZERO = 0  # the row of the zero state
N_REMEMBERED = 16384  # the trees whose steps are kept, since training encodes the same ones again and again


@dataclass(frozen=True, slots=True)
class Level:
    """Steps of one kind that depend only on lower levels. ``before`` and ``modifiers``: pool rows."""

    side: int
    begin: int  # among all steps
    before: Ints  # (n,)
    modifiers: Ints | None  # (n, parts of c); None: the steps read heads
    stack: int = 0  # 1: the steps of the second pair of RNNs

    @property
    def rows(self) -> slice:
        return slice(self.begin, self.begin + len(self.before))

    def climb(self, xp: Namespace, weights: TreeWeights, pool: Array, inputs: Array) -> Array:
        """Return the states after the steps. ``inputs``: the vectors of heads, and rows of the relation table for
        modifiers, of all steps."""
        x = inputs[self.rows]
        if self.modifiers is not None:
            outputs = xp.take(pool[:, -weights.output_dim :], xp.index(self.modifiers.reshape(-1)))
            x = trees.encode_modifiers(xp, weights, outputs.reshape(len(self.before), -1), x)
        before = xp.take(pool, xp.index(self.before))
        return trees.attach(xp, weights, before, x, side=self.side, inward=self.stack == 1)


@dataclass(frozen=True, slots=True)
class TreeSteps:
    """The steps of one tree, each after those it depends on, by their numbers; -1 is the zero state."""

    keys: Ints  # (n,) the level, the stack, the side, and whether a modifier is read, in one number
    before: Ints  # (n,) the step before in the same sequence
    words: Ints  # (n,) the word that is read
    modifiers: Ints  # (n, parts of c) the last steps of the modifier that is read
    last: Ints  # (n_words, parts of c) the last step of each sequence of a word


@dataclass(frozen=True, slots=True)
class TreePlan:
    """The levels of a batch of trees, lower ones first."""

    levels: list[Level]
    words: Ints  # (n_steps,) the word of each step, among all words of the batch
    is_modifier: Ints  # (n_steps,) 1 if the word is read as a modifier, 0 as a head
    last: Ints  # (n_words, parts of c) the pool rows whose outputs make up c

    @classmethod
    def of(cls, heads: Sequence[tuple[int, ...]], order: str) -> TreePlan:
        """Plan for trees that are given by the heads of their words, in one of the ``ORDERS``."""
        made = [_numbered_steps(number, of_tree, order) for number, of_tree in enumerate(heads or [()], 1)]
        first_steps = _starts([len(steps.keys) for steps in made])
        first_words = _starts([len(steps.last) for steps in made])
        keys = np.concatenate([steps.keys for steps in made])
        order_of_steps = np.argsort(keys, kind="stable")
        rows = np.zeros(len(keys) + 1, dtype=np.int64)  # the last one, by its number -1, is the zero state
        rows[order_of_steps] = np.arange(1, len(keys) + 1)

        def placed(parts: list[Ints]) -> Ints:
            moved = [np.where(part < 0, -1, part + first) for part, first in zip(parts, first_steps, strict=True)]
            return rows[np.concatenate(moved)]

        keys = keys[order_of_steps]
        before = placed([steps.before for steps in made])[order_of_steps]
        modifiers = placed([steps.modifiers for steps in made])[order_of_steps]
        words = np.concatenate([steps.words + first for steps, first in zip(made, first_words, strict=True)])
        bounds = [*np.flatnonzero(np.diff(keys, prepend=-1)).tolist(), len(keys)]
        levels = [_level(int(keys[begin]), begin, end, before, modifiers) for begin, end in pairwise(bounds)]
        return cls(levels, words[order_of_steps], keys & 1, placed([steps.last for steps in made]))

    def input_rows(self, relations: Ints) -> Ints:
        """Return the row of each step's input where the vectors of all words are followed by the relation table.
        ``relations``: the row of each word's relation in the table."""
        return np.where(self.is_modifier == 1, len(self.last) + relations[self.words], self.words)


def _numbered_steps(number: int, heads: tuple[int, ...], order: str) -> TreeSteps:
    try:
        return steps_of(heads, order)
    except InputError as error:
        raise InputError(f"tree {number}: {error}") from None


def _level(key: int, begin: int, end: int, before: Ints, modifiers: Ints) -> Level:
    return Level(
        side=key >> 1 & 1,
        begin=begin,
        before=before[begin:end],
        modifiers=modifiers[begin:end] if key & 1 else None,
        stack=key >> 2 & 1,
    )


def _starts(lengths: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(lengths).tolist()[:-1]]


@lru_cache(maxsize=N_REMEMBERED)
def steps_of(heads: tuple[int, ...], order: str) -> TreeSteps:
    """Return the steps of a tree, or of several that stand beside each other. Words are numbered from 0, their heads
    from 1. Raise an :class:`InputError` if the heads form a cycle."""
    by_side = _modifiers_outward(heads)
    inward = {OUTWARD: (False,), INWARD: (True,), BIDIRECTIONAL: (False, True)}[order]
    n_parts = 2 * len(inward)
    keys, before, words = list[int](), list[int](), list[int]()
    modifiers = list[list[int]]()
    last, levels, nothing = [[-1] * n_parts for _ in heads], [0] * len(heads), [-1] * n_parts
    for word in _bottom_up(heads):
        for part in range(n_parts):
            stack, side = divmod(part, 2)
            found = by_side[side][word]
            level, previous = 0, -1
            for read in (*reversed(found), None) if inward[stack] else (None, *found):
                level = 1 + (level if read is None else max(level, levels[read]))
                keys.append(level << 3 | stack << 2 | side << 1 | (read is not None))
                before.append(previous)
                words.append(word if read is None else read)
                modifiers.append(nothing if read is None else last[read])
                previous = len(keys) - 1
            last[word][part] = previous
            levels[word] = max(levels[word], level)
    arrays = (np.array(column, dtype=np.int64) for column in (keys, before, words))
    tables = (np.array(table, dtype=np.int64).reshape(-1, n_parts) for table in (modifiers, last))
    return TreeSteps(*arrays, *tables)


def _modifiers_outward(heads: tuple[int, ...]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the modifiers of each word to its left and to its right, the nearest first."""
    left: list[list[int]] = [[] for _ in heads]
    right: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        if head > word + 1:
            left[head - 1].insert(0, word)
        elif head:
            right[head - 1].append(word)
    return left, right


def _bottom_up(heads: tuple[int, ...]) -> list[int]:
    """Return all words, each after its modifiers."""
    modifiers: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads):
        modifiers[head].append(word)
    found = list(modifiers[0])
    for word in found:
        found += modifiers[word + 1]
    if len(found) != len(heads):
        raise InputError("the heads form a cycle; a tree has none")
    return found[::-1]
