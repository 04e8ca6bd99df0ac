"""Processes that are killed by SIGKILL at a file event: before a file is opened, synced, renamed, removed and so on."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

EVENTS = frozenset(
    ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
)


def run_killed(action: Callable[[], object], watched: Path, at: int | None = None) -> int | None:
    """Run an action in a process of its own that kills itself at the file event with this number. Return the number of
    events if there were fewer, so that the action ended. Files are opened in the directory ``watched``.

    Before a file is synced, there are two events: in the first, half of its contents are lost.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside other threads, which are idle here
        child = os.fork()
    if not child:
        os.close(reading)
        _run_and_exit(action, str(watched), at, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return None
    assert os.WIFEXITED(status), status
    assert os.WEXITSTATUS(status) == 0, said.decode()
    return int(said)


def kills(action: Callable[[], object], watched: Path, prepare: Callable[[], object], step: int = 1) -> Iterator[int]:
    """Run an action and kill it at each event, or at every ``step``-th. Yield the number of the event each time."""
    number = 0
    while True:
        prepare()
        if run_killed(action, watched, number) is not None:
            return
        yield number
        number += step


def _run_and_exit(action: Callable[[], object], watched: str, at: int | None, pipe: int) -> NoReturn:
    n_events = 0
    sync = os.fsync

    def count(descriptor: int | None = None) -> None:
        nonlocal n_events
        if n_events == at:
            if descriptor is not None and not os.path.isdir(descriptor):  # noqa: PTH112 (a descriptor)
                os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        n_events += 1

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS and (event != "open" or str(arguments[0]).startswith(watched)):
            count()

    def counted_sync(descriptor: int) -> None:
        count(descriptor)
        count()
        sync(descriptor)

    code = 1
    try:
        os.fsync = counted_sync
        sys.addaudithook(hook)
        action()
        os.write(pipe, str(n_events).encode())
        code = 0
    except BaseException:
        os.write(pipe, traceback.format_exc().encode())
    finally:
        os._exit(code)
