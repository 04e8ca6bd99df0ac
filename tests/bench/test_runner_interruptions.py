"""The runner survives interruptions, kills and damaged files."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path

import pytest

from bench.tables.records import read_lines
from tests.bench.toy_runs import declare, finish, recorded, start, wait_for_epoch


def starts(place: Path) -> list[bool]:
    """Return for each start of the training whether it resumed."""
    [path] = place.glob("runs/*/starts.jsonl")
    return [line["resumed"] for line in read_lines(path)]


@pytest.mark.slow
def test_resumes_after_everything_was_killed(place: Path) -> None:
    declare(place, epochs=100)
    runner = start(place)
    wait_for_epoch(place)
    os.killpg(runner.pid, signal.SIGKILL)
    runner.communicate()
    assert recorded(place) == []
    with (place / "results.jsonl").open("ab") as stream:
        stream.write(b'{"key": "half a li')  # the trace of a kill during a write
    assert "stopped  t.a.en.1" in finish(start(place, "--list"))
    finish(start(place))
    [line] = recorded(place)
    assert (line["epochs"], line["starts"]) == (100, 2)
    assert starts(place) == [False, True]


@pytest.mark.slow
def test_waits_for_a_training_that_outlived_its_runner(place: Path) -> None:
    declare(place, epochs=100)
    runner = start(place)
    wait_for_epoch(place)
    os.killpg(runner.pid, signal.SIGSTOP)
    runner.kill()
    runner.wait()
    assert "running  t.a.en.1" in finish(start(place, "--list"))
    other = start(place)
    os.killpg(runner.pid, signal.SIGCONT)
    finish(other)
    runner.communicate()
    [line] = recorded(place)
    assert line["epochs"] == 100


def test_interrupted_while_it_waits(place: Path) -> None:
    """A runner that waits for a slot stops without starting anything."""
    declare(place, epochs=1)
    (place / "runs").mkdir()
    with (place / "runs" / "slot-0.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        runner = start(place)
        assert runner.stdout is not None
        assert runner.stdout.readline().startswith("waits  t.a.en.1: all training slots are taken")
        runner.send_signal(signal.SIGINT)
        assert "stopped; run the same command to resume" in finish(runner, code=130)
    assert not list(place.glob("runs/*/starts.jsonl"))


def test_interrupting_the_runner_stops_the_training(place: Path) -> None:
    """The training process receives no signal from the terminal."""
    declare(place, epochs=1000)
    runner = start(place)
    wait_for_epoch(place)
    runner.send_signal(signal.SIGINT)
    assert "stopped; run the same command to resume" in finish(runner, code=130)
    assert "stopped  t.a.en.1" in finish(start(place, "--list"))
    assert recorded(place) == []


def test_damaged_files_fail_only_that_run(place: Path) -> None:
    declare(place, epochs=1)
    finish(start(place))
    (place / "results.jsonl").unlink()
    [answer] = place.glob("runs/*/test.json")
    answer.write_text("{}", encoding="utf-8")
    assert "FAILED t.a.en.1: KeyError" in finish(start(place), code=1)
