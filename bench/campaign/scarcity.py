"""The part ``disk``: the commands that write files find a full disk, a read-only one, or too little memory.

Each must end with success, or with an error message and exit code 2. What was there must be the old version or the new
one, and the same command must finish the work when there is room again. A small tmpfs is mounted if that is allowed.
Otherwise, only the sizes of files are limited.
"""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from bench.campaign.record import Record
from bench.campaign.writers import Writer, writers

MEGABYTE = 1 << 20
DISK = 8 * MEGABYTE
BALLAST = "ballast"
Ended = tuple[int, str]
"""An exit code, and what was printed on stderr."""


def run(record: Record, seconds: float) -> None:
    """Let all commands fail in turns."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="easyfirst-disk-") as folder:
        commands, disk = writers(Path(folder)), Path(folder) / "out"
        disk.mkdir(exist_ok=True)
        is_mounted = mount(disk)
        if not is_mounted:
            print("a tmpfs cannot be mounted here: only the sizes of files are limited")
        try:
            for writer in commands:
                writer.learn()
            sizes = {writer.name: sum(map(len, (writer.expected or {}).values())) for writer in commands}
            chance = record.chance
            while time.monotonic() < end:
                for writer in commands:
                    limit = chance.randrange(0, sizes[writer.name] + 4096)
                    attempt(record, writer, "small files", lambda limit=limit: limit_files(limit))
                    if writer.name != "train":  # PyTorch ends the process itself when it has no memory
                        room = chance.randrange(0, 32 * MEGABYTE)
                        attempt(record, writer, "little memory", lambda room=room: limit_memory(room))
                    if is_mounted:
                        fill_disk(record, writer, disk, chance.randrange(0, 2 * sizes[writer.name] + 16_384))
                        make_read_only(record, writer, disk)
                    if time.monotonic() > end:
                        break
        finally:
            if is_mounted:
                subprocess.run(["umount", str(disk)], check=False)


def mount(disk: Path) -> bool:
    """Mount a small tmpfs; return whether that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def limit_files(n_bytes: int) -> None:
    """Let files be no larger than this: writing more fails with EFBIG."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))


def limit_memory(room: int) -> None:
    """Let this process have no more than this in addition to what it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + room
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def fill_disk(record: Record, writer: Writer, disk: Path, left: int) -> None:
    """Run a command on a disk that has only so many bytes left."""

    def fill() -> None:
        facts = os.statvfs(disk)
        ballast = facts.f_bavail * facts.f_frsize - left
        if ballast > 0:
            descriptor = os.open(disk / BALLAST, os.O_WRONLY | os.O_CREAT)
            os.posix_fallocate(descriptor, 0, ballast)
            os.close(descriptor)

    attempt(record, writer, "full disk", fill, lambda: (disk / BALLAST).unlink(missing_ok=True))


def make_read_only(record: Record, writer: Writer, disk: Path) -> None:
    """Run a command on a disk that cannot be written."""

    def remount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)

    attempt(record, writer, "read-only", lambda: remount("ro"), lambda: remount("rw"))


def attempt(
    record: Record,
    writer: Writer,
    what: str,
    worsen: Callable[[], object],
    restore: Callable[[], object] = lambda: None,
) -> None:
    """Run a command in a process of its own in which something is scarce, and check how it ends."""
    writer.prepare()
    try:
        code, said = run_alone(writer, worsen)
    finally:
        restore()
    lines = said.strip().splitlines()
    problem: str | None = None
    if code not in (0, 2) and not (writer.name == "corpus" and code == 1):
        problem = f"ended with {code}: {said[-400:]}"
    elif code == 2 and not (lines and lines[-1].startswith("error: ")):
        problem = f"no error message: {said[-400:]!r}"
    problem = problem or writer.problem() or writer.problem_of_end()
    if problem is not None:
        record.fail(f"{writer.name}, {what}: {problem}")
    record.add(f"{what}: {'succeeded' if code == 0 else 'refused'}")
    record.add("attempts")


def run_alone(writer: Writer, worsen: Callable[[], object]) -> Ended:
    """Run a command in a forked process. Return its exit code, or minus a signal, and what it printed on stderr."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside other threads, which are idle here
        child = os.fork()
    if not child:
        os.close(reading)
        try:
            worsen()
            done = writer.run()
            answer = (done.returncode, done.stderr.decode(errors="replace"))
        except BaseException:
            answer = (1, traceback.format_exc())
        os.write(writing, pickle.dumps(answer)[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return -os.WTERMSIG(status), "a signal ended it"
    found: Ended = pickle.loads(said)
    return found
