"""Numbers of things in messages, in the singular or the plural."""

from __future__ import annotations


def count(n: int, what: str) -> str:
    """Return a number and what it counts.

    >>> count(1, "file"), count(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{n:,} {what}{'s' * (n != 1)}"
