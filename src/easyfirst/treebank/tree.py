"""Dependency trees: every word has one head, one word has the head 0, and there is no cycle.

Words are identified by their IDs, counted from 1; 0 is the root outside the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from easyfirst.counting import count
from easyfirst.errors import DataError, EasyFirstError, InputError
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Tree:
    """A dependency tree: the head and the relation of each word, in the order of the words.

    >>> tree = Tree((2, 4, 2, 0, 4), ("det", "nsubj", "amod", "root", "obj"))
    >>> tree.root, len(tree)
    (4, 5)

    A head out of range or a word that is not in the tree raises :class:`InputError`. So do heads that form a cycle, in
    the methods that follow them.
    """

    heads: tuple[int, ...]
    """The head of each word, 0 for the root."""
    relations: tuple[str, ...]
    """The relation of each word to its head."""

    def __post_init__(self) -> None:
        n = len(self.heads)
        if len(self.relations) != n:
            raise InputError(
                f"{count(n, 'head')} and {count(len(self.relations), 'relation')}; there must be as many of each"
            )
        for m, head in enumerate(self.heads, 1):
            if not 0 <= head <= n:
                raise InputError(f"word {m} has head {head} in a tree of {count(n, 'word')}")

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.heads)

    @property
    def root(self) -> int:
        """The word whose head is 0; the first one if there are several."""
        if 0 not in self.heads:
            raise _cyclic() if self.heads else InputError("there are no words, so there is no root")
        return self.heads.index(0) + 1

    def head(self, m: int) -> int:
        """Return the head of a word; 0 for the root.

        >>> Tree((2, 0), ("det", "root")).head(1)
        2
        """
        return self.heads[self._word(m) - 1]

    def relation(self, m: int) -> str:
        """Return the relation of a word to its head."""
        return self.relations[self._word(m) - 1]

    def children(self, head: int) -> tuple[int, ...]:
        """Return the modifiers of a head, from left to right.

        >>> Tree((2, 0, 2), ("nsubj", "root", "obj")).children(2)
        (1, 3)
        """
        if head:
            self._word(head)
        return tuple(m for m, h in enumerate(self.heads, 1) if h == head)

    def modifiers(self) -> list[list[int]]:
        """Return the modifiers of 0 and of each word, from left to right.

        >>> Tree((2, 0, 2), ("nsubj", "root", "obj")).modifiers()
        [[2], [], [1, 3], []]
        """
        modifiers: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for m, h in enumerate(self.heads, 1):
            modifiers[h].append(m)
        return modifiers

    def ancestors(self, m: int) -> tuple[int, ...]:
        """Return the head of a word, the head of that, and so on up to the root of the sentence.

        >>> Tree((2, 3, 0), ("det", "nsubj", "root")).ancestors(1)
        (2, 3)
        """
        return tuple(self._way_up(self._word(m)))[1:]

    def depth(self, m: int) -> int:
        """Return the number of arcs between a word and the root of the sentence, which has depth 0.

        >>> Tree((2, 3, 0), ("det", "nsubj", "root")).depth(1)
        2
        """
        return len(self.ancestors(m))

    def subtree(self, m: int) -> tuple[int, ...]:
        """Return a word and all words below it, from left to right.

        >>> Tree((2, 3, 0, 3), ("det", "nsubj", "root", "obj")).subtree(2)
        (1, 2)
        """
        modifiers = self.modifiers()
        found = [self._word(m)] if m else []
        waiting = list(modifiers[m])
        while waiting:
            found.append(waiting.pop())
            if len(found) > len(self):
                raise _cyclic()
            waiting += modifiers[found[-1]]
        return tuple(sorted(found))

    def span(self, m: int) -> tuple[int, int]:
        """Return the first and the last word of a subtree. In a projective tree all words between belong to it.

        >>> Tree((2, 3, 0, 3), ("det", "nsubj", "root", "obj")).span(3)
        (1, 4)
        """
        words = self.subtree(m)
        return words[0], words[-1]

    def path(self, start: int, end: int) -> tuple[int, ...]:
        """Return the words on the path between two words through their lowest common ancestor, both ends included.

        >>> Tree((2, 3, 0, 3), ("det", "nsubj", "root", "obj")).path(1, 4)
        (1, 2, 3, 4)
        """
        up, down, top = self._to_top(start), self._to_top(end), self.lowest_common_ancestor(start, end)
        return (*up[: up.index(top)], top, *reversed(down[: down.index(top)]))

    def lowest_common_ancestor(self, first: int, second: int) -> int:
        """Return the lowest word whose subtree contains both; it may be one of the two.

        >>> Tree((2, 3, 0, 3), ("det", "nsubj", "root", "obj")).lowest_common_ancestor(1, 4)
        3
        """
        above = set(self._to_top(second))
        return next(node for node in self._to_top(first) if node in above)

    def distances(self) -> tuple[tuple[int, ...], ...]:
        """Return the distance matrix: ``distances()[a - 1][b - 1]`` is the number of arcs between two words.

        >>> Tree((2, 3, 0), ("det", "nsubj", "root")).distances()
        ((0, 1, 2), (1, 0, 1), (2, 1, 0))
        """
        order = self._top_down()
        rows = [[0] * len(order) for _ in order]
        for done, m in enumerate(order[1:], 1):
            above = rows[self.heads[m - 1]]
            for other in order[:done]:
                rows[m][other] = rows[other][m] = above[other] + 1
        return tuple(tuple(row[1:]) for row in rows[1:])

    def leaves(self) -> Iterator[int]:
        """Return the words without modifiers, from left to right.

        >>> list(Tree((2, 0, 2), ("nsubj", "root", "obj")).leaves())
        [1, 3]
        """
        return (m for m, modifiers in enumerate(self.modifiers()) if m and not modifiers)

    def inner(self) -> Iterator[int]:
        """Return the words with modifiers, from left to right.

        >>> list(Tree((2, 0, 2), ("nsubj", "root", "obj")).inner())
        [2]
        """
        return (m for m, modifiers in enumerate(self.modifiers()) if m and modifiers)

    @property
    def is_projective(self) -> bool:
        """Whether no arcs cross, the one from 0 to the root included.

        >>> Tree((3, 0, 2), ("amod", "root", "obj")).is_projective
        False
        """
        self._top_down()
        return is_projective(self.heads)

    def to_dict(self, forms: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the tree as nested dicts from the root down, for JSON.

        >>> Tree((2, 0), ("det", "root")).to_dict(["the", "fox"])
        {'id': 2, 'relation': 'root', 'form': 'fox', 'children': [{'id': 1, 'relation': 'det', 'form': 'the', \
'children': []}]}
        """
        if self.heads.count(0) != 1:
            raise InputError(f"{self.heads.count(0)} words have the head 0; only a tree with one root becomes a dict")
        children: list[list[dict[str, Any]]] = [[] for _ in self.heads]
        nodes = [{"id": m, **self._facts(m, forms), "children": below} for m, below in enumerate(children, 1)]
        for m in self._top_down()[1:]:
            if h := self.heads[m - 1]:
                children[h - 1].append(nodes[m - 1])
        return nodes[self.root - 1]

    def to_networkx(self, forms: Sequence[str] | None = None) -> Any:
        """Return a ``networkx.DiGraph``: words are nodes, arcs go from head to modifier, both with a ``relation``.

        >>> sorted(Tree((2, 0), ("det", "root")).to_networkx().edges(data="relation"))
        [(2, 1, 'det')]
        """
        try:
            networkx: Any = import_module("networkx")
        except ImportError:
            raise EasyFirstError("this needs NetworkX; install it with: pip install networkx") from None
        graph = networkx.DiGraph()
        for m in range(1, len(self) + 1):
            graph.add_node(m, **self._facts(m, forms))
        for m, (h, relation) in enumerate(zip(self.heads, self.relations, strict=True), 1):
            if h:
                graph.add_edge(h, m, relation=relation)
        return graph

    def _facts(self, m: int, forms: Sequence[str] | None) -> dict[str, Any]:
        if forms is not None and len(forms) != len(self):
            raise InputError(f"{count(len(forms), 'form')} for a tree of {count(len(self), 'word')}")
        return {"relation": self.relations[m - 1]} | ({} if forms is None else {"form": forms[m - 1]})

    def _word(self, m: int) -> int:
        if not 1 <= m <= len(self):
            raise InputError(f"there is no word {m} in a tree of {count(len(self), 'word')}; they are counted from 1")
        return m

    def _way_up(self, m: int) -> Iterator[int]:
        """Yield a word and all words above it, without 0."""
        for _ in self.heads:
            yield m
            m = self.heads[m - 1]
            if not m:
                return
        raise _cyclic()

    def _to_top(self, node: int) -> list[int]:
        """Return a word, all words above it, and 0."""
        return [*self._way_up(self._word(node)), 0] if node else [0]

    def _top_down(self) -> list[int]:
        """Return 0 and all words, each after its head, modifiers from left to right."""
        modifiers = self.modifiers()
        order = [0]
        for node in order:
            order += modifiers[node]
        if len(order) != len(self) + 1:
            raise _cyclic()
        return order


