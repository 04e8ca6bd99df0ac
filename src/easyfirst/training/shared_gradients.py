"""Gradients in memory that the processes of a training share, because sockets take too long for them.

Each process writes its gradients to a file that it has mapped to memory, and reads those of the others. They are always
added in the same order, so that all processes have the same sums, to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from easyfirst.errors import ConfigError

FLOAT_BYTES = 4
ROW_BYTES = 8


class SharedGradients:
    """The gradients of all processes for the same parameters."""

    def __init__(self, folder: Path, rank: int, size: int, dense: Sequence[Tensor], tables: Sequence[Tensor]) -> None:
        """``folder``: where the files are; ``tables``: parameters whose gradients are sparse. Call it in all processes
        at the same time."""
        self._dense, self._tables, self._rank = dense, tables, rank
        n_values = sum(tensor.numel() for tensor in (*dense, *tables))
        n_rows = sum(1 + len(table) for table in tables)
        for name, n_bytes in ((f"values-{rank}", n_values * FLOAT_BYTES), (f"rows-{rank}", n_rows * ROW_BYTES)):
            _reserve(folder / name, n_bytes)
        self._folder, self._size, self._n_values, self._n_rows = folder, size, n_values, n_rows
        self._parts: list[_Part] = []

    def add_up(self, wait: Callable[[], object]) -> None:
        """Replace the gradients by their sums over the processes. ``wait``: returns when all processes call it."""
        wait()  # until all files are there, and all processes have read the sums before
        if not self._parts:
            self._parts = [self._map(rank) for rank in range(self._size)]
        own = self._parts[self._rank]
        for tensor, place in zip(self._dense, own.dense, strict=True):
            place.zero_() if tensor.grad is None else place.copy_(tensor.grad)
        for table, rows, values in zip(self._tables, own.rows, own.tables, strict=True):
            _write_rows(table.grad, rows, values)
        wait()
        for number, tensor in enumerate(self._dense):
            tensor.grad = sum_of([part.dense[number] for part in self._parts])
        for number, table in enumerate(self._tables):
            read = [_read_rows(part.rows[number], part.tables[number]) for part in self._parts]
            rows, values = (torch.cat(column) for column in zip(*read, strict=True))
            table.grad = torch.sparse_coo_tensor(rows[None], values, table.shape, check_invariants=True).coalesce()

    def _map(self, rank: int) -> _Part:
        shapes = [tensor.shape for tensor in (*self._dense, *self._tables)]
        values = _mapped(self._folder / f"values-{rank}", self._n_values, torch.float32)
        arrays = [
            flat.view(shape) for flat, shape in zip(values.split([s.numel() for s in shapes]), shapes, strict=True)
        ]
        rows = _mapped(self._folder / f"rows-{rank}", self._n_rows, torch.int64)
        n_dense = len(self._dense)
        return _Part(arrays[:n_dense], arrays[n_dense:], list(rows.split([1 + len(table) for table in self._tables])))


class _Part:
    """The gradients of one process. Those of a table are its first rows, whose numbers follow their count."""

    def __init__(self, dense: list[Tensor], tables: list[Tensor], rows: list[Tensor]) -> None:
        self.dense, self.tables, self.rows = dense, tables, rows


def sum_of(arrays: Sequence[Tensor]) -> Tensor:
    """Return the sum of arrays, from the first to the last."""
    total = arrays[0] + arrays[1]
    for array in arrays[2:]:
        total += array
    return total


def _write_rows(grad: Tensor | None, rows: Tensor, values: Tensor) -> None:
    if grad is None:
        rows[0] = 0
        return
    grad = grad.coalesce()
    numbers = grad.indices()[0]
    n = len(numbers)
    rows[0] = n
    rows[1 : n + 1] = numbers
    values[:n] = grad.values()


def _read_rows(rows: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    n = int(rows[0].item())
    return rows[1 : n + 1], values[:n]


def _reserve(path: Path, n_bytes: int) -> None:
    """Create a file of this size. A disk that is full is noticed here; later, it would end the process."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if n_bytes and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, n_bytes)
            else:
                os.ftruncate(descriptor, n_bytes)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigError(
            f"several processes need {n_bytes:,} bytes each for temporary files in {path.parent.parent}, which cannot "
            f"be written: {error.strerror or error}; choose another directory with TMPDIR"
        ) from error


def _mapped(path: Path, n: int, dtype: torch.dtype) -> Tensor:
    return torch.from_file(str(path), shared=True, size=n, dtype=dtype) if n else torch.empty(0, dtype=dtype)
