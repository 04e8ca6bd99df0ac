"""Work in steps: a generator that pauses after each bounded piece of work, so that others may run in between."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")

Steps: TypeAlias = Generator[None, None, Result]
"""A work in steps, which returns its result at the end."""


def finish(steps: Steps[Result]) -> Result:
    """Take all remaining steps and return the result."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value
