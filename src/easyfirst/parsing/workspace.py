"""Memory that is reused from batch to batch: fresh pages from the system cost as much as a gate."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from easyfirst.nn.arrays import Floats


class Workspace:
    """Named, uninitialised arrays. Requesting a name again overwrites the array of that name."""

    def __init__(self) -> None:
        self._memory: dict[str, Floats] = {}
        self._parts: dict[int, Workspace] = {}

    def part(self, number: int) -> Workspace:
        """Return a nested workspace with names of its own."""
        return self._parts.setdefault(number, Workspace())

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Floats:
        size = math.prod(shape)
        memory = self._memory.get(name)
        if memory is None or memory.size < size or memory.dtype != dtype:
            memory = self._memory[name] = np.empty(size, dtype=dtype)
        return memory[:size].reshape(shape)
