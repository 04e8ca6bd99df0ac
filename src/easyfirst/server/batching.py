"""Batches of requests: a thread takes all requests that have arrived and processes them in one call.

While a batch is being processed, the next one gathers. A request that finds the thread idle waits a few milliseconds
for others. The number of waiting requests is bounded.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from easyfirst.server.limits import RefusedError

PAUSE = 0.003  # the seconds without another request after which a batch is closed
PATIENCE = 0.03  # the most seconds that the first request of a batch waits for others
BATCH_WEIGHT = 8_192  # the number of words, roughly, at which a batch is closed

Work = TypeVar("Work")
Result = TypeVar("Result")


@dataclass(eq=False, slots=True)
class _Job(Generic[Work, Result]):
    work: Work
    weight: int
    answer: asyncio.Future[Result]


class Batcher(Generic[Work, Result]):
    """Processes works in batches, by a function that returns a result or an error for each work of a batch.

    The function runs in a thread of its own, everything else in that of one event loop.
    """

    def __init__(
        self, do: Callable[[Sequence[Work]], Sequence[Result | Exception]], *, max_waiting: int, timeout: float
    ) -> None:
        self._do, self._max_waiting, self._timeout = do, max_waiting, timeout
        self._queue: SimpleQueue[_Job[Work, Result] | None] = SimpleQueue()  # None ends the thread
        self._thread: threading.Thread | None = None
        self.n_waiting = 0  # the works that were accepted and not answered yet

    def start(self) -> None:
        """Start to process works, until :meth:`close`."""
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, args=(loop,), name="easyfirst-batches", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Finish the works that were accepted, and end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(thread.join)

    async def submit(self, work: Work, *, weight: int) -> Result:
        """Return the result of a work of about ``weight`` words.

        Raises :class:`RefusedError` at once if too many works are waiting, and when it takes too long; a work that has
        not been started by then is dropped.
        """
        if self._thread is None:
            raise RefusedError("the server is shutting down", 503)
        if self.n_waiting >= self._max_waiting:
            raise RefusedError(f"{self.n_waiting} requests are waiting already; try again in a moment", 503)
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.n_waiting += 1
        self._queue.put(_Job(work, weight, answer))
        try:
            return await asyncio.wait_for(answer, self._timeout)
        except asyncio.TimeoutError:
            limit = f"there was no answer within {self._timeout:g} seconds"
            raise RefusedError(f"{limit}; send less at a time, or try again later", 504) from None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Process batches until the queue ends."""
        is_last = False
        while not is_last:
            batch, is_last = self._gather()
            waiting = [job for job in batch if not job.answer.cancelled()]
            results = self._results([job.work for job in waiting])
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(self._deliver, waiting, results, len(batch))

    def _gather(self) -> tuple[list[_Job[Work, Result]], bool]:
        """Return the next batch, and whether it is the last."""
        job = self._queue.get()
        end = time.monotonic() + PATIENCE
        batch: list[_Job[Work, Result]] = []
        weight = 0
        while job is not None:
            batch.append(job)
            weight += job.weight
            if weight >= BATCH_WEIGHT:
                return batch, False
            try:
                job = self._queue.get(timeout=max(min(end - time.monotonic(), PAUSE), 0))
            except Empty:
                return batch, False
        return batch, True

    def _results(self, works: list[Work]) -> Sequence[Result | Exception]:
        """Process a batch. If it fails, process each work alone, so that only the one at fault fails."""
        try:
            return self._do(works) if works else []
        except Exception as error:
            if len(works) == 1:
                return [error]
            return [result for work in works for result in self._results([work])]

    def _deliver(self, jobs: Sequence[_Job[Work, Result]], results: Sequence[Result | Exception], n_taken: int) -> None:
        self.n_waiting -= n_taken
        for job, result in zip(jobs, results, strict=True):
            if job.answer.cancelled():
                continue
            if isinstance(result, Exception):
                job.answer.set_exception(result)
            else:
                job.answer.set_result(result)
