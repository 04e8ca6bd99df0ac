"""Pseudo-projective trees (Nivre & Nilsson 2005): projective trees whose relations encode arcs that cross others.

:func:`lift` makes a tree projective. As long as there is an arc that is not projective, the shortest such arc is
*lifted*: its modifier is attached to the head of its head. A *mark* beside the relation encodes where it came from. The
schemes differ in what they mark, here for an ``obj`` that was lifted from a ``ccomp``:

- ``head``: the lifted word gets the relation of its original head, ``obj↑ccomp``.
- ``path``: the lifted word is marked as such, ``obj↑``, and so is every word it was lifted from, ``ccomp↓``.
- ``head+path``: both, ``obj↑ccomp`` and ``ccomp↓``.

:func:`restore` undoes this in a tree that a parser has built. Lifted arcs are moved down, the longest first, since the
shortest was lifted first. The new head is the nearest word below the old one that fits the mark, and from which the
word would have been lifted to where it is: all arcs on the way down must be non-projective. If there is no such word,
the arc stays. A modifier only moves within the subtree of its head, and never below itself, so the result is a tree
with the same root, whatever the marks are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from easyfirst.treebank.projective import Domination, non_projective_arcs

HEAD, PATH, HEAD_AND_PATH = "head", "path", "head+path"
SCHEMES = (HEAD, PATH, HEAD_AND_PATH)
UP, DOWN = "↑", "↓"


@dataclass(frozen=True, slots=True)
class Mark:
    """What is encoded of lifting beside the relation of a word."""

    is_lifted: bool = False
    """Whether the word was lifted: its head is below the one that it is attached to."""
    head_relation: str | None = None
    """The relation of the head from which it was lifted, if the scheme encodes that."""
    is_on_path: bool = False
    """Whether a word was lifted from this one, or from below it, if the scheme encodes that."""

    def describe(self) -> str:
        """Describe the mark in words, to follow the description of an arc."""
        target = f"its {self.head_relation}" if self.head_relation else "a word"
        clauses = [f"to be moved below it to {target}"] if self.is_lifted else []
        clauses += ["with a word to be moved below it"] if self.is_on_path else []
        return ", ".join(clauses)

    def to_dict(self) -> dict[str, bool | str | None]:
        """Return the mark for JSON."""
        return {"lifted": self.is_lifted, "head_relation": self.head_relation, "on_path": self.is_on_path}


class Label(NamedTuple):
    """A relation and the mark beside it."""

    relation: str
    mark: Mark | None = None

    def encode(self) -> str:
        """Return the label as one name.

        >>> Label("obj", Mark(is_lifted=True, head_relation="ccomp")).encode()
        'obj↑ccomp'
        """
        if self.mark is None:
            return self.relation
        up = f"{UP}{self.mark.head_relation or ''}" if self.mark.is_lifted else ""
        return self.relation + up + (DOWN if self.mark.is_on_path else "")

    @classmethod
    def decode(cls, name: str) -> Label:
        """Undo :meth:`encode`.

        >>> Label.decode("obj↑ccomp").relation
        'obj'
        """
        rest = name.removesuffix(DOWN)
        relation, up, head_relation = rest.partition(UP)
        if rest == name and not up:
            return cls(name)
        return cls(relation, Mark(bool(up), head_relation or None, is_on_path=rest != name))


@dataclass(frozen=True, slots=True)
class Lifted:
    """A projective tree, and where its lifted words came from."""

    heads: tuple[int, ...]
    ways: dict[int, tuple[int, ...]]
    """For each lifted word the heads that it has left, from the original one up."""

    def marks(self, relations: Sequence[str | None], scheme: str, words: Set[int]) -> list[Mark | None]:
        """Return the mark of each word if only some lifted ``words`` are marked. ``relations``: of the original tree.
        A word cannot be marked if the scheme needs the relation of its head and this is unknown."""
        head_relations = {m: relations[self.ways[m][0] - 1] for m in words}
        if scheme == PATH:
            head_relations = dict.fromkeys(words)
        else:
            words = {m for m in words if head_relations[m]}
        on_path = {h for m in words for h in self.ways[m]} if scheme != HEAD else set[int]()
        return [
            Mark(m in words, head_relations[m] if m in words else None, m in on_path)
            if m in words or m in on_path
            else None
            for m in range(1, len(self.heads) + 1)
        ]


def lift(heads: Sequence[int]) -> Lifted:
    """Make a tree with one root projective: lift the shortest arc that is not projective until there is none."""
    lifted = list(heads)
    ways: dict[int, list[int]] = {}
    while found := non_projective_arcs(lifted):
        m = min(found, key=lambda m: (abs(lifted[m - 1] - m), m))
        ways.setdefault(m, []).append(lifted[m - 1])
        lifted[m - 1] = lifted[lifted[m - 1] - 1]
    return Lifted(tuple(lifted), {m: tuple(way) for m, way in ways.items()})


def restore(
    heads: Sequence[int],
    relations: Sequence[str],
    marks: Sequence[Mark | None],
    is_allowed: Callable[[Sequence[int]], bool] = lambda heads: True,
) -> tuple[int, ...]:
    """Return the heads of a tree after its lifted arcs are moved down, as far as the heads stay ``is_allowed``."""
    restored = list(heads)
    lifted = [m for m, mark in enumerate(marks, 1) if mark is not None and mark.is_lifted and heads[m - 1]]
    lifted.sort(key=lambda m: (-abs(heads[m - 1] - m), -m))
    is_changed = True
    while lifted and is_changed:  # a move can bring the head of another lifted word within reach
        waiting = [m for m in lifted if not _move(m, restored, relations, marks, is_allowed)]
        lifted, is_changed = waiting, len(waiting) < len(lifted)
    return tuple(restored)


def _move(
    m: int,
    heads: list[int],
    relations: Sequence[str],
    marks: Sequence[Mark | None],
    is_allowed: Callable[[Sequence[int]], bool],
) -> bool:
    """Move a lifted word down in a tree, and return whether there was a head for it."""
    for head in _targets(m, heads, relations, marks):
        if is_allowed([*heads[: m - 1], head, *heads[m:]]):
            heads[m - 1] = head
            return True
    return False


def _targets(m: int, heads: Sequence[int], relations: Sequence[str], marks: Sequence[Mark | None]) -> Iterator[int]:
    """Yield the heads to which a lifted word may be moved, the best first."""
    tree, modifiers = Domination(heads), _modifiers(heads)
    mark = marks[m - 1]
    wanted = None if mark is None else mark.head_relation

    def is_marked(word: int) -> bool:
        mark = marks[word - 1]
        return mark is not None and mark.is_on_path

    found: list[tuple[bool, int, int]] = []
    waiting = [(word, True) for word in modifiers[heads[m - 1]]]
    while waiting:
        word, is_on_path = waiting.pop()
        if tree.covers(word, m):  # nothing would have been lifted from there; m is skipped too, since it covers itself
            continue
        is_on_path = is_on_path and is_marked(word)
        is_end = wanted is not None or not any(is_marked(other) for other in modifiers[word] if other != m)
        if wanted is None or relations[word - 1] == wanted:
            found.append((not (is_on_path and is_end), abs(word - m), word))
        waiting += [(modifier, is_on_path) for modifier in modifiers[word]]
    return (word for _, _, word in sorted(found))


def _modifiers(heads: Sequence[int]) -> list[list[int]]:
    modifiers: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for m, head in enumerate(heads, 1):
        modifiers[head].append(m)
    return modifiers
