"""The running mean is the one written out by hand, and what is not learnt stays outside of it."""

from __future__ import annotations

import numpy as np
import torch

from easyfirst.training.average import HEAD_START, Average


def parameters() -> dict[str, torch.Tensor]:
    return {"w": torch.ones(2, 3, requires_grad=True), "table": torch.full((4,), 5.0)}


def test_the_mean_forgets_fast_at_first_and_then_with_its_memory() -> None:
    given = parameters()
    average = Average(given, 0.8)
    expected = 1.0
    for update in range(1, 80):
        given["w"].data.fill_(update)
        average.update()
        memory = min(0.8, update / (HEAD_START + update))
        expected = memory * expected + (1 - memory) * update
    np.testing.assert_allclose(average.arrays["w"], expected, rtol=1e-5)
    np.testing.assert_array_equal(average.arrays["table"], 5)


def test_without_memory_the_last_weights_are_used() -> None:
    given = parameters()
    average = Average(given, 0.0)
    given["w"].data.fill_(7)
    average.update()
    np.testing.assert_array_equal(average.arrays["w"], 7)
    assert average.state() == {}


def test_a_restored_mean_goes_on_alike() -> None:
    given = parameters()
    average = Average(given, 0.9)
    given["w"].data.fill_(3)
    average.update()
    other = Average(given, 0.9)
    other.load_state({name: array.copy() for name, array in average.state().items()}, average.n_updates)
    for either in (average, other):
        given["w"].data.fill_(4)
        either.update()
    np.testing.assert_array_equal(average.arrays["w"], other.arrays["w"])
