"""The record of a corpus run: which outputs are complete, and what they were made from.

Each directory with outputs has a file ``.easyfirst-parse.jsonl``. Lines are added before an output is begun, before it
is renamed to its name, and afterwards. The last line about an output counts. Each has digests of all contents that may
be under the name if the process is killed, so that files which someone else has written or changed are recognised. A
process that is killed may leave an incomplete line, which is skipped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, cast

from easyfirst.cli.outputs import OutputError
from easyfirst.errors import DataError
from easyfirst.replacing import PREFIX
from easyfirst.treebank.streams import is_gzip

NAME = ".easyfirst-parse.jsonl"
_BLOCK = 1 << 20
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
Records = dict[str, dict[str, Any]]
"""The last record of each output in a directory."""


class Version(NamedTuple):
    """The contents of an input, and how they are recognised without reading them."""

    n_bytes: int
    mtime_ns: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Version:
        """Read a file."""
        with _reading(path):
            before = path.stat()
        return cls(before.st_size, before.st_mtime_ns, digest(path))

    def is_of(self, path: Path) -> bool:
        """Return whether a file has these contents. It is read only if its size is the same and its time is not."""
        with _reading(path):
            now = path.stat()
        if now.st_size != self.n_bytes:
            return False
        return now.st_mtime_ns == self.mtime_ns or digest(path) == self.sha256


def digest(path: Path, *, unpacked: bool = False) -> str:
    """Return the SHA-256 of the contents of a file, or of those of a gzipped file in it."""
    found = hashlib.sha256()
    with _reading(path), gzip.open(path) if unpacked and is_gzip(path.name) else path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


@contextmanager
def _reading(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"reading failed: {getattr(error, 'strerror', None) or error}", source=str(path)) from None


def digest_of_model(directory: Path) -> str:
    """Return the SHA-256 of the files of a model, with their names. Files of its training do not count."""
    files = {path.relative_to(directory): path for path in directory.rglob("*") if path.is_file()}
    parts = sorted(
        (place.as_posix(), path)
        for place, path in files.items()
        if place.parts[0] != "training" and not any(part.startswith(PREFIX) for part in place.parts)
    )
    return digest_of_values({name: digest(path) for name, path in parts})


def digest_of_values(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of values that JSON can represent."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


class Ledger:
    """The records of all directories that a run writes to. Threads may share one."""

    def __init__(self, settings: str) -> None:
        """Make one for outputs of these ``settings``, a digest of all that decides what is written for an input."""
        self._settings = settings
        self._records: dict[Path, Records] = {}
        self._lock = Lock()

    def why_kept(self, output: Path, source: Path) -> str | None:
        """Return why a file that is there must not be replaced by the output for an input; None if it may be."""
        record = self._of(output.parent).get(output.name)
        if record is None:
            return f"{output} exists and was not written by 'easyfirst parse'"
        owner = _source(output.parent, record)
        if owner is not None and owner != _absolute(source) and _is_another(owner, source):
            return f"{output} is the output for another file, {owner}"
        return None if _is_as_written(output, record) else f"{output} has changed since 'easyfirst parse' wrote it"

    def is_complete(self, output: Path, source: Path, name: str) -> bool:
        """Return whether an output is there and what these settings make of the input as it is now. The ids in it begin
        with ``name``."""
        record = self._of(output.parent).get(output.name, {})
        try:
            is_wanted = (record.get("settings"), record.get("name")) == (self._settings, name)
            return is_wanted and _is_as_written(output, record) and Version(**record["input"]).is_of(source)
        except (OSError, DataError, KeyError, TypeError):  # no output, no input, or a record of a later version
            return False

    def begin(self, output: Path, source: Path) -> None:
        """Record that the output for an input is about to be written."""
        self._append(output, {"source": _relative(source, output.parent), "contents": self._before(output)})

    def will_appear(self, output: Path, source: Path, contents: str) -> None:
        """Record a digest of an output that is about to be renamed to its name, durably: without the record, the output
        would seem to be someone else's."""
        values = {"source": _relative(source, output.parent), "contents": [contents, *self._before(output)]}
        self._append(output, values, durably=True)

    def complete(self, output: Path, source: Path, contents: str, version: Version, name: str) -> None:
        """Record that an output is complete, and the version of the input it was made from."""
        found = output.stat()
        values = {"source": _relative(source, output.parent), "contents": [contents], "bytes": found.st_size}
        values |= {"mtime_ns": found.st_mtime_ns, "settings": self._settings, "name": name}
        self._append(output, {**values, "input": version._asdict()})

    def _before(self, output: Path) -> list[str]:
        """Return the digests of what earlier runs may have left under the name of an output."""
        return _contents(self._of(output.parent).get(output.name, {}))

    def _of(self, directory: Path) -> Records:
        """Return the last record of each output in a directory, before this run."""
        if directory not in self._records:
            self._records[directory] = _read(directory)
        return self._records[directory]

    def _append(self, output: Path, values: dict[str, Any], *, durably: bool = False) -> None:
        line = json.dumps({"output": output.name, **values}).encode()
        path = output.parent / NAME
        try:
            with self._lock, os.fdopen(os.open(path, _APPEND, 0o666), "ab", buffering=0) as stream:
                stream.write((b"" if _ends_a_line(path) else b"\n") + line + b"\n")  # at once, so lines stay whole
                if durably:
                    os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(f"the record cannot be written: {error.strerror or error}", source=str(path)) from error