def _cyclic() -> InputError:
    return InputError("the heads form a cycle; a tree has none")


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle from its leftmost word on, each followed by its head; empty if there is none."""
    seen_from = [0] * (len(heads) + 1)  # the word whose way to the root first passed here
    for start in range(1, len(heads) + 1):
        m = start
        while m and not seen_from[m]:
            seen_from[m] = start
            m = heads[m - 1]
        if m and seen_from[m] == start:
            cycle = [m]
            while (h := heads[cycle[-1] - 1]) != m:
                cycle.append(h)
            leftmost = cycle.index(min(cycle))
            return cycle[leftmost:] + cycle[:leftmost]
    return []


def check_tree(sentence: Sentence) -> Tree:
    """Return the tree of a gold sentence; raise :class:`DataError` at the word that breaks it."""
    heads: list[int] = []
    relations: list[str] = []
    for m, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True), 1):
        if head is None or relation is None:
            what, column = ("head", "HEAD") if head is None else ("relation", "DEPREL")
            message = f"word {_name(sentence, m)} has no {what}; a gold tree needs a {column} for every word"
            raise _error(sentence, message, m)
        heads.append(head)
        relations.append(relation)
    check_shape(sentence, heads)
    return Tree(tuple(heads), tuple(relations))


def check_shape(sentence: Sentence, heads: Sequence[int]) -> None:
    """Raise :class:`DataError` unless the heads form a tree: one root and no cycle."""
    roots = [m for m, head in enumerate(heads, 1) if head == 0]
    if not roots:
        raise _error(sentence, "no word has HEAD 0; a tree needs one root", 1)
    if len(roots) > 1:
        names = " and ".join(_name(sentence, m) for m in roots)
        raise _error(sentence, f"words {names} all have HEAD 0; a tree has one root", roots[1])
    if cycle := find_cycle(heads):
        way = " -> ".join(_name(sentence, m) for m in [*cycle, cycle[0]])
        raise _error(sentence, f"the heads of these words form a cycle: {way}; a tree has none", cycle[0])


def check_known_arcs(sentence: Sentence) -> None:
    """Raise :class:`DataError` if the given heads cannot belong to a tree because of a cycle or two roots."""
    heads = sentence.heads
    root = next((m for sought in (0, None) for m, head in enumerate(heads, 1) if head == sought), 0)
    others = (0 if m == root else root for m in range(1, len(heads) + 1))  # the simplest tree with the given arcs
    check_shape(sentence, [other if head is None else head for head, other in zip(heads, others, strict=True)])


def has_no_heads(sentence: Sentence) -> bool:
    """Return whether no word has a head."""
    return all(head is None for head in sentence.heads)


def _error(sentence: Sentence, message: str, m: int) -> DataError:
    return DataError(message, source=sentence.source, line=sentence.word_line(m - 1))


def _name(sentence: Sentence, m: int) -> str:
    return f"{m} {sentence.forms[m - 1]!r}"
