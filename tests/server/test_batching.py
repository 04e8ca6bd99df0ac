"""Requests that arrive together are one batch, whatever else happens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from easyfirst.server.batching import BATCH_WEIGHT, Batcher
from easyfirst.server.limits import RefusedError
from tests.patience import PATIENCE


class Worker:
    """A function that doubles numbers and fails on 666. It waits before each batch until the gate is open."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.has_begun = threading.Event()

    def __call__(self, works: Sequence[int]) -> list[int | Exception]:
        self.has_begun.set()
        assert self.gate.wait(PATIENCE)
        self.batches.append(list(works))
        if 666 in works:
            raise ValueError("666")
        return [ValueError("negative") if work < 0 else 2 * work for work in works]


def batcher_of(worker: Worker, *, max_waiting: int = 100, timeout: float = PATIENCE) -> Batcher[int, int]:
    return Batcher(worker, max_waiting=max_waiting, timeout=timeout)


async def occupied(worker: Worker, batcher: Batcher[int, int]) -> asyncio.Task[int]:
    """Return a task that keeps the worker busy until the gate opens."""
    worker.gate.clear()
    batcher.start()
    task = asyncio.create_task(batcher.submit(0, weight=1))
    assert await asyncio.to_thread(worker.has_begun.wait, PATIENCE)
    return task


def test_requests_during_a_batch_form_the_next_one() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        tasks = [asyncio.create_task(batcher.submit(n, weight=1)) for n in range(1, 21)]
        await asyncio.sleep(0)
        assert batcher.n_waiting == 21
        worker.gate.set()
        assert await asyncio.gather(first, *tasks) == [2 * n for n in range(21)]
        assert worker.batches == [[0], list(range(1, 21))]
        assert batcher.n_waiting == 0
        await batcher.close()

    asyncio.run(main())


def test_a_batch_has_a_limited_weight() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        third = BATCH_WEIGHT // 3 + 1
        tasks = [asyncio.create_task(batcher.submit(n, weight=third)) for n in range(1, 8)]
        await asyncio.sleep(0)
        worker.gate.set()
        await asyncio.gather(first, *tasks)
        assert worker.batches == [[0], [1, 2, 3], [4, 5, 6], [7]]
        await batcher.close()

    asyncio.run(main())


def test_a_failure_affects_one_request_only() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        tasks = [asyncio.create_task(batcher.submit(n, weight=1)) for n in (12, 666, -1, 14)]
        await asyncio.sleep(0)
        worker.gate.set()
        results = await asyncio.gather(first, *tasks, return_exceptions=True)
        assert [str(result) for result in results] == ["0", "24", "666", "negative", "28"]
        assert await batcher.submit(4, weight=1) == 8
        await batcher.close()

    asyncio.run(main())


def test_one_request_too_many_is_refused_at_once() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker, max_waiting=3)
        first = await occupied(worker, batcher)
        tasks = [asyncio.create_task(batcher.submit(n, weight=1)) for n in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="3 requests are waiting already") as refused:
            await batcher.submit(3, weight=1)
        assert refused.value.status == 503
        worker.gate.set()
        assert await asyncio.gather(first, *tasks) == [0, 2, 4]
        assert await batcher.submit(3, weight=1) == 6
        await batcher.close()

    asyncio.run(main())


def test_a_request_that_times_out_is_never_begun() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        batcher._timeout = 0.05  # from now on: the first has begun, however slow the machine is
        second = asyncio.create_task(batcher.submit(1, weight=1))
        with pytest.raises(RefusedError, match=r"no answer within 0\.05 seconds") as refused:
            await second
        assert refused.value.status == 504
        assert batcher.n_waiting == 2  # it still takes room
        worker.gate.set()
        assert await first == 0
        await batcher.close()
        await asyncio.sleep(0)
        assert worker.batches == [[0]]
        assert batcher.n_waiting == 0

    asyncio.run(main())


def test_closing_waits_for_accepted_requests() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        second = asyncio.create_task(batcher.submit(1, weight=1))
        await asyncio.sleep(0)
        end = asyncio.create_task(batcher.close())
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="shutting down") as refused:
            await batcher.submit(2, weight=1)
        assert refused.value.status == 503
        worker.gate.set()
        await end
        assert await asyncio.gather(first, second) == [0, 2]
        await batcher.close()  # nothing is left to do

    asyncio.run(main())
