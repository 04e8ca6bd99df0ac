"""Data-parallel training: several processes explore a part of every batch each, and add their gradients up.

All processes have the same weights, optimizer and order of sentences, and make the same updates. The first one also
evaluates, reports and writes files. The processes communicate by PyTorch's collective operations (Gloo) and, for
gradients, by shared memory.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.distributed as collectives
from torch import Tensor

from easyfirst.errors import ConfigError, EasyFirstError, ModelError
from easyfirst.nn.arrays import Ints
from easyfirst.training.child_processes import SECONDS_TO_END, follow_parent, one_thread_each
from easyfirst.training.shared_gradients import SharedGradients

PATIENCE = timedelta(days=7)  # the others wait while the first process evaluates
SECONDS_TO_LOOK = 0.05  # between looks at the processes that have not joined
ENDED_WITH_ANOTHER = 75  # the exit code of a process that ends because another one has ended
STOP = -1


class _CommunicationError(RuntimeError):
    """Another process has ended, so that this one cannot communicate with it."""


@dataclass(frozen=True, slots=True)
class Group:
    """The processes that train together, as one of them sees them. A single process needs no communication."""

    rank: int = 0
    size: int = 1
    folder: Path | None = None  # for temporary files; None: a single process needs none

    def share(self, numbers: Ints, lengths: Ints) -> Ints:
        """Return this process's part of the sentences with these numbers. ``lengths``: how much work each one is. From
        long to short, the sentences are dealt 0, 1, 1, 0 and so on, so that the parts are about equal."""
        if self.size == 1:
            return numbers
        order = np.argsort(-lengths[numbers], kind="stable")
        turns = np.arange(len(order)) % (2 * self.size)
        return numbers[np.sort(order[np.minimum(turns, 2 * self.size - 1 - turns) == self.rank])]

    def own_rng(self, rng: np.random.Generator) -> np.random.Generator:
        """Return a generator that differs between processes, from one that they share."""
        return rng if self.size == 1 else np.random.default_rng([int(rng.integers(2**63)), self.rank])

    def sums(self, *values: float) -> tuple[float, ...]:
        """Return the sums of values over the processes."""
        if self.size == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64)
        with _communicating():
            collectives.all_reduce(total)
        return tuple(total.tolist())

    def gradients(self, dense: Sequence[Tensor], tables: Sequence[Tensor]) -> SharedGradients | None:
        """Return the place where the processes add up the gradients of these parameters; None for a single process.
        ``tables``: those with sparse gradients."""
        if self.folder is None:
            return None
        return SharedGradients(self.folder, self.rank, self.size, dense, tables)

    def wait(self) -> None:
        """Wait until all processes wait."""
        self.sums(0.0)

    def next_epoch(self, number: int = STOP) -> int:
        """Return the number of the next epoch, or ``STOP``, as the first process gives it."""
        if self.size == 1:
            return number
        following = torch.tensor([number if self.rank == 0 else 0])
        with _communicating():
            collectives.broadcast(following, src=0)
        return int(following.item())


ALONE = Group()


@contextmanager
def _communicating() -> Generator[None]:
    try:
        yield
    except RuntimeError as error:
        raise _CommunicationError(str(error)) from error


@contextmanager
def processes(size: int, follow: Callable[[Group], None]) -> Generator[Group]:
    """Start ``size - 1`` processes that run ``follow``, which must be picklable; yield the group for this process, the
    first. An error in one process ends all of them."""
    if size < 1:
        raise ConfigError(f"processes is {size}; it must be at least 1")
    if size == 1:
        yield ALONE
        return
    context = get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="easyfirst-") as folder:
        place = Path(folder)
        reports = context.SimpleQueue()
        started = [
            context.Process(target=_run, args=(Group(rank, size, place), follow, reports)) for rank in range(1, size)
        ]
        n_threads = torch.get_num_threads()
        try:
            with one_thread_each():
                for process in started:
                    process.start()
            torch.set_num_threads(1)
            _join(group := Group(0, size, place), started)
            with _leaving():
                yield group
        except _CommunicationError as error:
            raise _explained(error, started, reports) from error
        finally:
            torch.set_num_threads(n_threads)
            _end(started)


def _join(group: Group, others: Sequence[SpawnProcess] = ()) -> None:
    """Wait for all processes of a group, and connect this one with them.

    PyTorch would wait for a process that has ended, so the first process connects when all ``others`` have come, and
    raises an error if one of them ends before. The path of the meeting is not given as a URI, which PyTorch does not
    unquote.
    """
    assert group.folder is not None
    store = collectives.FileStore(str(group.folder / "meeting"), group.size)  # pyright: ignore[reportPrivateImportUsage]
    store.set(f"rank {group.rank}", "here")
    ranks = [f"rank {rank}" for rank in range(1, len(others) + 1)]
    while ranks and not store.check(ranks):
        if any(process.exitcode is not None for process in others):
            raise _CommunicationError("another process has ended before it has joined")
        time.sleep(SECONDS_TO_LOOK)
    with _communicating():
        collectives.init_process_group("gloo", store=store, rank=group.rank, world_size=group.size, timeout=PATIENCE)


@contextmanager
def _leaving() -> Generator[None]:
    try:
        yield
    finally:
        collectives.destroy_process_group()


class _Report(NamedTuple):
    """The error that has ended a process."""

    rank: int
    message: str
    is_expected: bool  # an error that a user can cause, and no bug


def _run(group: Group, follow: Callable[[Group], None], reports: SimpleQueue[_Report]) -> None:
    """Run one of the started processes."""
    follow_parent()
    torch.set_num_threads(1)
    try:
        _join(group)
        with _leaving():
            follow(group)
    except _CommunicationError:  # the process that has ended reports why
        os._exit(ENDED_WITH_ANOTHER)
    except EasyFirstError as error:
        reports.put(_Report(group.rank, str(error), is_expected=True))
        os._exit(1)
    except Exception as error:
        reports.put(_Report(group.rank, f"{type(error).__name__}: {error}", is_expected=False))
        raise  # prints the traceback


def _explained(error: Exception, started: Sequence[SpawnProcess], reports: SimpleQueue[_Report]) -> Exception:
    """Return the error of a process that has ended, if that is why this one failed."""
    for process in started:
        process.join(SECONDS_TO_END)
    found: list[_Report] = []
    while not reports.empty():
        found.append(reports.get())
    for report in sorted(found, key=lambda report: not report.is_expected):
        if report.is_expected:
            return ConfigError(report.message)
        return ModelError(f"a process that trained with this one failed with {report.message}; see its traceback above")
    for process in started:
        if process.exitcode and process.exitcode != ENDED_WITH_ANOTHER:
            how = "was killed" if process.exitcode < 0 else f"ended with exit code {process.exitcode}"
            return ModelError(f"a process that trained with this one {how}; continue with --resume")
    return error


def _end(started: Sequence[SpawnProcess]) -> None:
    """Wait for the processes to end, which they do when training is over; otherwise end them."""
    for process in started:
        if process.pid is not None:
            process.join(SECONDS_TO_END)
            process.terminate()
            process.join(SECONDS_TO_END)
