"""JSON Lines files, and the results file among them: one line per finished run; the last line for a key counts.

A process that is killed while it appends leaves a partial last line. Readers skip it, and the next append removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bench.tables.experiments import FOLDER, Run
from easyfirst.errors import EasyFirstError

RESULTS = FOLDER.parent / "results" / "tables.jsonl"

Line = dict[str, Any]

REQUIRED = ("key", "family", "cpu_seconds", "data", "dev", "epochs", "best_epoch")
"""The keys of a result that the runner reads."""


class DamagedError(EasyFirstError):
    """A file whose content is not valid."""


@dataclass(frozen=True, slots=True)
class Results:
    """A results file, which need not exist."""

    path: Path = RESULTS

    def read(self) -> dict[str, Line]:
        """Return the recorded results by the key of the run."""
        lines = read_lines(self.path)
        for number, line in enumerate(lines, 1):
            if missing := [name for name in REQUIRED if name not in line]:
                raise DamagedError(
                    f"{self.path}, line {number}: not a result, {missing[0]} is missing; give another --results"
                )
        return {line["key"]: line for line in lines}

    def append(self, line: Line) -> None:
        append_line(self.path, line)

    def check_writable(self) -> None:
        """Raise :class:`OSError` if nothing can be appended."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab"):
            pass


def read_lines(path: Path) -> list[Line]:
    """Return all complete lines; none if the file does not exist."""
    if not path.exists():
        return []
    lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
    return [_parsed(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def _parsed(line: bytes, where: str) -> Line:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise DamagedError(f"{where}: not JSON ({error}); remove the line, or give another --results") from error
    if not isinstance(found, dict):
        raise DamagedError(f"{where}: not a JSON object; remove the line, or give another --results")
    return cast(Line, found)


def append_line(path: Path, line: Line) -> None:
    """Append a line and wait until it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        stream.truncate(stream.read().rfind(b"\n") + 1)
        stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def is_done(run: Run, recorded: dict[str, Line]) -> bool:
    """Return whether all required scores of a run are recorded."""
    line = recorded.get(run.key)
    return line is not None and (line.get("test") is not None or not run.wants_test)
