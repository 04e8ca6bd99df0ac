"""Threads that process the parts of a stream, for one call of the facade.

The caller's thread reads the stream, cuts it and puts the results in order. The cut does not depend on the number of
threads, and a single thread takes the same path without a pool, so the results do not depend on the number either.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

PARTS = 8
"""The number of parts in a full chunk of a stream."""

HAS_THREADS = sys.platform not in ("emscripten", "wasi")
"""Whether Python can start threads. In a browser (Pyodide) it cannot."""

_Chunk = TypeVar("_Chunk")
_Part = TypeVar("_Part")
_Result = TypeVar("_Result")
_Task: TypeAlias = "tuple[Future[Any], Callable[[Any], Any], Any]"


class Workers:
    """The threads of one call, or a single one where Python cannot start any. Leaving the context ends them: running
    parts are finished, waiting parts dropped."""

    def __init__(self, n_threads: int) -> None:
        n_threads = n_threads if HAS_THREADS else 1
        self.n_ahead = 0 if n_threads == 1 else -(-n_threads // PARTS)
        """The number of chunks to read ahead, so that threads have work while results are consumed."""
        self._n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None
        if n_threads > 1:
            from concurrent.futures import ThreadPoolExecutor  # slow to import

            self._pool = ThreadPoolExecutor(n_threads, "easyfirst")
        self._tasks: deque[_Task] = deque()  # those that no thread has taken
        self._n_busy = 0
        self._lock = Lock()  # for starting threads and taking tasks
        self._identifiers: set[int] = set()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._tasks.clear()
        # The garbage collector may close an abandoned stream in one of its own threads, which cannot wait for itself.
        # The threads then end when the collector reaches the pool.
        if self._pool is not None and get_ident() not in self._identifiers:
            self._pool.shutdown()

    def start(self, function: Callable[[_Part], _Result], parts: Sequence[_Part]) -> Callable[[], list[_Result]]:
        """Start to process parts. Return a function that waits and returns the results in order, or raises the error
        of the first part that failed. With a single thread, that function does the work."""
        if self._pool is None:
            return lambda: [function(part) for part in parts]
        from concurrent.futures import Future

        futures: list[Future[_Result]] = [Future() for _ in parts]
        with self._lock:
            self._tasks += ((future, function, part) for future, part in zip(futures, parts, strict=True))
            n_started = min(len(self._tasks), self._n_threads - self._n_busy)
            self._n_busy += n_started
        for _ in range(n_started):
            self._pool.submit(self._work)
        return lambda: [future.result() for future in futures]

    def ahead(self, chunks: Iterable[_Chunk], start: Callable[[_Chunk], Callable[[], _Result]]) -> Iterator[_Result]:
        """Start to process each chunk, ``n_ahead`` chunks before its result is due, and yield the results in order.

        ``chunks`` and ``start`` run in the caller's thread. Their errors are raised after the results of all chunks
        before, as with a single thread.
        """
        started: deque[Callable[[], _Result]] = deque()
        for wait in _starts(chunks, start):
            started.append(wait)
            if len(started) > self.n_ahead:
                yield started.popleft()()
        while started:
            yield started.popleft()()

    def _work(self) -> None:
        """Process one part in a thread of the pool, then submit the next.

        The pool's own queue stays short, because the interpreter waits for all of it when it exits.
        """
        assert self._pool is not None, "only a pool calls this"
        self._identifiers.add(get_ident())
        with self._lock:
            try:
                future, function, part = self._tasks.popleft()
            except IndexError:
                self._n_busy -= 1
                return
        try:
            future.set_result(function(part))
        except BaseException as error:
            future.set_exception(error)
        with suppress(RuntimeError):  # the stream was closed, or the interpreter exits
            self._pool.submit(self._work)


def _starts(
    chunks: Iterable[_Chunk], start: Callable[[_Chunk], Callable[[], _Result]]
) -> Iterator[Callable[[], _Result]]:
    """Yield the function that waits for each chunk. After an error, the last one raises it."""
    try:
        for chunk in chunks:
            yield start(chunk)
    except Exception as error:
        yield partial(_throw, error)


def _throw(error: Exception) -> NoReturn:
    raise error
