"""Small requests that arrive together are one batch, and large ones are cut into slices between the batches."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence

import pytest

from easyfirst.server.batching import SLICE, Batcher
from easyfirst.server.limits import RefusedError
from tests.patience import PATIENCE


class Worker:
    """A function that doubles numbers and fails on 666. It waits before each batch until the gate is open."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []  # a slice of a large work is a batch of its negative
        self.on_slice: Callable[[], None] | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.has_begun = threading.Event()

    def __call__(self, works: Sequence[int]) -> list[int | Exception | Generator[None, None, int]]:
        self.has_begun.set()
        assert self.gate.wait(PATIENCE)
        self.batches.append(list(works))
        if 666 in works:
            raise ValueError("666")
        return [ValueError("negative") if work < 0 else self.steps(work) if work == 77 else 2 * work for work in works]

    def steps(self, work: int) -> Generator[None, None, int]:
        """Double a number in as many steps as its last digit says."""
        for _ in range(work % 10):
            self.has_begun.set()
            assert self.gate.wait(PATIENCE)
            self.batches.append([-work])
            if self.on_slice is not None:
                self.on_slice()
            yield
        if work == 61:
            raise ValueError("61")
        return 2 * work


def batcher_of(worker: Worker, *, max_waiting: int = 100, timeout: float = PATIENCE) -> Batcher[int, int]:
    return Batcher(worker, worker.steps, max_waiting=max_waiting, timeout=timeout)


LARGE = SLICE + 1


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
        third = SLICE // 3
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


def test_a_large_request_is_processed_between_batches() -> None:
    """Each slice is followed by the small requests that arrived meanwhile."""

    async def main() -> None:
        loop, worker = asyncio.get_running_loop(), Worker()
        batcher = batcher_of(worker)
        answered: list[int] = []
        small: list[asyncio.Task[None]] = []
        arrived = threading.Semaphore(0)

        async def ask(n: int, weight: int) -> None:
            answered.append(await batcher.submit(n, weight=weight))

        def arrive() -> None:
            small.append(asyncio.create_task(ask(len(small) + 1, SLICE)))
            loop.call_soon(arrived.release)  # when it has been submitted

        def on_slice() -> None:
            loop.call_soon_threadsafe(arrive)
            assert arrived.acquire(timeout=PATIENCE)

        worker.on_slice = on_slice
        batcher.start()
        await asyncio.gather(*(ask(n, LARGE) for n in (14, 23)))
        await asyncio.gather(*small)
        order = [[-14], [1], [-14], [2], [-14], [3], [-14], [4], [-23], [5], [-23], [6], [-23], [7]]
        assert worker.batches == order
        assert [n for n in answered if n > 14] == [28, 46]
        assert answered.index(28) in (3, 4)  # with the fourth small one, at the latest
        assert batcher.n_waiting == 0
        await batcher.close()

    asyncio.run(main())


def test_small_requests_are_taken_in_turns_with_slices() -> None:
    """However many are waiting, a large request gets every second turn."""

    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        tasks = [asyncio.create_task(batcher.submit(n, weight=SLICE // 2)) for n in (1, 2, 3, 4, 5)]
        tasks += [asyncio.create_task(batcher.submit(n, weight=LARGE)) for n in (14, 62)]
        await asyncio.sleep(0)
        worker.gate.set()
        assert await asyncio.gather(first, *tasks) == [0, 2, 4, 6, 8, 10, 28, 124]
        assert worker.batches == [[0], [1, 2], [-14], [3, 4], [-14], [5], [-14], [-14], [-62], [-62]]
        await batcher.close()

    asyncio.run(main())


def test_a_request_that_turns_out_to_be_large_is_continued_in_slices() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        tasks = [asyncio.create_task(batcher.submit(n, weight=1)) for n in (1, 77, 2)]
        await asyncio.sleep(0)
        worker.gate.set()
        assert await asyncio.gather(first, *tasks) == [0, 2, 154, 4]
        assert worker.batches == [[0], [1, 77, 2], *[[-77]] * 7]
        await batcher.close()

    asyncio.run(main())


def test_a_large_request_that_fails_or_times_out_makes_room() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker)
        first = await occupied(worker, batcher)
        failing, slow, last = (asyncio.create_task(batcher.submit(n, weight=LARGE)) for n in (61, 19, 32))
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        cancelled = threading.Event()

        def cancel() -> None:
            slow.cancel()
            loop.call_soon(cancelled.set)

        def on_slice() -> None:
            if worker.batches[-1] == [-19]:
                loop.call_soon_threadsafe(cancel)
                assert cancelled.wait(PATIENCE)

        worker.on_slice = on_slice
        worker.gate.set()
        results = await asyncio.gather(first, failing, slow, last, return_exceptions=True)
        assert [type(result) for result in results] == [int, ValueError, asyncio.CancelledError, int]
        assert worker.batches == [[0], [-61], [-19], [-32], [-32]]
        await batcher.close()
        await asyncio.sleep(0)
        assert batcher.n_waiting == 0

    asyncio.run(main())


def test_large_requests_leave_room_for_small_ones() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker, max_waiting=8)
        first = await occupied(worker, batcher)
        tasks = [
            asyncio.create_task(batcher.submit(n, weight=LARGE, client=client))
            for n, client in ((11, "a"), (12, "a"), (11, "b"), (12, "b"))
        ]
        await asyncio.sleep(0)
        for client, n in (("c", 4), ("a", 4)):
            with pytest.raises(RefusedError, match=f"{n} large requests are waiting already") as refused:
                await batcher.submit(13, weight=LARGE, client=client)
            assert refused.value.status == 503
        tasks.append(asyncio.create_task(batcher.submit(1, weight=1)))
        await asyncio.sleep(0)
        worker.gate.set()
        assert await asyncio.gather(first, *tasks) == [0, 22, 24, 22, 24, 2]
        assert await batcher.submit(13, weight=LARGE) == 26
        await batcher.close()

    asyncio.run(main())


def test_large_requests_of_clients_take_turns() -> None:
    async def main() -> None:
        worker = Worker()
        batcher = batcher_of(worker, max_waiting=12)
        first = await occupied(worker, batcher)
        asked = ((12, "a"), (21, "a"), (31, "a"), (41, "b"), (51, "c"))
        tasks = [asyncio.create_task(batcher.submit(n, weight=LARGE, client=client)) for n, client in asked]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="3 large requests are waiting already"):
            await batcher.submit(13, weight=LARGE, client="a")
        worker.gate.set()
        assert await asyncio.gather(first, *tasks) == [0, *(2 * n for n, _ in asked)]
        assert worker.batches == [[0], [-12], [-12], [-41], [-51], [-21], [-31]]
        await batcher.close()

    asyncio.run(main())
