"""Changes of a model directory that are made all at once.

The new files are collected in a hidden directory with a random name inside the model directory, with a journal of what
is to be done. One rename, to ``.easyfirst-commit``, commits the changes. Then the files are renamed to their places,
and the hidden directory is removed. A process killed before the commit leaves the old model, with a leftover that the
next writer removes. After the commit it leaves the new model: whoever next opens the directory makes the remaining
renames, or reads the new files where they are if it may not write.

A writer locks its hidden directory, so that others can tell whether it is still at work. Readers do not lock anything:
they read again if the files have changed meanwhile (:func:`read_consistently`). So a reader gets the old model or the
new one, never a mixture.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from easyfirst.errors import ModelError
from easyfirst.model.directory import CARD, CONFIDENCE, PART_FOLDERS, REQUIRED, file_errors, make_directory, read_file
from easyfirst.replacing import (
    create,
    hold,
    is_at,
    open_directory,
    random_name,
    remove_leftovers,
    sync_directory,
)

COMMIT = ".easyfirst-commit"
FILES = (*REQUIRED, CARD, CONFIDENCE)
_JOURNAL, _JOURNAL_VERSION = "journal.json", 1
_PLACES = ("", *(f"{part}/" for part in PART_FOLDERS))
_NAMES = frozenset(place + file for place in _PLACES for file in FILES)
_REMOVABLE = _NAMES | set(PART_FOLDERS)
_STAGED = re.compile(r"[0-9]{1,3}")
_TRIES = 100
_Read = TypeVar("_Read")


@dataclass(slots=True)
class Changes:
    """Files of a directory to be written or removed together."""

    directory: Path
    staging: Path  # the hidden directory of the new files
    written: dict[str, str] = field(default_factory=dict[str, str])  # name -> name in the hidden directory
    removed: set[str] = field(default_factory=set[str])  # files, and directories of parts

    def write(self, name: str, content: bytes) -> None:
        """Write a file, such as ``tagger/config.json``."""
        if (self.directory / name).is_dir():
            raise ModelError(f"{self.directory / name} is a directory, but a model has a file there; move it away")
        if (folder := (self.directory / name).parent) != self.directory and folder.is_symlink():
            raise ModelError(f"{folder} is a symbolic link, and a model has a directory there; replace it by a copy")
        staged = self.written.setdefault(name, str(len(self.written)))
        self.removed -= {name}
        (self.staging / staged).unlink(missing_ok=True)
        with create(self.staging / staged) as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())

    def remove(self, name: str) -> None:
        """Remove a file that is not written, or the directory of a part."""
        if name not in self.written:
            self.removed.add(name)

    def write_journal(self) -> None:
        """Write what is to be done; after this, the hidden directory is complete."""
        values = {"version": _JOURNAL_VERSION, "write": self.written, "remove": sorted(self.removed)}
        with create(self.staging / _JOURNAL) as stream:
            stream.write(json.dumps(values).encode())
            stream.flush()
            os.fsync(stream.fileno())
        sync_directory(self.staging)


@contextmanager
def replacing(directory: Path) -> Generator[Changes, None, None]:
    """Collect changes of a model or part, and make them all at the end. An exception discards them."""
    is_new = not directory.exists()
    with file_errors(f"{directory} cannot be written"):
        make_directory(directory)
        tidy(directory)
        staging, lock = _make_staging(directory)
        changes = Changes(directory, staging)
        try:
            yield changes
            if changes.written or changes.removed:
                changes.write_journal()
                _commit(directory, staging)
                _apply(directory, changes.written, sorted(changes.removed))
        finally:
            shutil.rmtree(staging, ignore_errors=True)  # if it was not committed
            if lock is not None:
                os.close(lock)
            if is_new:
                with suppress(OSError):  # it is not empty
                    directory.rmdir()


def _make_staging(directory: Path) -> tuple[Path, int | None]:
    """Make and lock a hidden directory; return it with the descriptor that holds the lock."""
    while True:
        staging = directory / random_name()
        staging.mkdir()
        try:
            lock = open_directory(staging)
        except FileNotFoundError:  # another process took it for a leftover before it was locked
            continue
        hold(lock)
        if is_at(lock, staging):
            return staging, lock
        if lock is not None:
            os.close(lock)


def _commit(directory: Path, staging: Path) -> None:
    """Rename the hidden directory, which fails while the changes of another process are being made."""
    while True:
        try:
            staging.rename(directory / COMMIT)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES) or not (directory / COMMIT).is_dir():
                raise
        _settle_one(directory)
    sync_directory(directory)


def tidy(directory: Path) -> None:
    """Finish changes that were committed, and remove the leftovers of those that were not."""
    settle(directory)
    for place in _PLACES:
        remove_leftovers(directory / place)


def settle(directory: Path) -> None:
    """Finish changes of a model and its parts that were committed, and wait for those that are being made now."""
    for place in _PLACES:
        _settle_one(directory / place)


def _settle_one(directory: Path) -> None:
    commit = directory / COMMIT
    while commit.is_dir():
        try:
            lock = open_directory(commit)
        except FileNotFoundError:  # the changes have been made
            continue
        try:
            hold(lock)  # until the process that makes the changes has ended, or has been killed
            if is_at(lock, commit):
                _apply(directory, *_read_journal(directory))
        finally:
            if lock is not None:
                os.close(lock)


def _read_journal(directory: Path) -> tuple[dict[str, str], list[str]]:
    """Return the files to write and those to remove. The journal of a model from elsewhere could be forged, so only
    names of model files are accepted."""
    path = directory / COMMIT / _JOURNAL
    try:
        values = cast("dict[str, Any]", json.loads(read_file(path)))
        written, removed = dict[str, str](values["write"]), list[str](values["remove"])
        is_known = values["version"] == _JOURNAL_VERSION and written.keys() <= _NAMES and _REMOVABLE.issuperset(removed)
        is_known = is_known and all(_STAGED.fullmatch(staged) for staged in written.values())
    except (ValueError, KeyError, TypeError, RecursionError):
        is_known, written, removed = False, {}, []
    parents = {(directory / name).parent for name in written} - {directory}
    if not is_known or any(parent.is_symlink() for parent in parents):
        raise ModelError(
            f"{path} is damaged, or another version of easyfirst wrote it, so a replacement of the model cannot be "
            f"finished; delete {directory / COMMIT}, then write or copy the model again"
        )
    return written, removed


def _apply(directory: Path, written: dict[str, str], removed: list[str]) -> None:
    """Make the changes of the commit. Steps that a killed process has made are skipped."""
    commit = directory / COMMIT
    for name, staged in written.items():
        source, target = commit / staged, directory / name
        if source.exists():
            target.parent.mkdir(exist_ok=True)
            source.replace(target)
    for name in removed:
        if (directory / name).is_dir() and not (directory / name).is_symlink():
            shutil.rmtree(directory / name)
        else:
            (directory / name).unlink(missing_ok=True)
    for place in {(directory / name).parent for name in (*written, *removed)} | {commit}:
        sync_directory(place)
    done = directory / random_name()
    commit.rename(done)
    sync_directory(directory)
    shutil.rmtree(done, ignore_errors=True)


def read_consistently(directory: Path, read: Callable[[Path], _Read]) -> _Read:
    """Read a model while others may replace it: call ``read`` with the directory until nothing changes meanwhile."""
    for _ in range(_TRIES):
        try:
            settle(directory)
        except OSError:  # the changes cannot be made here
            with _copy_of_new(directory) as place:
                return read(place)
        before = _state(directory)
        if any((directory / place / COMMIT).is_dir() for place in _PLACES):
            continue
        try:
            found = read(directory)
        except ModelError:
            if _state(directory) == before:
                raise
            continue
        if _state(directory) == before:
            return found
    raise ModelError(f"{directory} is replaced again and again while it is read; load it when that has ended")


def _state(directory: Path) -> dict[str, tuple[int, int, int]]:
    """Return what changes when a file is replaced: its number, size and time."""
    found: dict[str, tuple[int, int, int]] = {}
    for name in _NAMES:
        with suppress(OSError):
            facts = (directory / name).stat()
            found[name] = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
    return found


@contextmanager
def _copy_of_new(directory: Path) -> Generator[Path, None, None]:
    """Copy the files of a model whose committed changes cannot be made, because it is read-only or the disk is full."""
    with tempfile.TemporaryDirectory(prefix="easyfirst-") as folder:
        copy = Path(folder) / directory.resolve().name
        with file_errors(f"{directory} cannot be read"):
            for name, file in _new_files(directory).items():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy / name)
        yield copy


def _new_files(directory: Path) -> dict[str, Path]:
    """Return where each file of a model is, if all committed changes were made."""
    found = {name: directory / name for name in _NAMES if (directory / name).is_file()}
    for place in _PLACES:
        if not (directory / place / COMMIT).is_dir():
            continue
        written, removed = _read_journal(directory / place)
        gone = tuple(f"{place}{name}" for name in removed)
        found = {name: file for name, file in found.items() if name not in gone and not name.startswith(gone)}
        staged = {f"{place}{name}": directory / place / COMMIT / number for name, number in written.items()}
        found |= {name: file for name, file in staged.items() if file.is_file()}
    return found
