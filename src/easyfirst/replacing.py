"""Files that are replaced all at once, and the removal of what killed processes have left behind.

A new file is written under a random name in the directory of its target, synced and renamed: whenever the process is
killed, the old file or the new one is there. While a process writes, it holds a lock on the temporary file, which the
system releases however the process ends. The next run removes temporary files that nobody has locked.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, and Pyodide in the browser
    fcntl = None

PREFIX = ".easyfirst-"
_SUFFIX = ".tmp"
_TEMPORARY = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}" + f"({re.escape(_SUFFIX)})?")
_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_cleaned: set[Path] = set()  # the directories that this process has searched for leftovers


@contextmanager
def replacement(path: Path) -> Generator[BinaryIO, None, None]:
    """Open a temporary file that replaces another one at the end, with the permissions of the old file. An exception
    removes it, and leaves the old file as it was."""
    if (place := path.parent.absolute()) not in _cleaned:  # once a process: there may be many other files
        _cleaned.add(place)
        remove_leftovers(place)
    temporary, stream = _create_locked(path.parent)
    try:
        with stream:
            with suppress(FileNotFoundError):
                shutil.copymode(path, temporary)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if sys.platform == "win32":  # where an open file cannot be renamed
                stream.close()
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    sync_directory(path.parent)


def _create_locked(directory: Path) -> tuple[Path, BinaryIO]:
    """Create and lock a temporary file."""
    while True:
        path = directory / (random_name() + _SUFFIX)
        stream = create(path)
        hold(stream.fileno())
        if is_at(stream.fileno(), path):
            return path, stream
        stream.close()  # another process took it for a leftover before it was locked


def random_name() -> str:
    """Return a name for a temporary file or directory, which nobody can guess."""
    return PREFIX + secrets.token_hex(8)


def create(path: Path) -> BinaryIO:
    """Create a file that must not exist, not even as a symbolic link, and open it to be written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o666), "wb")


def sync_directory(directory: Path) -> None:
    """Make new names in a directory durable, on systems that can open a directory."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_directory(path: Path) -> int | None:
    """Open a directory to lock it, but no symbolic link to one. Return None where directories cannot be opened."""
    return None if sys.platform == "win32" else os.open(path, os.O_RDONLY | _DIRECTORY)


def hold(descriptor: int | None) -> None:
    """Lock an open file or directory; wait if another process has locked it. Where there are no locks, do nothing."""
    if fcntl is not None and descriptor is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_at(descriptor: int | None, path: Path) -> bool:
    """Return whether an open file or directory still has this name."""
    try:
        return descriptor is None or os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def is_leftover(directory: Path) -> bool:
    """Return whether a directory holds nothing, or nothing but temporary files."""
    try:
        return all(_TEMPORARY.fullmatch(entry.name) for entry in directory.iterdir())
    except OSError:
        return False


def remove_leftovers(directory: Path) -> None:
    """Remove the temporary files and directories that killed processes have left in a directory."""
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                _remove_abandoned(Path(entry.path))


def _remove_abandoned(path: Path) -> None:
    """Remove a temporary file or directory that nobody has locked. Where there are no locks, nobody can tell."""
    if fcntl is None:
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        finally:
            os.close(descriptor)
