"""Dependency trees: every word has one head, one word has the head 0, and there is no cycle.

Words are called by their ids, counted from 1; 0 is the root outside the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from easyfirst.errors import DataError
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Tree:
    """The head and the relation of each word, in the order of the words."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def root(self) -> int:
        """The word whose head is 0 (the first, should there be several)."""
        return self.heads.index(0) + 1

    def children(self, head: int) -> tuple[int, ...]:
        """The modifiers of a head, from left to right."""
        return tuple(m for m, h in enumerate(self.heads, 1) if h == head)


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle, each followed by its head, beginning with the leftmost; empty if there is none."""
    seen_from = [0] * (len(heads) + 1)  # the word whose way to the root first passed here
    for start in range(1, len(heads) + 1):
        m = start
        while m and not seen_from[m]:
            seen_from[m] = start
            m = heads[m - 1]
        if m and seen_from[m] == start:
            return _walk_cycle(heads, m)
    return []


def _walk_cycle(heads: Sequence[int], m: int) -> list[int]:
    cycle = [m]
    while (h := heads[cycle[-1] - 1]) != m:
        cycle.append(h)
    leftmost = cycle.index(min(cycle))
    return cycle[leftmost:] + cycle[:leftmost]


def check_tree(sentence: Sentence) -> Tree:
    """The tree of a gold sentence, or a DataError at the word that makes it none."""
    heads: list[int] = []
    relations: list[str] = []
    for m, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True), 1):
        if head is None:
            raise _error(sentence, f"word {_name(sentence, m)} has no head; a gold tree needs a HEAD for every word", m)
        if relation is None:
            message = f"word {_name(sentence, m)} has no relation; a gold tree needs a DEPREL for every word"
            raise _error(sentence, message, m)
        heads.append(head)
        relations.append(relation)
    check_shape(sentence, heads)
    return Tree(tuple(heads), tuple(relations))


def check_shape(sentence: Sentence, heads: Sequence[int]) -> None:
    """Raise a DataError unless the heads are those of a tree: one root, and no cycle."""
    roots = [m for m, head in enumerate(heads, 1) if head == 0]
    if not roots:
        raise _error(sentence, "no word has HEAD 0; a tree needs one root", 1)
    if len(roots) > 1:
        names = " and ".join(_name(sentence, m) for m in roots)
        raise _error(sentence, f"words {names} all have HEAD 0; a tree has one root", roots[1])
    if cycle := find_cycle(heads):
        way = " -> ".join(_name(sentence, m) for m in [*cycle, cycle[0]])
        raise _error(sentence, f"the heads of these words form a cycle: {way}; a tree has none", cycle[0])


def _error(sentence: Sentence, message: str, m: int) -> DataError:
    return DataError(message, source=sentence.source, line=sentence.word_line(m - 1))


def _name(sentence: Sentence, m: int) -> str:
    return f"{m} {sentence.forms[m - 1]!r}"
