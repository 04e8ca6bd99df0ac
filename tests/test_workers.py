"""The threads of one call: order, laziness, errors, and that nothing of them stays."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, get_ident
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.workers import PARTS, Workers
from tests.patience import PATIENCE, wait_until

MANY = [1, 2, 3, 8, 9, 17]


def alive() -> list[str]:
    """Return the names of all worker threads of this process."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("easyfirst")]


def run(code: str) -> list[str]:
    """Run a program and return its output lines. It must end by itself, and without a traceback."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.split("\n")[:-1]


@given(st.lists(st.lists(st.integers(), max_size=12), max_size=12), st.integers(1, 20))
def test_results_are_in_order(chunks: list[list[int]], n_threads: int) -> None:
    with Workers(n_threads) as workers:
        doubled = workers.ahead(chunks, lambda chunk: workers.start(lambda part: 2 * part, chunk))
        negated = workers.ahead(doubled, lambda chunk: workers.start(lambda part: -part, chunk))
        assert list(negated) == [[-2 * part for part in chunk] for chunk in chunks]
    assert not alive()


@pytest.mark.parametrize("n_threads", MANY)
def test_it_reads_ahead_by_an_exact_number_of_chunks(n_threads: int) -> None:
    read: list[int] = []
    n_ahead = 0 if n_threads == 1 else (n_threads + PARTS - 1) // PARTS
    with Workers(n_threads) as workers:
        chunks = (number for number in range(50) if not read.append(number))
        results = workers.ahead(chunks, lambda chunk: workers.start(abs, [chunk]))
        assert read == []
        for number, result in enumerate(results):
            assert result == [number]
            assert len(read) == min(50, number + 1 + n_ahead)


def test_without_threads_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("easyfirst.workers.HAS_THREADS", False)  # as in a browser
    with Workers(8) as workers:
        assert workers.start(lambda _: get_ident(), range(20))() == [get_ident()] * 20
        assert workers.n_ahead == 0


def test_a_single_thread_does_the_work_when_it_is_due() -> None:
    worked: list[int] = []
    with Workers(1) as workers:
        wait = workers.start(worked.append, [1, 2])
        assert worked == []
        wait()
        assert worked == [1, 2]
        assert workers.start(lambda _: get_ident(), [0])() == [get_ident()]
        assert not alive()


@pytest.mark.parametrize("n_threads", [2, 5])
def test_as_many_parts_at_once_as_there_are_threads(n_threads: int) -> None:
    meeting = Barrier(n_threads, timeout=PATIENCE)

    def meet(_: int) -> int:
        meeting.wait()
        return get_ident()

    with Workers(n_threads) as workers:
        found = workers.start(meet, range(3 * n_threads))()
        assert len(set(found)) == n_threads == len(alive())
        assert get_ident() not in found


def test_the_stream_is_only_used_in_the_thread_of_the_caller() -> None:
    used: set[int] = set()

    def chunks() -> Iterator[range]:
        for _ in range(20):
            used.add(get_ident())
            yield range(5)

    with Workers(3) as workers:

        def start(chunk: range) -> Callable[[], list[int]]:
            used.add(get_ident())
            return workers.start(abs, chunk)

        assert len(list(workers.ahead(chunks(), start))) == 20
    assert used == {get_ident()}


class TestErrors:
    @pytest.mark.parametrize("n_threads", MANY)
    @pytest.mark.parametrize("n_before", [0, 1, 7])
    def test_in_the_stream(self, n_threads: int, n_before: int) -> None:
        def chunks() -> Iterator[list[int]]:
            yield from ([number] for number in range(n_before))
            raise LookupError("lost")

        found: list[list[int]] = []
        with Workers(n_threads) as workers, pytest.raises(LookupError, match="lost"):
            found.extend(workers.ahead(chunks(), lambda chunk: workers.start(abs, chunk)))
        assert found == [[number] for number in range(n_before)]

    @pytest.mark.parametrize("n_threads", MANY)
    def test_in_starting_a_chunk(self, n_threads: int) -> None:
        with Workers(n_threads) as workers:

            def start(chunk: int) -> Callable[[], list[float]]:
                return workers.start(abs, [1 / (3 - chunk)])

            results = workers.ahead(range(9), start)
            assert [len(next(results)) for _ in range(3)] == [1, 1, 1]
            with pytest.raises(ZeroDivisionError):
                next(results)

    @pytest.mark.parametrize("n_threads", MANY)
    def test_in_a_part(self, n_threads: int) -> None:
        with Workers(n_threads) as workers:
            chunks = ([number, number] for number in range(9))
            results = workers.ahead(chunks, lambda chunk: workers.start(lambda part: 1 / (3 - part), chunk))
            assert [len(next(results)) for _ in range(3)] == [2, 2, 2]
            with pytest.raises(ZeroDivisionError):
                next(results)

    def test_the_first_part_that_fails_counts_even_if_a_later_one_fails_sooner(self) -> None:
        has_failed = Event()

        def fail(part: int) -> None:
            if part == 1:
                assert has_failed.wait(PATIENCE)
            elif part == 2:
                has_failed.set()
            if part:
                raise ValueError(part)

        with Workers(2) as workers, pytest.raises(ValueError, match="1"):
            workers.start(fail, range(3))()

    def test_an_exit_in_a_part_is_not_lost(self) -> None:
        with Workers(2) as workers, pytest.raises(SystemExit, match="7"):
            workers.start(sys.exit, [7])()

    def test_an_interrupt_in_the_stream_does_not_wait_for_results(self) -> None:
        def chunks() -> Iterator[list[int]]:
            yield [1]
            raise KeyboardInterrupt

        with Workers(2) as workers, pytest.raises(KeyboardInterrupt):
            next(workers.ahead(chunks(), lambda chunk: workers.start(abs, chunk)))
        assert not alive()


class TestTheEnd:
    def test_parts_that_wait_are_dropped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        begun: list[int] = []
        both_began, gate = Barrier(3, timeout=PATIENCE), Event()

        def work(part: int) -> None:
            begun.append(part)
            both_began.wait()
            assert gate.wait(PATIENCE)

        shutdown = ThreadPoolExecutor.shutdown

        def open_gate(pool: ThreadPoolExecutor, **options: Any) -> None:
            gate.set()
            shutdown(pool, **options)

        monkeypatch.setattr(ThreadPoolExecutor, "shutdown", open_gate)
        with Workers(2) as workers:
            workers.start(work, range(10))
            both_began.wait()
        assert sorted(begun) == [0, 1]
        assert not alive()

    def test_the_garbage_collector_may_close_a_stream_in_its_own_thread(self) -> None:
        streams: list[Iterator[list[None]]] = []
        begun: list[int] = []
        go, is_closed = Event(), Event()

        def close(part: int) -> None:
            begun.append(part)
            if part == 1:
                assert go.wait(PATIENCE)
                streams.pop().close()  # type: ignore[attr-defined]
                is_closed.set()
            elif part > 1:
                assert is_closed.wait(PATIENCE)

        def stream() -> Iterator[list[None]]:
            with Workers(2) as workers:
                yield from workers.ahead([[0], range(1, 50)], lambda chunk: workers.start(close, chunk))

        streams.append(stream())
        next(streams[0])
        go.set()
        assert is_closed.wait(PATIENCE)
        wait_until(lambda: not alive())
        assert set(begun) <= {0, 1, 2}

    def test_an_interpreter_that_exits_does_not_wait_for_waiting_parts(self) -> None:
        code = r"""
