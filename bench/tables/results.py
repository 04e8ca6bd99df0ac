"""Files of JSON lines, and the one with the results: a line for each run, appended when it is done; the last one holds.

A process that is killed while it appends leaves half a line at the end, which is not read, and is cut off by the next
one that appends.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from experiments import FOLDER, Run

from easyfirst.errors import EasyFirstError

RESULTS = FOLDER.parent / "results" / "tables.jsonl"

Line = dict[str, Any]

NEEDED = ("key", "family", "cpu_seconds", "data", "dev", "epochs", "best_epoch")
"""What the runner reads of a result."""


class DamagedError(EasyFirstError):
    """A file that is not what was written."""


@dataclass(frozen=True, slots=True)
class Results:
    """What has been recorded in a file, which need not exist."""

    path: Path = RESULTS

    def read(self) -> dict[str, Line]:
        """By the key of the run."""
        lines = read_lines(self.path)
        for number, line in enumerate(lines, 1):
            if lacking := [name for name in NEEDED if name not in line]:
                said = f"no result, it has no {lacking[0]}; name another --results"
                raise DamagedError(f"{self.path}, line {number}: {said}")
        return {line["key"]: line for line in lines}

    def append(self, line: Line) -> None:
        append_line(self.path, line)

    def check_writable(self) -> None:
        """Raises :class:`OSError` if nothing could be appended."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab"):
            pass


def read_lines(path: Path) -> list[Line]:
    """All whole lines; none if there is no file."""
    if not path.exists():
        return []
    lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
    return [_parsed(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def _parsed(line: bytes, where: str) -> Line:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise DamagedError(f"{where}: is no JSON ({error}); take it out, or name another --results") from error
    if not isinstance(found, dict):
        raise DamagedError(f"{where}: is no JSON object; take it out, or name another --results")
    return cast(Line, found)


def append_line(path: Path, line: Line) -> None:
    """Write a line, and wait until it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        stream.truncate(stream.read().rfind(b"\n") + 1)
        stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def is_done(run: Run, recorded: dict[str, Line]) -> bool:
    """Whether all that is wanted of a run is recorded."""
    line = recorded.get(run.key)
    return line is not None and (line.get("test") is not None or not run.wants_test)
