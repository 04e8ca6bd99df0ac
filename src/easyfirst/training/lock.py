"""A lock that allows one training at a time in a model's directory."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.directory import file_errors, make_directory, refuse_others
from easyfirst.model.transaction import tidy


@contextmanager
def sole_training(directory: Path) -> Generator[None, None, None]:
    """Create and lock the directory; raise :class:`ModelError` if another training holds the lock. A new directory that
    stays empty is removed."""
    is_new = not directory.exists()
    make_directory(directory)
    with file_errors(f"{directory} cannot be written"):
        tidy(directory)
    refuse_others(directory)
    lock = _lock(directory)
    try:
        yield
    finally:
        if is_new:
            with suppress(OSError):  # it is not empty
                directory.rmdir()
        if lock is not None:
            os.close(lock)


def _lock(directory: Path) -> int | None:
    """Lock the directory itself, without a lock file, and return its descriptor. The system releases the lock however
    the process ends. Return None where directories cannot be locked."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = directory.exists() and os.path.samestat(os.fstat(descriptor), directory.stat())
    except BlockingIOError:
        is_ours = False
    except OSError:
        is_ours = True
    if not is_ours:  # also if a training that has just ended removed it
        os.close(descriptor)
        raise ModelError(f"{directory}: another training is running there; wait for its end, or choose another --out")
    return descriptor
