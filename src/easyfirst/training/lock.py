"""One training at a time in a model's directory."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.directory import prepare_directory


@contextmanager
def sole_training(directory: Path) -> Generator[None, None, None]:
    """Make the directory; while this lasts, any other training in it is a :class:`ModelError`. If nothing is written
    into a new one, it goes away again."""
    is_new = not directory.exists()
    with _locked(directory):
        try:
            yield
        finally:
            if is_new:
                with suppress(OSError):  # which is what happens if there is something in it
                    directory.rmdir()


@contextmanager
def _locked(directory: Path) -> Generator[None, None, None]:
    """The directory itself is locked, without a file in it, and the system lets go of it however the process ends.
    Where directories cannot be locked, nothing is."""
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
        if not is_ours:  # or it was removed by one that has just ended
            raise ModelError(
                f"{directory}: another training is at work there; wait for its end, or choose another --out"
            )
        yield
    finally:
        os.close(descriptor)
