"""Gradients that several processes add up in shared memory; threads stand for the processes here."""

from __future__ import annotations

import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from easyfirst.errors import ConfigError
from easyfirst.training.shared_gradients import SharedGradients

SHAPES = ((3, 4), (5,), (7, 2), (4, 3))  # two arrays and two tables


def parameters() -> list[Tensor]:
    return [torch.zeros(shape) for shape in SHAPES]


def sparse(rng: np.random.Generator, shape: tuple[int, ...]) -> Tensor:
    """A gradient with few rows, some of them twice, or none."""
    rows = torch.from_numpy(rng.integers(0, shape[0], rng.integers(0, 5)))
    values = torch.from_numpy(rng.normal(size=(len(rows), shape[1])).astype(np.float32))
    return torch.sparse_coo_tensor(rows[None], values, shape, check_invariants=True)


@pytest.mark.parametrize("size", [2, 3])
def test_sums_are_those_of_all_processes_and_equal_to_the_bit(tmp_path: Path, size: int) -> None:
    rng, barrier = np.random.default_rng(size), threading.Barrier(size)
    owned = [parameters() for _ in range(size)]
    shared = [SharedGradients(tmp_path, rank, size, own[:2], own[2:]) for rank, own in enumerate(owned)]
    for _ in range(4):
        expected = [np.zeros(shape, np.float32) for shape in SHAPES]
        for own in owned:
            for number, tensor in enumerate(own):
                table = sparse(rng, SHAPES[number]) if number >= 2 else None
                dense = torch.from_numpy(rng.normal(size=SHAPES[number]).astype(np.float32))
                tensor.grad = None if rng.random() < 0.3 else dense if table is None else table
                if tensor.grad is not None:
                    expected[number] += tensor.grad.to_dense().numpy()
        with ThreadPoolExecutor(size) as pool:
            for future in [pool.submit(one.add_up, barrier.wait) for one in shared]:
                future.result()
        for own in owned:
            for tensor, first, total in zip(own, owned[0], expected, strict=True):
                assert tensor.grad is not None
                assert first.grad is not None
                np.testing.assert_allclose(tensor.grad.to_dense().numpy(), total, atol=1e-6)
                assert torch.equal(tensor.grad.to_dense(), first.grad.to_dense())
            assert [tensor.grad.is_sparse for tensor in own if tensor.grad is not None] == [False, False, True, True]


def test_a_full_disk_is_an_error_before_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    (tmp_path / "run").mkdir()
    with pytest.raises(ConfigError, match=r"cannot be written: No space left on device; choose another .* TMPDIR"):
        SharedGradients(tmp_path / "run", 0, 2, parameters()[:2], [])
