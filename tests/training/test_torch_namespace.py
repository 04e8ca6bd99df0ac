"""Dropout keeps the mean, drops the share asked for, and takes all its chance from the generator it is given."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from easyfirst.training.torch_namespace import dropout


def test_nothing_to_drop() -> None:
    assert dropout(0.0, np.random.default_rng(1)) is None


@pytest.mark.parametrize("share", [0.1, 0.33, 0.75])
def test_share_and_mean(share: float) -> None:
    drop = dropout(share, np.random.default_rng(1))
    assert drop is not None
    values = drop(torch.ones(100_000))
    assert float((values == 0).float().mean()) == pytest.approx(share, abs=0.01)
    assert float(values.mean()) == pytest.approx(1, abs=0.02)


def test_the_same_generator_gives_the_same_masks_and_each_array_its_own() -> None:
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    first, second = dropout(0.5, rng), dropout(0.5, again)
    assert first is not None
    assert second is not None
    x = torch.ones(64)
    a, b = first(x), first(x)
    assert not torch.equal(a, b)
    assert torch.equal(second(x), a)
    assert torch.equal(second(x), b)
    assert rng.bit_generator.state == again.bit_generator.state


def test_gradients_pass_where_values_do() -> None:
    drop = dropout(0.5, np.random.default_rng(2))
    assert drop is not None
    x = torch.ones(50, requires_grad=True)
    y = drop(x)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, y.detach())
