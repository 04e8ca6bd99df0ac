"""A process of a system, in the environment of the system, which answers the runner's requests."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.peers.systems import ROOT, System

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerError(Exception):
    """A process of a system has failed."""


def command(system: System, environments: Path, verb: str, *arguments: str) -> list[str]:
    """Return a command line of the system's adapter."""
    module = f"bench.peers.adapters.{system.adapter}"
    return [str(system.python(environments)), "-m", module, verb, *arguments]


def environment(threads: int = 1) -> dict[str, str]:
    """Return the environment variables: the benchmarks can be imported, this checkout of easyfirst cannot."""
    return {**os.environ, **dict.fromkeys(THREADS, str(threads)), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


class Worker:
    """A running process. ``seconds`` has its CPU time once it has ended."""

    def __init__(self, system: System, environments: Path, work: Path, *, threads: int = 1) -> None:
        arguments = ["--model", str(system.model(work)), "--threads", str(threads)]
        arguments += ["--options", json.dumps(dict(system.options))]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the process
        self._process = subprocess.Popen(
            command(system, environments, "serve", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment(threads),
            cwd=ROOT,
            text=True,
        )
        self.name, self.seconds = system.name, 0.0

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._log.seek(0)
            lines = self._log.read().decode(errors="replace").splitlines()
            raise WorkerError("\n".join([f"{self.name} failed at {do}:", *lines[-12:]]))
        return json.loads(line)

    def close(self) -> None:
        """End the process and read its CPU time, with that of its children."""
        if self._process.returncode is None:
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(BrokenPipeError):  # a request that a dead process did not read
                    assert stream is not None
                    stream.close()
            _, status, used = os.wait4(self._process.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = used.ru_utime + used.ru_stime
        self._log.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
