"""The compiled core for each instruction set of this machine, and workspaces of limited memory."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from easyfirst.errors import ConfigError
from easyfirst.native import library
from easyfirst.native.library import PRECISIONS, Core, find_core
from tests.patience import PATIENCE

ALL_PRECISIONS = tuple(PRECISIONS)
BYTES = ("int8", "int8-fast")
"""The precisions with weights of 8 bits."""


@cache
def core_for(isa: str) -> Core | None:
    """Return the core for an instruction set, or None if this machine does not have it."""
    best = find_core()
    try:
        return None if best is None else Core(best._library, isa)
    except ConfigError:
        return None


ISAS = tuple(isa for isa in library.ISAS if core_for(isa) is not None) or ("base",)
"""The instruction sets of this machine, the best one last."""

each_isa = pytest.mark.parametrize("isa", ISAS)
each_precision = pytest.mark.parametrize("precision", ALL_PRECISIONS)


def the_core(isa: str | None = None) -> Core:
    """Return the core for an instruction set, or the best one."""
    found = find_core() if isa is None else core_for(isa)
    assert found is not None
    return found


@contextmanager
def limited(core: Core, limit: int) -> Iterator[None]:
    """Make every call use one workspace, which may take ``limit`` bytes (0: any number)."""
    workspace = core.new_workspace(limit)
    core.workspace = lambda: nullcontext(workspace)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del core.workspace
        core.function("workspace_free")(workspace)


IS_SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
"""Whether the core is checked by AddressSanitizer, which takes address space of its own and never returns memory."""


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, so that a crash ends that process only."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def activate(core: Core, x: np.ndarray, *, is_tanh: bool) -> np.ndarray:
    """Return exp(x) or tanh(x) as the core computes it."""
    size = -(-x.size // 8) * 8  # the core works on whole vectors
    padded = np.zeros(size, dtype=np.float32)
    padded[: x.size] = x
    pointer = padded.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    core.function("activate")(pointer, size, int(is_tanh))
    return padded[: x.size]
