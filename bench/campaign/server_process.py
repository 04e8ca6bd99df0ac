"""The server under test: a process that is started, measured, stopped and killed, always on the same port."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

STARTING = 120.0  # the seconds that a server may take to start
STOPPING = 60.0  # the seconds that it may take to end, besides its timeout


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@dataclass
class ServerUnderTest:
    """A server and its lives: it is restarted after each kill."""

    model: str
    timeout: float  # of a request
    port: int = field(default_factory=free_port)
    life: int = 0  # how often it was started
    problems: list[str] = field(default_factory=list[str])
    is_up: asyncio.Event = field(default_factory=asyncio.Event)
    ended: float = 0.0  # when the last signal was sent
    is_graceful: bool = True  # whether that signal lets the server finish its requests
    _process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start the server and wait until it answers."""
        command = ["-m", "easyfirst", "serve", "--model", self.model, "--port", str(self.port), "--no-open"]
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-X", "faulthandler", *command, "--timeout", f"{self.timeout:g}", stdout=pipe, stderr=pipe
        )
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), STARTING)
        if b" at http" not in line:
            raise RuntimeError(f"the server did not start: {(await self._process.communicate())[1].decode()}")
        self.life += 1
        self.is_up.set()

    async def end(self, number: signal.Signals) -> None:
        """Send a signal and wait until the server has ended, which must be without an error unless it was killed."""
        assert self._process is not None
        self.is_up.clear()
        self.ended, self.is_graceful = time.monotonic(), number != signal.SIGKILL
        if self._process.returncode is not None:
            self.problems.append(f"the server had ended by itself with code {self._process.returncode}")
        else:
            self._process.send_signal(number)
        try:
            await asyncio.wait_for(self._process.wait(), self.timeout + STOPPING)
        except asyncio.TimeoutError:
            self.problems.append(f"the server did not end within {self.timeout + STOPPING:g} seconds of {number.name}")
            self._process.send_signal(signal.SIGABRT)  # prints where it is
        output, errors = await self._process.communicate()
        expected = (-signal.SIGKILL, b"") if number == signal.SIGKILL else (0, b"stopped\n")
        if (self._process.returncode, output) != expected:
            self.problems.append(f"after {number.name}: code {self._process.returncode}, output {output!r}")
        if errors:
            self.problems.append(f"printed {errors.decode(errors='replace')[-4000:]!r}")

    def memory(self) -> float:
        """Return the resident memory in megabytes, or 0 if there is no server."""
        try:
            lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
        except (OSError, StopIteration):
            return 0.0

    def n_files(self) -> int:
        """Return the number of open files, connections among them, or 0 if there is no server."""
        try:
            return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208
        except OSError:
            return 0
