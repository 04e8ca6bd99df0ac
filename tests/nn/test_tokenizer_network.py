"""The tokenizer's network: under NumPy as under PyTorch, and its parts as they are described."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.lstm import TableReader
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.sequences import Packing, span_states
from easyfirst.nn.tokenizer_network import (
    N_BOUNDARIES,
    N_QUESTIONS,
    read_characters,
    score_boundaries,
    score_tokens,
    tokenizer_of,
)
from easyfirst.training.torch_namespace import TORCH
from tests.text.random_tokenizers import random_model

CONFIGS = [
    TokenizerConfig(character_dim=3, hidden_dim=4, token_dim=5),
    TokenizerConfig(character_dim=5, hidden_dim=2, character_layers=2, token_dim=3, token_layers=2),
]
LENGTHS, N_TOKENS = [7, 7, 4, 1], [3, 2, 2, 1]
IDS = np.random.default_rng(5).integers(0, 45, sum(LENGTHS))
FIRST = np.array([0, 2, 5, 7, 11, 14, 16, 18])
LAST = np.array([1, 4, 6, 10, 13, 15, 17, 18])


@pytest.mark.parametrize("config", CONFIGS)
def test_characters_and_tokens_are_read_by_both_alike(config: TokenizerConfig) -> None:
    arrays = random_model(1, config=config).arrays
    found = []
    for xp, values in ((NUMPY, arrays), (TORCH, {name: torch.from_numpy(array) for name, array in arrays.items()})):
        weights = tokenizer_of(values)
        h = read_characters(xp, weights, IDS, Packing.of(LENGTHS))
        boundaries = score_boundaries(xp, weights, h)
        answers = score_tokens(xp, weights, span_states(xp, h, FIRST, LAST), Packing.of(N_TOKENS))
        found.append((boundaries, answers))
    (boundaries, answers), (torch_boundaries, torch_answers) = found
    assert boundaries.shape == (sum(LENGTHS), N_BOUNDARIES)
    assert answers.shape == (sum(N_TOKENS), N_QUESTIONS)
    np.testing.assert_allclose(boundaries, torch_boundaries.numpy(), atol=1e-5)
    np.testing.assert_allclose(answers, torch_answers.numpy(), atol=1e-5)


def test_a_tokens_vector_is_what_is_known_at_its_two_ends() -> None:
    h = np.arange(40, dtype=np.float32).reshape(10, 4)
    vectors = span_states(NUMPY, h, np.array([2, 5]), np.array([4, 5]))
    np.testing.assert_array_equal(vectors, [[*h[4, :2], *h[2, 2:]], [*h[5, :2], *h[5, 2:]]])


@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from(CONFIGS),
    st.lists(st.integers(1, 9), min_size=1, max_size=5).map(lambda sizes: sorted(sizes, reverse=True)),
    st.integers(0, 2**32 - 1),
)
def test_looking_characters_up_is_reading_them(config: TokenizerConfig, lengths: list[int], seed: int) -> None:
    weights = tokenizer_of(random_model(seed, config=config).arrays)
    ids, packing = np.random.default_rng(seed).integers(0, 45, sum(lengths)), Packing.of(lengths)
    with overflow_is_fine():
        read = TableReader(weights.characters, weights.character_layers).read(ids, packing)
        np.testing.assert_allclose(read, read_characters(NUMPY, weights, ids, packing), atol=1e-5)


def test_dropout_is_applied_to_what_is_read_and_to_what_comes_out() -> None:
    weights = tokenizer_of(random_model(1).arrays)
    shapes = []

    def drop(x: np.ndarray) -> np.ndarray:
        shapes.append(x.shape)
        return x * 0

    h = read_characters(NUMPY, weights, IDS, Packing.of(LENGTHS), drop)
    assert not h.any()
    scores = score_tokens(NUMPY, weights, span_states(NUMPY, h, FIRST, LAST), Packing.of(N_TOKENS), drop)
    np.testing.assert_array_equal(scores, np.tile(weights.question_bias, (len(FIRST), 1)))
    assert shapes == [(19, 3), (19, 8), (8, 6)]
