"""The kernels with derivatives of their own against the shared functions, differentiated by PyTorch.

The kernel for trees is tested through the tree encoder, against the recursive definition.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from easyfirst.nn.parser_network import network_of
from easyfirst.nn.rnn import CELLS, Layer
from easyfirst.nn.sequences import run_layer
from easyfirst.nn.words import encode_words
from easyfirst.training.torch_namespace import TORCH
from tests.nn.random_models import Model, ids_of, kinds_of_models, packing_of

PLAIN = replace(
    TORCH,
    lstm_layer=lambda layer, x, n_active: run_layer(TORCH, CELLS["lstm"], layer, x, n_active),
    embed=lambda table, ids: table[ids],
)
N_ACTIVE = [[1], [4], [3, 3, 1], [2, 1, 1, 1], [5, 4, 2]]


def leaf(*shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(shape).normal(size=shape)).requires_grad_()


def arguments(n_words: int, dim: int = 2) -> tuple[Tensor, ...]:
    """x, and the weights of a layer that reads 3 numbers."""
    return leaf(2, n_words, 3), leaf(2, 3, 4 * dim), leaf(2, dim, 4 * dim), leaf(2, 1, 4 * dim)


def fast_layer(x: Tensor, weights: Tensor, recurrent: Tensor, bias: Tensor, n_active: list[int]) -> Tensor:
    return TORCH.lstm_layer(Layer(weights, recurrent, bias), x, n_active)


@pytest.mark.parametrize("n_active", N_ACTIVE)
def test_the_lstm_layer_is_the_shared_function_gradients_included(n_active: list[int]) -> None:
    found: list[list[Tensor]] = []
    for is_fast in (True, False):
        x, *weights = inputs = arguments(sum(n_active))
        if is_fast:
            y = fast_layer(x, *weights, n_active)
        else:
            y = run_layer(PLAIN, CELLS["lstm"], Layer(*weights), x, n_active)
        (y * torch.arange(y.numel()).reshape(y.shape).cos()).sum().backward()
        found.append([y.detach(), *(torch.zeros_like(one) if one.grad is None else one.grad for one in inputs)])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("n_active", N_ACTIVE)
def test_the_lstm_layer_has_the_right_derivative(n_active: list[int]) -> None:
    assert torch.autograd.gradcheck(lambda *inputs: fast_layer(*inputs, n_active), arguments(sum(n_active), dim=1))


@pytest.mark.parametrize("model", kinds_of_models())
def test_word_vectors_have_the_gradients_that_plain_differentiation_gives(model: Model) -> None:
    batch = model.sentences([6, 4, 4, 1], seed=1)
    found: list[tuple[Tensor, dict[str, Tensor]]] = []
    for xp in (TORCH, PLAIN):
        tensors = {name: torch.from_numpy(array).double().requires_grad_() for name, array in model.arrays.items()}
        network = network_of(tensors, rnn=model.config.rnn)
        vectors = encode_words(xp, network.words, ids_of(batch), packing_of(batch))
        (vectors * torch.arange(vectors.numel()).reshape(vectors.shape).cos()).sum().backward()
        grads = {name: x.grad.to_dense() for name, x in tensors.items() if x.grad is not None}
        found.append((vectors.detach(), grads))
    assert found[0][1].keys() == {name for name in model.arrays if name.startswith("words.")}
    torch.testing.assert_close(*found)
