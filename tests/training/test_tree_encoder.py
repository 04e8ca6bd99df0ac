"""The level-batched tree encoder against the recursive definition of section 3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.nn.parser_network import network_of
from easyfirst.parsing.exploration import Attachments
from easyfirst.training.tree_encoder import TreeEncoder
from tests.nn.random_models import Model, Sample, kinds_of_models, models
from tests.twins import LEFT, RIGHT, Twin

KINDS = kinds_of_models()


def build(batch: Sequence[Sample]) -> tuple[Attachments, np.ndarray]:
    """Finished trees as attachments, modifiers from the head outward, and all words' last versions."""
    n_rows = sum(map(len, batch))
    versions = np.stack([np.arange(n_rows), np.arange(n_rows)], axis=1)  # (row, side)
    made: list[tuple[int, int, list[int], int]] = []

    def finish(sample: Sample, start: int, t: int) -> None:
        for side, words in ((LEFT, range(t - 1, 0, -1)), (RIGHT, range(t + 1, len(sample) + 1))):
            for m in words:
                if sample.heads[m - 1] == t:
                    finish(sample, start, m)
                    h, modifier = start + t - 1, start + m - 1
                    made.append((side, versions[h, side], versions[modifier].tolist(), sample.relations[m - 1]))
                    versions[h, side] = n_rows + len(made)

    start = 0
    for sample in batch:
        finish(sample, start, sample.heads.index(0) + 1)
        start += len(sample)
    columns = [np.array(column, dtype=np.int64) for column in zip(*made, strict=True)]
    if not made:
        columns = [np.zeros(shape, dtype=np.int64) for shape in (0, 0, (0, 2), 0)]
    return Attachments(*columns), versions


def recursive(twin: Twin, vectors: Sequence[torch.Tensor], batch: Sequence[Sample]) -> list[torch.Tensor]:
    """c of every word's subtree."""
    encoded: list[torch.Tensor] = []
    start = 0
    for sample in batch:
        own = vectors[start : start + len(sample)]
        encoded += [twin.c_of_tree(t, own, sample.heads, sample.relations) for t in range(1, len(sample) + 1)]
        start += len(sample)
    return encoded


def assert_encoded_recursively(model: Model, batch: Sequence[Sample], wanted: list[int]) -> None:
    """Values, and gradients of the vectors and of every parameter, of some words' subtrees."""
    attachments, versions = build(batch)
    found: list[tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]] = []
    for is_naive in (False, True):
        parameters = {name: torch.from_numpy(x).double().requires_grad_() for name, x in model.arrays.items()}
        vectors = torch.from_numpy(model.vectors(batch)).double().requires_grad_()
        if is_naive:
            twin = Twin(parameters, rnn=model.config.rnn, xp=torch)
            encoded = recursive(twin, list(vectors), batch)
            c = torch.stack([encoded[row] for row in wanted])
        else:
            weights = network_of(parameters, rnn=model.config.rnn).trees
            encoder = TreeEncoder(weights, vectors, attachments, versions[wanted])
            c = encoder.vectors(versions[wanted])
        (c * torch.arange(c.numel()).reshape(c.shape).cos()).sum().backward()
        grads = {name: torch.zeros_like(x) if x.grad is None else x.grad for name, x in parameters.items()}
        assert vectors.grad is not None
        found.append((c.detach(), vectors.grad, grads))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("model", KINDS)
def test_all_subtrees_of_a_batch(model: Model) -> None:
    assert_encoded_recursively(model, model.sentences([9, 7, 7, 2, 1], seed=1), list(range(26)))


@settings(deadline=None, max_examples=25)
@given(
    models(),
    st.lists(st.integers(1, 8), min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
)
def test_some_subtrees_of_random_models(model: Model, lengths: list[int], seed: int, wanted: list[int]) -> None:
    """Those not asked for need not be computed, and change nothing."""
    batch = model.sentences([4, *lengths], seed)
    assert_encoded_recursively(model, batch, wanted)
