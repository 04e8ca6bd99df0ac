"""A lock that allows one training at a time in a model's directory."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.directory import prepare_directory


@contextmanager
def sole_training(directory: Path) -> Generator[None, None, None]:
    """Create and lock the directory; raise :class:`ModelError` if another training holds the lock. A new directory that
    stays empty is removed."""
    is_new = not directory.exists()
    with _locked(directory):
        try:
            yield
        finally:
            if is_new:
                with suppress(OSError):  # it is not empty
                    directory.rmdir()


@contextmanager
def _locked(directory: Path) -> Generator[None, None, None]:
    """Lock the directory itself, without a lock file. The system releases the lock however the process ends. Where
    directories cannot be locked, do nothing."""
    prepare_directory(directory)
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = directory.exists() and os.path.samestat(os.fstat(descriptor), directory.stat())
        except BlockingIOError:
            is_ours = False
        except OSError:
            is_ours = True
        if not is_ours:  # also if a training that has just ended removed it
            raise ModelError(
                f"{directory}: another training is running there; wait for its end, or choose another --out"
            )
        yield
    finally:
        os.close(descriptor)
