"""The arrays of an ensemble: networks trained independently, whose scores are averaged. The first member's arrays are
named as in a single network; the others' names start with ``member1.``, ``member2.`` ..."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

MAX_MEMBERS = 16
SHARED = ("words.external",)  # arrays of the first member that the other members use if they have none of their own

_Named = TypeVar("_Named")  # arrays or shapes


def join_members(members: Iterable[Mapping[str, _Named]]) -> dict[str, _Named]:
    """Return the arrays of all members in one dictionary; each member's are named as in a single network."""
    return {
        f"member{number}.{name}" if number else name: array
        for number, arrays in enumerate(members)
        for name, array in arrays.items()
    }


def split_members(arrays: Mapping[str, _Named], n_members: int) -> list[dict[str, _Named]]:
    """Undo :func:`join_members`. The arrays are not copied."""
    shared = {name: arrays[name] for name in SHARED if name in arrays}
    prefixes = [f"member{number}." for number in range(1, n_members)]
    first = {name: array for name, array in arrays.items() if not name.startswith(tuple(prefixes))}
    others = [
        shared | {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        for prefix in prefixes
    ]
    return [first, *others]
