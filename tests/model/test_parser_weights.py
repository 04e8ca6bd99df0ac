"""The arrays of a network have the shapes that its functions read, and sensible first values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easyfirst.model.initial_values import EMBEDDING_GAIN, RNN_INPUT_GAIN
from easyfirst.model.parser_config import NetworkConfig
from easyfirst.model.parser_store import Sizes, initial_parser, parser_shapes
from easyfirst.nn.parser_network import network_of

SIZES = Sizes(words=11, tags={"upos": 5, "xpos": 7}, relations=4, external=None)


def test_the_papers_network_has_these_shapes() -> None:
    assert parser_shapes(NetworkConfig(), SIZES) == {
        "words.embedding": (11, 100),
        "words.upos": (5, 25),
        "words.project": (125, 200),
        "words.bias": (200,),
        "words.rnn.0.input": (2, 200, 400),
        "words.rnn.0.recurrent": (2, 100, 400),
        "words.rnn.0.bias": (2, 400),
        "words.rnn.1.input": (2, 100, 400),
        "words.rnn.1.recurrent": (2, 100, 400),
        "words.rnn.1.bias": (2, 400),
        "trees.padding": (200,),
        "trees.rnn.0.input": (2, 200, 800),
        "trees.rnn.0.recurrent": (2, 200, 800),
        "trees.rnn.0.bias": (2, 800),
        "trees.rnn.1.input": (2, 200, 800),
        "trees.rnn.1.recurrent": (2, 200, 800),
        "trees.rnn.1.bias": (2, 800),
        "trees.relation": (4, 25),
        "trees.encode": (425, 200),
        "trees.bias": (200,),
        "scorer.hidden": (2400, 200),
        "scorer.hidden_bias": (200,),
        "scorer.unlabelled": (100, 2),
        "scorer.unlabelled_bias": (2,),
        "scorer.labelled": (100, 8),
        "scorer.labelled_bias": (8,),
    }


def test_without_bilstm_and_trees_their_arrays_are_not_there() -> None:
    shapes = parser_shapes(NetworkConfig(bilstm_layers=0, tree_layers=0, tags="none"), SIZES)
    assert not [name for name in shapes if ".rnn." in name or name in ("trees.relation", "trees.encode", "words.upos")]
    assert shapes["words.project"] == (100, 200)
    assert shapes["scorer.hidden"] == (6 * 200, 200)


def test_tags_and_external_vectors_widen_the_projection() -> None:
    sizes = Sizes(words=11, tags=SIZES.tags, relations=4, external=(9, 30))
    shapes = parser_shapes(NetworkConfig(tags="both"), sizes)
    assert shapes["words.external"] == (9, 30)
    assert shapes["words.project"] == (100 + 30 + 25 + 25, 200)


@pytest.mark.parametrize("rnn", ["lstm", "gru", "elman"])
@pytest.mark.parametrize("tree_layers", [0, 2])
def test_first_values_make_a_network(rnn: str, tree_layers: int) -> None:
    config = NetworkConfig(rnn=rnn, tree_layers=tree_layers, window=1)
    arrays = initial_parser(config, SIZES, np.random.default_rng(1))
    assert {name: array.shape for name, array in arrays.items()} == parser_shapes(config, SIZES)
    assert {str(array.dtype) for array in arrays.values()} == {"float32"}
    network = network_of(arrays, rnn=rnn)
    assert network.scorer.n_relations == 4


def test_the_same_seed_gives_the_same_values() -> None:
    first, second = (initial_parser(NetworkConfig(), SIZES, np.random.default_rng(3)) for _ in range(2))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_biases_are_zero_but_a_forget_gates_is_one() -> None:
    arrays = initial_parser(NetworkConfig(), SIZES, np.random.default_rng(1))
    bias = arrays["words.rnn.0.bias"]
    assert (bias[:, :100] == 1).all()
    assert not bias[:, 100:].any()
    assert not arrays["scorer.hidden_bias"].any()
    elman = initial_parser(NetworkConfig(rnn="elman"), SIZES, np.random.default_rng(1))
    assert not elman["words.rnn.0.bias"].any()


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("words.embedding", EMBEDDING_GAIN * math.sqrt(6 / 100)),
        ("words.project", math.sqrt(6 / 325)),
        ("trees.rnn.0.input", RNN_INPUT_GAIN * math.sqrt(6 / 400)),
        ("trees.rnn.0.recurrent", math.sqrt(6 / 400)),
        ("scorer.hidden", math.sqrt(6 / 2500)),
    ],
)
def test_weights_fill_glorots_range(name: str, bound: float) -> None:
    array = initial_parser(NetworkConfig(), SIZES, np.random.default_rng(1))[name]
    assert 0.98 * bound < np.abs(array).max() <= bound * (1 + 1e-6)


def test_external_vectors_are_copied_as_they_are() -> None:
    table = np.arange(12, dtype=np.float64).reshape(4, 3)
    sizes = Sizes(words=2, tags={"upos": 2}, relations=1, external=(4, 3))
    arrays = initial_parser(NetworkConfig(), sizes, np.random.default_rng(1), external=table)
    assert arrays["words.external"].dtype == np.float32
    assert np.array_equal(arrays["words.external"], table)
    table[:] = 0
    assert arrays["words.external"].any()
