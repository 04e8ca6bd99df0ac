"""Checks that something fits into memory, before it is allocated: a system may end a process that tries."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from math import prod

from easyfirst.errors import ConfigError

UNKNOWN_MEMORY = 1 << 36  # assumed where the system does not tell
TRAINING_BYTES = 20  # a weight in training: its value, gradient, mean, two moments, each of 32 bits


def memory_size() -> int:
    """Return the bytes of memory that this process may use at most."""
    if sys.platform in ("win32", "emscripten"):  # these have no module `resource`
        return UNKNOWN_MEMORY
    import resource

    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return physical if limit == resource.RLIM_INFINITY else min(physical, limit)


def gigabytes(n_bytes: int) -> str:
    """Return a size for messages."""
    return f"{n_bytes / 1e9:,.1f} GB"


def check_trainable(shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise a :class:`ConfigError` if a network with arrays of these shapes is too large to be trained here."""
    n_weights = sum(map(prod, shapes.values()))
    if n_weights * TRAINING_BYTES > memory_size():
        largest = max(shapes, key=lambda name: prod(shapes[name]))
        raise ConfigError(
            f"a network of these sizes has {n_weights:,} weights (the most in {largest}, of shape {shapes[largest]}); "
            f"to train it takes {gigabytes(n_weights * TRAINING_BYTES)} of memory, and there are "
            f"{gigabytes(memory_size())}; choose smaller sizes"
        )
