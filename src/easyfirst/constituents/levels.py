"""Constituency trees with heads as dependency trees with *levels*, and back.

In a phrase, the head words of all children but one are modifiers of the head word of that one. So a word is the head of
a series of phrases, each inside the next: its levels. A level has the label of its phrase and the modifiers that were
attached there. Phrases with a single child have no modifiers, and are joined to others: ``S+VP`` is an S that consists
of a VP. Phrases with a single word are kept apart as the word's *chain*.

:func:`to_levels` and :func:`from_levels` are inverse to each other. The second also makes a tree of any other levels,
as long as heads are projective and the modifiers of a head's levels do not cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from easyfirst.constituents.heads import HeadRules
from easyfirst.constituents.tree import Constituents, Node

JOINT = "+"  # between the phrases of a chain, the outer one first
_ESCAPED = "%+#/|'<_"


@dataclass(slots=True)
class Level:
    """A phrase, or several of which each is the only child of the one before."""

    label: str  # escaped and joined
    modifiers: list[int] = field(default_factory=list[int])  # word IDs, counted from 1


@dataclass(slots=True)
class Spine:
    """The phrases of which a word is the head."""

    chain: str = ""  # the phrases that consist of the word alone, joined; empty if there are none
    levels: list[Level] = field(default_factory=list[Level])  # the inner ones first


def escape_label(label: str) -> str:
    """Return a label in which no character has a meaning in an encoding.

    >>> escape_label("PRT|ADVP")
    'PRT%7CADVP'
    """
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in label)


def unescape_label(label: str) -> str:
    """Undo :func:`escape_label`; what is not escaped stays."""
    head, *rest = label.split("%")
    return head + "".join(_character(part[:2]) + part[2:] for part in rest)


def _character(code: str) -> str:
    return chr(int(code, 16)) if code in {f"{ord(char):02X}" for char in _ESCAPED} else f"%{code}"


def to_levels(tree: Constituents, rules: HeadRules) -> tuple[list[int], list[Spine]]:
    """Return the head of each word, 0 for the root, and its phrases."""
    n, children = len(tree), tree.child_numbers()
    heads, spines = [0] * n, [Spine() for _ in range(n)]
    head_of = [0] * len(tree.nodes)  # the head word of each phrase

    def word_of(child: int) -> int:
        return head_of[child] if child >= 0 else -child

    for number in range(len(tree.nodes) - 1, -1, -1):  # inner phrases first
        inside = children[number]
        label = escape_label(tree.nodes[number].label)
        labels = [tree.nodes[child].label if child >= 0 else tree.tags[-1 - child] for child in inside]
        position = rules(tree.nodes[number].label, labels) if len(inside) > 1 else 0
        word = head_of[number] = word_of(inside[position])
        spine = spines[word - 1]
        if len(inside) == 1:
            if spine.levels:
                spine.levels[-1].label = f"{label}{JOINT}{spine.levels[-1].label}"
            else:
                spine.chain = f"{label}{JOINT}{spine.chain}" if spine.chain else label
            continue
        modifiers = [word_of(child) for p, child in enumerate(inside) if p != position]
        spine.levels.append(Level(label, modifiers))
        for modifier in modifiers:
            heads[modifier - 1] = word
    return heads, spines


def from_levels(
    forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], spines: Sequence[Spine]
) -> Constituents:
    """Return the tree of which words have these heads and phrases."""
    n = len(forms)
    first, last = (
        list(range(n + 1)),
        list(range(n + 1)),
    )  # of the phrases made so far
    found: list[tuple[int, int, int, str]] = []  # start, -end, a number that is smaller for outer phrases, label
    for word in _bottom_up(heads):
        spine = spines[word - 1]
        _add(found, spine.chain, word, word)
        for level in spine.levels:
            first[word] = min(first[word], *(first[m] for m in level.modifiers))
            last[word] = max(last[word], *(last[m] for m in level.modifiers))
            _add(found, level.label, first[word], last[word])
    found.sort()
    nodes = tuple(Node(label, start - 1, -end) for start, end, _, label in found)
    return Constituents(tuple(forms), tuple(tags), nodes)


def _add(found: list[tuple[int, int, int, str]], joined: str, first: int, last: int) -> None:
    """Add joined phrases, the inner ones first."""
    for label in reversed(joined.split(JOINT) if joined else ()):
        found.append((first, -last, -len(found), unescape_label(label)))


def _bottom_up(heads: Sequence[int]) -> list[int]:
    """Return the words in an order in which modifiers stand before their heads."""
    modifiers: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for modifier, head in enumerate(heads, 1):
        modifiers[head].append(modifier)
    order = [*modifiers[0]]
    for word in order:  # it grows
        order += modifiers[word]
    return order[::-1]
