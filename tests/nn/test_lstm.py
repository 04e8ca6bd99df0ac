"""The fast LSTM and the stacks built on it equal the definition in ``easyfirst.nn.rnn`` and ``trees``."""

from __future__ import annotations

import numpy as np
import pytest

from easyfirst.nn import lstm
from easyfirst.nn.activations import SMALL_SIZE, overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.lstm import LstmStack, PlainStack, stack_of
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.rnn import CELLS, Layer, lstm_gates
from easyfirst.nn.trees import LEFT, RIGHT, TreeWeights

MANY = SMALL_SIZE // 3 + 1  # rows of width 3 that are no longer small


def normal(*shape: int, seed: int = 0, scale: float = 1) -> Floats:
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def layer(input_dim: int, dim: int, seed: int) -> Layer:
    sizes = (2, input_dim, 4 * dim), (2, dim, 4 * dim), (2, 1, 4 * dim)
    return Layer(*(normal(*size, seed=seed + k) for k, size in enumerate(sizes)))


def gates_side_by_side(z: Floats) -> Floats:
    """(.., gates, rows, dim) as the definition has it: (.., rows, gates * dim)."""
    return np.concatenate(list(np.moveaxis(z, -3, 0)), axis=-1)


@pytest.mark.parametrize("sides", [(), (2,)])
@pytest.mark.parametrize("n", [1, 5, MANY])
@pytest.mark.parametrize("has_past", [False, True])
@pytest.mark.parametrize("scale", [1, 30, 1000])
def test_a_step_is_the_definition(sides: tuple[int, ...], n: int, has_past: bool, scale: float) -> None:
    z = normal(*sides, 4 if has_past else 3, n, 3, scale=scale)
    c = normal(*sides, n, 3, seed=1, scale=scale) if has_past else None
    kept = None if c is None else c.copy()
    with overflow_is_fine():
        expected = lstm_gates(NUMPY, gates_side_by_side(z), c)
        new_c, h = lstm.step_by_exponents(z * lstm.FACTORS[-z.shape[-3] :], c)
    np.testing.assert_allclose(np.concatenate([new_c, h], axis=-1), expected, rtol=2e-6, atol=1e-6)
    if kept is not None:
        assert np.array_equal(c, kept)  # the state belongs to the caller


@pytest.mark.parametrize("n_layers", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 4, MANY])
def test_a_stack_is_the_definition(n_layers: int, n: int) -> None:
    layers = tuple(layer(5 if k == 0 else 3, 3, seed=10 * k) for k in range(n_layers))
    weights = TreeWeights(normal(5), layers, CELLS["lstm"], relations=None, encode=None, bias=None)
    fast, plain = stack_of(weights), PlainStack(weights)
    assert isinstance(fast, LstmStack)
    vectors, encoded = normal(n, 5, seed=7), normal(n, 5, seed=8)
    leaves = fast.start(vectors), plain.start(vectors)
    assert len(leaves[0]) == 2 * n_layers
    for ours, defined in zip(*leaves, strict=True):
        np.testing.assert_allclose(ours, defined, atol=2e-6)
    for side in (LEFT, RIGHT):
        old = [part[side] for part in leaves[1]]
        new = fast.advance(old, encoded, side=side), plain.advance(old, encoded, side=side)
        for ours, defined in zip(*new, strict=True):
            np.testing.assert_allclose(ours, defined, atol=2e-6)