def _ends_a_line(path: Path) -> bool:
    """Return whether a file is empty or ends with a line feed; the process that wrote it may have been killed."""
    if path.stat().st_size == 0:
        return True
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


def outputs_in(directory: Path) -> dict[str, Path | None]:
    """Return the names of the outputs that runs have written, or begun, in a directory, and the input of each, if the
    record has it."""
    with suppress(OutputError):
        return {name: _source(directory, record) for name, record in _read(directory).items()}
    return {}


def _read(directory: Path) -> Records:
    lines: Iterable[bytes] = ()
    try:
        lines = (directory / NAME).read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        message = f"the record cannot be read: {error.strerror or error}"
        raise OutputError(message, source=str(directory / NAME)) from error
    found: Records = {}
    for line in lines:
        with suppress(ValueError):
            record: object = json.loads(line)
            if isinstance(record, dict) and "output" in record:
                values = cast("dict[str, Any]", record)
                found[str(values["output"])] = values
    return found


def _is_as_written(output: Path, record: Mapping[str, Any]) -> bool:
    """Return whether an output has contents that were recorded. It is read only if its size or time differs."""
    found = output.stat()
    if (found.st_size, found.st_mtime_ns) == (record.get("bytes"), record.get("mtime_ns")):
        return True
    try:
        return bool(contents := _contents(record)) and digest(output, unpacked=True) in contents
    except DataError:
        return False


def _contents(record: Mapping[str, Any]) -> list[str]:
    return list(map(str, record["contents"])) if isinstance(record.get("contents"), list) else []


def _absolute(path: Path) -> Path:
    """Return the path of a file from the root, with the links to its directory resolved."""
    return Path(os.path.realpath(path.parent)) / path.name


def _relative(source: Path, directory: Path) -> str:
    """Return the path of an input from the directory of its output, so that both can be moved together."""
    try:
        return os.path.relpath(_absolute(source), os.path.realpath(directory))
    except ValueError:  # another drive of Windows
        return str(_absolute(source))


def _source(directory: Path, record: Mapping[str, Any]) -> Path | None:
    source = record.get("source")
    if not isinstance(source, str):
        return None
    return Path(os.path.normpath(Path(os.path.realpath(directory)) / source))


def _is_another(owner: Path, source: Path) -> bool:
    try:
        return not owner.samefile(source)
    except OSError:  # it was moved or deleted
        return False
