"""Networks that have learnt alone and decide together: the arrays of all of them by name.

The first member's names are those of a network alone; those of the others begin with ``member1.``, ``member2.`` ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

MAX_MEMBERS = 16
SHARED = ("words.external",)
"""Arrays that members without one of their own have from the first."""

_Named = TypeVar("_Named")
"""Arrays, or what stands for them: shapes."""


def member_prefix(number: int) -> str:
    """What the names of a member's arrays begin with: nothing for the first, which may be the only one."""
    return f"member{number}." if number else ""


def join_members(members: Iterable[Mapping[str, _Named]]) -> dict[str, _Named]:
    """The arrays of all members, of which each has the names of a network alone."""
    return {
        member_prefix(number) + name: array for number, arrays in enumerate(members) for name, array in arrays.items()
    }


def split_members(arrays: Mapping[str, _Named], n_members: int) -> list[dict[str, _Named]]:
    """The arrays of each member, named as those of a network alone. Nothing is copied."""
    shared = {name: arrays[name] for name in SHARED if name in arrays}
    prefixes = [member_prefix(number) for number in range(1, n_members)]
    first = {name: array for name, array in arrays.items() if not name.startswith(tuple(prefixes))}
    others = [
        shared | {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        for prefix in prefixes
    ]
    return [first, *others]
