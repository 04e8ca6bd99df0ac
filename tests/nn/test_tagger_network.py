"""The tagger's network against a twin that reads one sentence, one word at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from easyfirst.model.initial_values import embedding, glorot, rnn_arrays, rnn_shapes
from easyfirst.nn.namespace import NUMPY, Namespace
from easyfirst.nn.sequences import Packing
from easyfirst.nn.tagger_network import (
    TaggerIds,
    TaggerWeights,
    encode_tagged,
    members_of,
    score_outputs,
    with_value_scores,
)
from easyfirst.training.torch_namespace import TORCH
from tests.twins import Rnn, Twin

N_WORDS, N_FORMS, DIM = 12, 7, 3
N_TAGS = {"upos": 4, "xpos": 6, "feats": 3, "features": 5, "lemmas": 7}


@dataclass(frozen=True)
class Kind:
    """A kind of network."""

    n_layers: int = 1
    has_external: bool = False
    has_characters: bool = True
    tags: tuple[str, ...] = ("upos", "xpos")

    def arrays(self) -> dict[str, Any]:
        rng = np.random.default_rng(1)
        arrays: dict[str, Any] = {"words.embedding": embedding(rng, N_WORDS, 3)}
        if self.has_characters:
            arrays["characters.embedding"] = embedding(rng, 5, 2)
            arrays |= rnn_arrays(rng, rnn_shapes("characters.rnn", 2, 2, 1))
        input_dim = 3 + 2 * self.has_external + 4 * self.has_characters
        for number in range(self.n_layers):
            arrays |= rnn_arrays(rng, rnn_shapes(f"tagger.rnn{number}", 2 * DIM if number else input_dim, DIM, 1))
        for kind in self.tags:
            arrays[f"tagger.{kind}"] = glorot(rng, 2 * DIM, N_TAGS[kind], (2 * DIM, N_TAGS[kind]))
            arrays[f"tagger.{kind}_bias"] = rng.normal(size=N_TAGS[kind]).astype(np.float32)
        return arrays


KINDS = [
    Kind(),
    Kind(n_layers=2, has_external=True),
    Kind(n_layers=3, has_characters=False, tags=("xpos",)),
    Kind(has_external=True, tags=("upos",)),
    Kind(tags=tuple(N_TAGS)),
]
LENGTHS = [5, 4, 4, 1]


@dataclass(frozen=True)
class Batch:
    """What encode_tagged is given besides the weights."""

    ids: TaggerIds
    external: Any
    spelt: Any


def batch_of(kind: Kind) -> Batch:
    rng = np.random.default_rng(2)
    n = sum(LENGTHS)
    ids = TaggerIds(rng.integers(N_WORDS, size=n), rng.integers(N_FORMS, size=n))
    external = rng.normal(size=(n, 2)).astype(np.float32) if kind.has_external else None
    spelt = rng.normal(size=(N_FORMS, 4)).astype(np.float32) if kind.has_characters else None
    return Batch(ids, external, spelt)


def twin_scores(arrays: dict[str, Any], batch: Batch, words: Sequence[int]) -> dict[str, np.ndarray]:
    """The scores of one sentence; ``words`` are its places in the batch."""
    twin = Twin(arrays, rnn="lstm")
    x: list[Any] = []
    for i in words:
        parts = [twin.arrays["words.embedding"][batch.ids.words[i]]]
        parts += [batch.external[i]] if batch.external is not None else []
        parts += [batch.spelt[batch.ids.forms[i]]] if batch.spelt is not None else []
        x.append(np.concatenate(parts))
    number = 0
    while f"tagger.rnn{number}.0.input" in arrays:
        forward, backward = (Rnn(twin, f"tagger.rnn{number}", side) for side in (0, 1))
        f = [forward.append(v).output for v in x]
        b = [backward.append(v).output for v in reversed(x)][::-1]
        x = [np.concatenate(pair) for pair in zip(f, b, strict=True)]
        number += 1
    return {
        kind: np.array([v @ twin.arrays[f"tagger.{kind}"] + twin.arrays[f"tagger.{kind}_bias"] for v in x])
        for kind in N_TAGS
        if f"tagger.{kind}" in arrays
    }


def only_member(arrays: dict[str, Any]) -> TaggerWeights:
    (member,) = members_of(arrays, 1)
    return member


def score_tags(
    xp: Namespace, weights: TaggerWeights, ids: TaggerIds, packing: Packing, **others: Any
) -> dict[str, Any]:
    return score_outputs(xp, weights, encode_tagged(xp, weights, ids, packing, **others), weights.outputs)


@pytest.mark.parametrize("kind", KINDS)
def test_tags_are_scored_as_the_twin_does(kind: Kind) -> None:
    arrays, batch = kind.arrays(), batch_of(kind)
    found = score_tags(
        NUMPY, only_member(arrays), batch.ids, Packing.of(LENGTHS), external=batch.external, spelt=batch.spelt
    )
    assert tuple(found) == kind.tags
    start = 0
    for length in LENGTHS:
        expected = twin_scores(arrays, batch, range(start, start + length))
        for tags in kind.tags:
            np.testing.assert_allclose(found[tags][start : start + length], expected[tags], atol=1e-5)
        start += length


@pytest.mark.parametrize("kind", KINDS)
def test_tags_are_scored_by_both_alike(kind: Kind) -> None:
    arrays, batch, packing = kind.arrays(), batch_of(kind), Packing.of(LENGTHS)
    by_numpy = score_tags(NUMPY, only_member(arrays), batch.ids, packing, external=batch.external, spelt=batch.spelt)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    external, spelt = (None if x is None else torch.from_numpy(x) for x in (batch.external, batch.spelt))
    by_torch = score_tags(TORCH, only_member(tensors), batch.ids, packing, external=external, spelt=spelt)
    for tags in kind.tags:
        assert by_numpy[tags].dtype == np.float32
        np.testing.assert_allclose(by_numpy[tags], by_torch[tags].numpy(), atol=2e-6, rtol=2e-5)


def test_values_are_added_to_the_bundles_that_have_them() -> None:
    kind = KINDS[-1]
    batch, packing, weights = batch_of(kind), Packing.of(LENGTHS), only_member(kind.arrays())
    membership = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=np.float32)
    plain, folded = (
        score_tags(NUMPY, each, batch.ids, packing, external=batch.external, spelt=batch.spelt)
        for each in (weights, with_value_scores(weights, membership))
    )
    expected = plain["feats"].copy()
    for value, bundle in np.argwhere(membership):
        expected[:, bundle] += plain["features"][:, value]
    np.testing.assert_allclose(folded["feats"], expected, atol=1e-5)
    assert all(np.array_equal(folded[name], plain[name]) for name in plain if name != "feats")
    assert folded["feats"].dtype == np.float32


def test_dropout_is_applied_to_what_each_layer_reads_and_to_what_the_last_one_gives() -> None:
    kind = KINDS[1]
    seen: list[tuple[int, ...]] = []

    def keep(x: np.ndarray) -> np.ndarray:
        seen.append(x.shape)
        return x

    batch = batch_of(kind)
    score_tags(
        NUMPY,
        only_member(kind.arrays()),
        batch.ids,
        Packing.of(LENGTHS),
        external=batch.external,
        spelt=batch.spelt,
        drop=keep,
    )
    n = sum(LENGTHS)
    assert seen == [(n, 9), (n, 2 * DIM), (n, 2 * DIM)]
