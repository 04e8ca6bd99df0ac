"""The order in which requests are parsed: small ones in batches, large ones in slices between them.

A thread does the work. Small requests that have arrived are processed in one call, up to a slice of work. A large
request is processed in slices, one after each batch, so that a small request waits for one slice at most before its
batch begins. Large requests come one after the other, those of different clients in turns. A small request that finds
the thread idle waits a few milliseconds for others. The number of waiting requests is bounded.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeAlias, TypeVar

from easyfirst.server.limits import RefusedError
from easyfirst.text.steps import Steps

PAUSE = 0.003  # the seconds without another request after which a batch is closed
PATIENCE = 0.03  # the most seconds that the first request of a batch waits for others
SLICE = 1_024  # the number of words, roughly, in a batch of small requests and in a slice of a large one

Work = TypeVar("Work")
Result = TypeVar("Result")

Outcome: TypeAlias = Result | Exception | Steps[Result]
"""What comes of a work: its result, an error, or the steps that are still to be taken."""


@dataclass(eq=False, slots=True)
class _Job(Generic[Work, Result]):
    work: Work
    weight: int
    client: str
    answer: asyncio.Future[Result]
    steps: Steps[Result] | None = None  # of a large work that has begun

    @property
    def is_large(self) -> bool:
        return self.weight > SLICE


@dataclass(frozen=True, slots=True)
class _Done(Generic[Work, Result]):
    job: _Job[Work, Result]
    outcome: Result | Exception | None  # None: nobody waits for it any more


class _Lanes(Generic[Work, Result]):
    """The large works, in a lane for each client. The first works of the lanes take turns."""

    def __init__(self) -> None:
        self._lanes: dict[str, deque[_Job[Work, Result]]] = {}  # in the order of their turns

    def __bool__(self) -> bool:
        return bool(self._lanes)

    @property
    def first(self) -> _Job[Work, Result]:
        return next(iter(self._lanes.values()))[0]

    def append(self, job: _Job[Work, Result]) -> None:
        self._lanes.setdefault(job.client, deque()).append(job)

    def remove_first(self) -> None:
        """Remove the first work; it is the turn of the next client."""
        client = next(iter(self._lanes))
        lane = self._lanes.pop(client)
        lane.popleft()
        if lane:
            self._lanes[client] = lane


class Batcher(Generic[Work, Result]):
    """Processes small works in batches and large ones in slices.

    ``do`` takes a batch of small works and returns what comes of each; ``begin`` returns the steps of a large work.
    Both run in a thread of their own, everything else in that of one event loop.
    """

    def __init__(
        self,
        do: Callable[[Sequence[Work]], Sequence[Outcome[Result]]],
        begin: Callable[[Work], Steps[Result]],
        *,
        max_waiting: int,
        timeout: float,
    ) -> None:
        self._do, self._begin, self._max_waiting, self._timeout = do, begin, max_waiting, timeout
        self._queue: SimpleQueue[_Job[Work, Result] | None] = SimpleQueue()  # None ends the thread
        self._small: deque[_Job[Work, Result]] = deque()
        self._large = _Lanes[Work, Result]()
        self._thread: threading.Thread | None = None
        self._n_large: Counter[str] = Counter()  # the large works among those waiting, by client
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

    async def submit(self, work: Work, *, weight: int, client: str = "") -> Result:
        """Return the result of a work of about ``weight`` words.

        Raises :class:`RefusedError` at once if too many works are waiting, and when it takes too long; a work that has
        not been finished by then, or when the caller is cancelled, is dropped. Large works may fill half of the places,
        and those of one client a quarter.
        """
        if self._thread is None:
            raise RefusedError("the server is shutting down", 503)
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        job = _Job(work, weight, client, answer)
        if self.n_waiting >= self._max_waiting:
            raise RefusedError(f"{self.n_waiting} requests are waiting already; try again in a moment", 503)
        if job.is_large:
            for n, room in (
                (self._n_large.total(), self._max_waiting // 2),
                (self._n_large[client], self._max_waiting // 4),
            ):
                if n >= max(1, room):
                    raise RefusedError(f"{n} large requests are waiting already; try again in a moment", 503)
        self._count(job, 1)
        self._queue.put(job)
        try:
            return await asyncio.wait_for(answer, self._timeout)
        except asyncio.TimeoutError:
            limit = f"there was no answer within {self._timeout:g} seconds"
            raise RefusedError(f"{limit}; send less at a time, or try again later", 504) from None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Process works until the queue ends."""
        is_open = True
        while is_open or self._small or self._large:
            is_open = self._collect() if is_open else False
            for turn in (self._do_batch, self._do_slice):
                done = turn()
                if done:
                    with suppress(RuntimeError):  # the loop has been closed
                        loop.call_soon_threadsafe(self._deliver, done)

    def _collect(self) -> bool:
        """Take the works that have arrived; if there are none at all, wait for some. Return whether more may come."""
        end = None if self._small or self._large else time.monotonic() + PATIENCE
        try:
            job = self._queue.get(block=end is not None)
            if end is not None:
                end = time.monotonic() + PATIENCE
            while job is not None:
                if job.is_large:
                    self._large.append(job)
                else:
                    self._small.append(job)
                is_full = bool(self._large) or sum(each.weight for each in self._small) >= SLICE
                patience = 0.0 if end is None or is_full else max(min(end - time.monotonic(), PAUSE), 0.0)
                job = self._queue.get(block=patience > 0, timeout=patience or None)
        except Empty:
            return True
        return False

    def _do_batch(self) -> list[_Done[Work, Result]]:
        """Process the next small works, up to a slice. One that turns out to be large is continued in slices."""
        batch: list[_Job[Work, Result]] = []
        weight = 0
        while self._small and (not batch or weight + self._small[0].weight <= SLICE):
            batch.append(self._small.popleft())
            weight += batch[-1].weight
        done: list[_Done[Work, Result]] = []
        wanted: list[_Job[Work, Result]] = []
        for job in batch:
            if job.answer.cancelled():
                done.append(_Done(job, None))
            else:
                wanted.append(job)
        for job, outcome in zip(wanted, self._outcomes([job.work for job in wanted]), strict=True):
            if isinstance(outcome, Generator):
                job.steps = outcome
                self._large.append(job)
            else:
                done.append(_Done(job, outcome))
        return done

    def _do_slice(self) -> list[_Done[Work, Result]]:
        """Take the next step of the first large work."""
        if not self._large:
            return []
        job = self._large.first
        try:
            if not job.answer.cancelled():
                job.steps = job.steps or self._begin(job.work)
                next(job.steps)
                return []
            outcome = None
        except StopIteration as end:
            outcome = end.value
        except Exception as error:
            outcome = error
        self._large.remove_first()
        job.steps = None
        return [_Done(job, outcome)]

    def _outcomes(self, works: list[Work]) -> Sequence[Outcome[Result]]:
        """Process a batch. If it fails, process each work alone, so that only the one at fault fails."""
        try:
            return self._do(works) if works else []
        except Exception as error:
            if len(works) == 1:
                return [error]
            return [outcome for work in works for outcome in self._outcomes([work])]

    def _deliver(self, done: Sequence[_Done[Work, Result]]) -> None:
        for each in done:
            self._count(each.job, -1)
            if each.job.answer.cancelled():
                continue
            if isinstance(each.outcome, Exception):
                each.job.answer.set_exception(each.outcome)
            elif each.outcome is not None:
                each.job.answer.set_result(each.outcome)

    def _count(self, job: _Job[Work, Result], n: int) -> None:
        self.n_waiting += n
        if job.is_large:
            self._n_large[job.client] += n
            if not self._n_large[job.client]:
                del self._n_large[job.client]
