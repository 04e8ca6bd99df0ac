"""The output of the verbs: files that appear all at once."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from easyfirst.cli.sources import STANDARD
from easyfirst.errors import DataError, ModelError

STDOUT = "<stdout>"


def check_model_output(out: Path, *, overwrite: bool) -> None:
    """Raise an error unless a model may be written here."""
    if out.exists() and not overwrite:
        raise ModelError(f"{out}: exists already; choose another --out, or use --overwrite")
    if out.is_file():
        raise ModelError(f"{out} is a file, but a model is a directory; choose another --out")
    if (out / "training").is_dir():
        raise ModelError(f"{out}: has a training run, which could not be resumed any more; choose another --out")


def is_standard_output(name: str | None) -> bool:
    return name in (None, STANDARD)


def check_output(name: str | None, replaced: Sequence[str] = ()) -> None:
    """Raise an error if the output cannot be written there, or would replace one of these inputs."""
    if name is None or name == STANDARD:
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise DataError("standard output is closed; open it, or write to a file with --output", source=STDOUT)
        return
    path = Path(name)
    if path.is_dir():
        raise DataError("this is a directory; name a file for the output", source=name)
    if not path.absolute().parent.is_dir():
        raise DataError(f"there is no directory {path.parent} for the output; make it first", source=name)
    for other in replaced if path.exists() else ():
        if other != STANDARD and Path(other).exists() and path.samefile(other):
            raise DataError("this is also an input, and would be lost; choose another --output", source=name)


@contextmanager
def open_output(name: str | None) -> Generator[BinaryIO, None, None]:
    """Open standard output, or a file, plain or ``.gz``. A file is written under a temporary name and renamed at the
    end, so a failure leaves the previous file as it was."""
    check_output(name)
    if name is None or name == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        path = Path(name).resolve()  # through symbolic links, so that they stay
        if path.exists() and not path.is_file():  # a pipe or a device
            with path.open("wb") as stream:
                yield stream
            return
        with _tidy_end(), _replacement(path) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"the output cannot be written: {error.strerror or error}", source=name) from error


@contextmanager
def _tidy_end() -> Generator[None, None, None]:
    """Turn SIGTERM into an exit that removes the temporary file."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _replacement(path: Path) -> Generator[BinaryIO, None, None]:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as stream:
            if path.name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield stream
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
