"""Constituency trees: phrases over the words of a sentence, each inside another one.

A tree is stored flat: the words, their tags, and the phrases in preorder, each with its label and the words that it
covers. So trees of any depth are compared, pickled and traversed without recursion. :class:`Constituent` is a view of
one phrase or word with the usual interface: label, span, children, leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from easyfirst.errors import InputError


class Node(NamedTuple):
    """A phrase: its label, and the positions of its words, from ``start`` up to ``end``, counted from 0."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, repr=False)
class Constituents:
    """A constituency tree.

    >>> tree = Constituents(("The", "fox", "jumps"), ("DT", "NN", "VBZ"), (Node("S", 0, 3), Node("NP", 0, 2)))
    >>> [child.label for child in tree.root.children]
    ['NP', 'VBZ']
    >>> print(tree)
    (S (NP (DT The) (NN fox)) (VBZ jumps))

    The first phrase covers all words; the tree of a single word may be without phrases. Phrases that are not nested
    raise an :class:`InputError`.
    """

    forms: tuple[str, ...]
    tags: tuple[str, ...]
    nodes: tuple[Node, ...]
    """The phrases in preorder. Of phrases over the same words, the outer one stands first."""
    source: str | None = field(default=None, compare=False)
    """The name of the file it comes from."""
    line: int | None = field(default=None, compare=False)
    """The line of its first bracket there."""

    def __post_init__(self) -> None:
        n = len(self.forms)
        if n == 0 or len(self.tags) != n:
            raise InputError(f"{n} words and {len(self.tags)} tags; a tree needs a word, and a tag for each")
        if (self.nodes or n > 1) and (not self.nodes or self.nodes[0][1:] != (0, n)):
            raise InputError("the first phrase must cover all words")
        open_ends: list[int] = []
        previous = 0
        for label, start, end in self.nodes:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if not label or not previous <= start < end <= (open_ends[-1] if open_ends else n):
                raise InputError(
                    f"the phrase {label!r} over words {start + 1} to {end} is not nested in the one before"
                )
            open_ends.append(end)
            previous = start

    def __len__(self) -> int:
        return len(self.forms)

    def __str__(self) -> str:
        return self.to_brackets()

    def __repr__(self) -> str:
        return f"Constituents({self.to_brackets()!r})"

    def __iter__(self) -> Iterator[Constituent]:
        """Yield the phrases in preorder, without the words."""
        return (Constituent(self, number) for number in range(len(self.nodes)))

    @property
    def root(self) -> Constituent:
        """The phrase over all words; of a single word without phrases, the word."""
        return Constituent(self, 0) if self.nodes else Constituent(self, -1)

    @property
    def leaves(self) -> tuple[Constituent, ...]:
        """The words."""
        return tuple(Constituent(self, -1 - word) for word in range(len(self)))

    def phrases(self, label: str) -> tuple[Constituent, ...]:
        """Return the phrases with a label, in preorder."""
        return tuple(phrase for phrase in self if phrase.label == label)

    def to_brackets(self) -> str:
        """Return the tree in brackets, on one line."""
        opening: list[list[str]] = [[] for _ in self.forms]
        closing = [0] * len(self)
        for label, start, end in self.nodes:
            opening[start].append(f"({label} ")
            closing[end - 1] += 1
        words = zip(opening, self.tags, self.forms, closing, strict=True)
        return " ".join(f"{''.join(before)}({tag} {escape(form)}){')' * n}" for before, tag, form, n in words)

    def child_numbers(self) -> list[list[int]]:
        """Return the children of each phrase, from left to right: the number of a phrase, or -1 - w for the word at the
        position w."""
        children: list[list[int]] = [[] for _ in self.nodes]
        inner = [-1] * len(self)  # the innermost phrase over each word
        waiting: list[int] = []
        for number, (_, start, end) in enumerate(self.nodes):
            inner[start:end] = [number] * (end - start)
            while waiting and self.nodes[waiting[-1]].end <= start:
                waiting.pop()
            if waiting:
                children[waiting[-1]].append(number)
            waiting.append(number)
        for word, number in enumerate(inner):
            if number >= 0:
                children[number].append(-1 - word)
        for found in children:
            found.sort(key=lambda child: self.nodes[child].start if child >= 0 else -1 - child)
        return children


@dataclass(frozen=True, slots=True, repr=False)
class Constituent:
    """A phrase or a word of a tree."""

    tree: Constituents
    number: int
    """The position of the phrase in ``tree.nodes``, or -1 - w for the word at the position w."""

    def __repr__(self) -> str:
        return f"Constituent({self.label!r}, span={self.span})"

    @property
    def is_leaf(self) -> bool:
        """Whether it is a word."""
        return self.number < 0

    @property
    def label(self) -> str:
        """The label of a phrase, or the tag of a word."""
        return self.tree.tags[-1 - self.number] if self.is_leaf else self.tree.nodes[self.number].label

    @property
    def form(self) -> str | None:
        """The form of a word; None for a phrase."""
        return self.tree.forms[-1 - self.number] if self.is_leaf else None

    @property
    def span(self) -> tuple[int, int]:
        """The IDs of the first and the last word, counted from 1."""
        if self.is_leaf:
            return -self.number, -self.number
        node = self.tree.nodes[self.number]
        return node.start + 1, node.end

    @property
    def leaves(self) -> tuple[Constituent, ...]:
        """The words from left to right."""
        first, last = self.span
        return tuple(Constituent(self.tree, -word) for word in range(first, last + 1))

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        first, last = self.span
        return " ".join(self.tree.forms[first - 1 : last])

    @property
    def children(self) -> tuple[Constituent, ...]:
        """The phrases and words that it consists of, from left to right; none for a word."""
        if self.is_leaf:
            return ()
        return tuple(Constituent(self.tree, child) for child in self.tree.child_numbers()[self.number])

    @property
    def parent(self) -> Constituent | None:
        """The phrase that it is a part of; None for the root."""
        first, last = self.span
        above = range(self.number - 1, -1, -1) if not self.is_leaf else range(len(self.tree.nodes) - 1, -1, -1)
        for number in above:
            node = self.tree.nodes[number]
            if node.start < first and last <= node.end:
                return Constituent(self.tree, number)
        return None


def escape(form: str) -> str:
    """Return a word as brackets contain it.

    >>> escape("f(x)")
    'f-LRB-x-RRB-'
    """
    return form.replace("(", "-LRB-").replace(")", "-RRB-")


def unescape(form: str) -> str:
    """Undo :func:`escape`."""
    return form.replace("-LRB-", "(").replace("-RRB-", ")")
