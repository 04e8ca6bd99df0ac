"""The shared maths: under NumPy as under PyTorch, and both as the twin has it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.nn import rnn, scorer, sequences, trees, words
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.namespace import NUMPY, Array, Namespace
from easyfirst.nn.parser_network import Network, network_of
from easyfirst.training.torch_namespace import TORCH
from tests.nn.random_models import Model, ids_of, kinds_of_models, models, packing_of

KINDS = kinds_of_models()
batches = st.lists(st.integers(1, 7), min_size=1, max_size=5)
seeds = st.integers(0, 2**32 - 1)
Function = Callable[..., object]


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def assert_same(function: Function, model: Model, *arrays: np.ndarray) -> None:
    """``function(xp, network, *arrays)`` gives the same, with arrays and with tensors."""
    by_numpy = function(NUMPY, model.network, *arrays)
    tensors = {name: torch.from_numpy(array) for name, array in model.arrays.items()}
    network = network_of(tensors, rnn=model.config.rnn)
    by_torch = function(TORCH, network, *map(torch.from_numpy, arrays))
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (by_numpy, by_torch)), strict=True):
        assert isinstance(one, np.ndarray)
        assert isinstance(other, torch.Tensor)
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other.numpy(), atol=1e-5, rtol=2e-5)


@settings(deadline=None, max_examples=40)
@given(models(), batches, seeds)
def test_words_are_encoded_as_the_twin_does(model: Model, lengths: list[int], seed: int) -> None:
    batch = model.sentences(lengths, seed)
    expected = np.concatenate([model.twin_vectors(sample) for sample in batch])
    np.testing.assert_allclose(model.vectors(batch), expected, atol=1e-5)


@pytest.mark.parametrize("model", KINDS)
def test_words_are_encoded_as_the_twin_does_by_every_kind_of_network(model: Model) -> None:
    batch = model.sentences([12, 7, 7, 2, 1], seed=1)
    expected = np.concatenate([model.twin_vectors(sample) for sample in batch])
    np.testing.assert_allclose(model.vectors(batch), expected, atol=1e-5)
    for sample in batch:
        np.testing.assert_allclose(model.vectors([sample]), model.twin_vectors(sample), atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(models(), batches, seeds)
def test_words_are_encoded_by_both_alike(model: Model, lengths: list[int], seed: int) -> None:
    batch = model.sentences(lengths, seed)
    assert_same(lambda xp, network: words.embed_words(xp, network.words, ids_of(batch)), model)
    assert_same(lambda xp, network: words.encode_words(xp, network.words, ids_of(batch), packing_of(batch)), model)


@pytest.mark.parametrize("model", KINDS)
def test_a_layer_runs_alike(model: Model) -> None:
    packing = sequences.Packing.of([5, 3, 3, 1])

    def run(xp: Namespace, network: Network, x: Array) -> Array:
        return sequences.run_layer(xp, network.words.cell, network.words.stacks[0][0], x, packing.n_active)

    if model.config.bilstm_layers:
        assert_same(run, model, normal(2, 12, model.config.vector_dim))


@pytest.mark.parametrize("model", KINDS)
def test_subtrees_are_encoded_by_both_alike(model: Model) -> None:
    n, dim, vector_dim = 6, model.network.trees.output_dim, model.config.vector_dim
    assert_same(lambda xp, network, v: trees.leaf_states(xp, network.trees, v), model, normal(n, vector_dim))
    if not model.config.tree_layers:
        return
    assert_same(lambda xp, network: trees.relation_table(xp, network.trees), model)
    assert_same(
        lambda xp, network, c, added: trees.encode_modifiers(xp, network.trees, c, added),
        model,
        normal(n, 2 * dim),
        normal(n, vector_dim),
    )
    width = trees.leaf_states(NUMPY, model.network.trees, normal(1, vector_dim)).shape[-1]
    for side in (trees.LEFT, trees.RIGHT):
        assert_same(
            lambda xp, network, state, x, side=side: trees.attach(xp, network.trees, state, x, side=side),
            model,
            normal(n, width),
            normal(n, vector_dim),
        )


@pytest.mark.parametrize("model", KINDS)
def test_the_first_step_is_a_step_from_the_zero_state(model: Model) -> None:
    """Why :meth:`Cell.first` may leave out gates and the recurrent product."""
    weights, x = model.network.trees, normal(5, model.config.vector_dim)
    if not weights.layers:
        return
    started = rnn.start(NUMPY, weights.cell, weights.layers, x)
    for side in (trees.LEFT, trees.RIGHT):
        zero = np.zeros_like(started[side])
        advanced = rnn.advance(NUMPY, weights.cell, weights.layers, x, zero, side=side)
        np.testing.assert_allclose(started[side], advanced, atol=1e-6)


@pytest.mark.parametrize("model", KINDS)
def test_windows_are_scored_by_both_alike_and_as_by_two_separate_mlps(model: Model) -> None:
    weights = model.network.scorer
    windows = normal(7, weights.hidden.shape[0])
    assert_same(lambda xp, network, x: scorer.hidden_of_windows(xp, network.scorer, x), model, windows)
    assert_same(lambda xp, network: scorer.output_weights(xp, network.scorer), model)
    output, bias = scorer.output_weights(NUMPY, weights)
    scores = scorer.hidden_of_windows(NUMPY, weights, windows) @ output + bias
    h = model.config.hidden_dim
    of_u = np.tanh(windows @ weights.hidden[:, :h] + weights.hidden_bias[:h]) @ weights.unlabelled
    of_l = np.tanh(windows @ weights.hidden[:, h:] + weights.hidden_bias[h:]) @ weights.labelled
    expected = np.repeat(of_u + weights.unlabelled_bias, model.n_relations, axis=1) + of_l + weights.labelled_bias
    np.testing.assert_allclose(scores, expected, atol=1e-5)


@pytest.mark.parametrize("model", KINDS)
def test_a_hidden_layer_is_the_sum_of_its_slots_projections(model: Model) -> None:
    weights, n_slots, dim = model.network.scorer, model.network.n_slots, model.network.trees.output_dim
    nodes = normal(n_slots, 2, dim)  # slot, side
    slots = scorer.slot_weights(weights, n_slots).reshape(2, dim, n_slots, -1)
    hidden = np.tanh(np.einsum("ksd,sdkh->h", nodes, slots) + weights.hidden_bias)
    expected = scorer.hidden_of_windows(NUMPY, weights, nodes.reshape(1, -1))[0]
    np.testing.assert_allclose(hidden, expected, atol=1e-5)


def test_activations_are_exact_and_saturate() -> None:
    x = np.array([-1000, -20, -1, -1e-3, 0, 0.5, 3, 1000], dtype=np.float32)
    exact = torch.from_numpy(x).double()
    with overflow_is_fine():
        np.testing.assert_allclose(NUMPY.sigmoid(x), torch.sigmoid(exact).numpy(), atol=2e-7)
        np.testing.assert_allclose(NUMPY.tanh(x), torch.tanh(exact).numpy(), atol=2e-7)
    assert x[0] == -1000  # what is given stays as it was
