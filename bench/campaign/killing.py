"""The part ``kills``: commands that write files are killed by SIGKILL, at each file event and at random moments.

After each kill, what was there must be the old version or the new one, and the same command must finish the work:
nothing lost, nothing doubled, no leftovers. The events are those of tests/kills.py: a file is opened, renamed, removed,
and so on. Before a file is synced, half of its contents are lost too.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.campaign.record import Record
from bench.campaign.writers import Writer, writers
from tests.kills import run_killed

AT_EVENT, AT_MOMENT, NOT_KILLED = "kills at a file event", "kills at a random moment", "ended before the kill"


def run(record: Record, seconds: float) -> None:
    """Kill all commands in turns."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="easyfirst-kills-") as folder:
        commands = writers(Path(folder))
        turns = [kill_again_and_again(record, writer, record.chance) for writer in commands]
        while time.monotonic() < end:
            for turn in turns:
                next(turn)
                if time.monotonic() > end:
                    break


def kill_again_and_again(record: Record, writer: Writer, chance: random.Random) -> Iterator[None]:
    """Kill a command at each of its events, in any order, and at random moments in between."""
    writer.learn()
    writer.prepare()
    n_events = run_killed(writer.succeed, writer.place)
    assert n_events is not None
    events = list(range(n_events))
    chance.shuffle(events)
    done = 0
    while True:
        if events:
            at = events.pop()
            writer.prepare()
            if run_killed(writer.succeed, writer.place, at) is None:
                check(record, writer, AT_EVENT, f"event {at}")
            else:
                record.add(NOT_KILLED)
            done += 1
            record.facts[f"{writer.name}: file events"] = f"killed at {done} of {n_events}"
            yield
        writer.prepare()
        begin = time.monotonic()
        writer.succeed()
        moment = chance.uniform(0, time.monotonic() - begin)
        writer.prepare()
        if kill_later(writer.succeed, moment):
            check(record, writer, AT_MOMENT, f"{moment:.4f} seconds")
        else:
            record.add(NOT_KILLED)
        yield


def check(record: Record, writer: Writer, kind: str, where: str) -> None:
    """Check what a killed command has left behind, and that it can be repeated."""
    problem = writer.problem() or writer.problem_of_end()
    if problem is not None:
        record.fail(f"{writer.name}, killed at {where}: {problem}")
    record.add(f"{writer.name}: kills")
    record.add(kind)
    record.add("kills")


def kill_later(action: Callable[[], object], seconds: float) -> bool:
    """Run an action in a process of its own, and kill it after some time. Return whether it was still running."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside other threads, which are idle here
        child = os.fork()
    if not child:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
