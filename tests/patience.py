"""How long tests wait: until something happens, with one generous guard against hanging."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds after which a process counts as hung. No test measures speed: a busy machine is never this slow."""


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)
