"""The comments of a sentence in CoNLL-U, as lines of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def with_comments(block: bytes, added: Iterable[str], *, keeps: Callable[[bytes], bool]) -> bytes:
    """Add comments after those that a sentence has, with its line ends. Lines before its first token that ``keeps``
    refuses are left out."""
    lines = block.split(b"\n")
    first = next(number for number, line in enumerate(lines) if line[:1].isdigit())
    ending = b"\r" if lines[first].endswith(b"\r") else b""
    own = [comment.encode() + ending for comment in added]
    return b"\n".join([*filter(keeps, lines[:first]), *own, *lines[first:]])
