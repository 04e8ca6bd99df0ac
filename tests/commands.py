"""The command ``easyfirst``, in this process and as a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO
from unittest.mock import patch

from easyfirst import replacing
from easyfirst.cli import main
from tests.patience import PATIENCE

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def unmeasured() -> dict[str, str]:
    """Return the environment of a process whose coverage is not measured: a signal can deadlock the measurement, which
    holds a lock, and its record needs room on the disk."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def run_process(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command as a user does. It must not end in a traceback."""
    command = [sys.executable, "-m", "easyfirst", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=PATIENCE, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def run_here(
    *arguments: str | Path, stdin: bytes | None = b"", stderr: TextIO | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in this process, which spares the imports, and restore the environment and the streams.

    An exception that would end in a traceback fails the test. None as standard input is one that is closed.
    """
    replacing._cleaned.clear()  # as in a new process
    command = ["easyfirst", *map(str, arguments)]
    given = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    output, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    columns = os.environ.get("COLUMNS", "80")  # as without a terminal
    with (
        patch.dict(os.environ, COLUMNS=columns),
        patch.multiple(sys, argv=command, stdin=given, stdout=output, stderr=stderr or errors),
    ):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    contents: list[bytes] = []
    for stream in (output, errors):
        stream.flush()
        contents.append(stream.detach().getvalue())  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(command, code, *contents)
