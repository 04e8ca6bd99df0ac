"""A limit on the time that constraints may take, for a server that must answer others too.

Most constraints are checked in no time. Forbidden arcs and fixed relations can need the chart of
:mod:`easyfirst.constraints.chart` at every step, and naming a conflict checks many subsets. Both stop at the limit, and
so does parsing under constraints.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from easyfirst.errors import ConstraintError

_END: ContextVar[tuple[float, float] | None] = ContextVar("end", default=None)  # of the limit, and its seconds


@contextmanager
def time_limit(seconds: float) -> Generator[None, None, None]:
    """Raise a :class:`ConstraintError` if the constraints within this context take longer than this."""
    token = _END.set((time.monotonic() + seconds, seconds))
    try:
        yield
    finally:
        _END.reset(token)


def check_time() -> None:
    """Raise a :class:`ConstraintError` if the time is over."""
    end = _END.get()
    if end is not None and time.monotonic() > end[0]:
        advice = "give fewer constraints, or split the sentence"
        raise ConstraintError(f"the constraints could not be checked within {end[1]:g} s; {advice}")