import concurrent.futures.thread as pools, os, threading, time
from easyfirst.workers import Workers
gate, begun = threading.Event(), threading.Semaphore(0)

def work(part):
    if part:
        os.write(1, b"begun\n")
        begun.release()
        gate.wait()

def stream():
    with Workers(2) as workers:
        yield from workers.ahead([[0], range(1, 100)], lambda chunk: workers.start(work, chunk))

def open_gate():
    while not pools._shutdown:
        time.sleep(0.001)
    gate.set()

threading.Thread(target=open_gate, daemon=True).start()
results = stream()
next(results)
begun.acquire(), begun.acquire()
"""
        assert run(code) == ["begun", "begun"]

    @pytest.mark.skipif(sys.platform == "win32", reason="no such signals for a single thread on Windows")
    def test_an_interrupt_while_it_waits(self) -> None:
        code = """
import signal, threading
from easyfirst.workers import Workers
signal.signal(signal.SIGINT, signal.default_int_handler)
has_started, sent = threading.Event(), threading.Event()

def work(part):
    if part == 0:
        has_started.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        sent.set()
    sent.wait()

try:
    with Workers(2) as workers:
        wait = workers.start(work, range(100))
        has_started.set()
        wait()
except KeyboardInterrupt:
    print("interrupted", threading.active_count())
"""
        assert run(code) == ["interrupted 1"]

    @pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
    def test_a_fork_afterwards(self) -> None:
        code = """
import os
from easyfirst.workers import Workers

def work():
    with Workers(2) as workers:
        return sum(workers.start(abs, range(100))())

work()
if (child := os.fork()) == 0:
    print(work(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(work())
"""
        assert run(code) == ["4950", "4950"]
