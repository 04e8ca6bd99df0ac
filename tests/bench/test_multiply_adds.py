"""The count of multiply-adds equals a count of every matrix product, taken while the network runs by its definition."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bench.multiply_adds import multiply_adds
from easyfirst.model.parser_config import NetworkConfig, preset
from easyfirst.model.parser_store import Sizes, initial_parser
from easyfirst.nn import trees
from easyfirst.nn.characters import Spelling
from easyfirst.nn.namespace import NUMPY, Array
from easyfirst.nn.parser_network import Network, network_of
from easyfirst.nn.scorer import slot_weights
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import WordIds, encode_words

FORM_LENGTHS = [7, 3, 1]
N_RELATIONS = 11
CONFIGS = {
    "bottom-up": preset("bottom-up").network,
    "htlstm": preset("htlstm").network,
    "paper": preset("paper").network,
    "strong": dataclasses.replace(preset("strong").network, tags="both"),
    "gru": preset("paper", network={"rnn": "gru", "window": 1}).network,
    "elman": preset("strong", network={"rnn": "elman", "tags": "none"}).network,
}


class Counter:
    """A matrix product that counts multiply-adds from the shapes of its arguments."""

    def __init__(self) -> None:
        self.total = 0

    def matmul(self, x: Array, weights: Array) -> Array:
        product = np.matmul(x, weights)
        self.total += product.size * x.shape[-1]
        return product


def small_network(config: NetworkConfig) -> Network:
    sizes = Sizes(5, dict.fromkeys(config.tag_kinds, 3), N_RELATIONS, external=(4, 30), characters=6)
    return network_of(initial_parser(config, sizes, np.random.default_rng(0)), rnn=config.rnn)


def counted(network: Network, lengths: list[int]) -> int:
    """Count the products of a parse in which the first word always takes its neighbour."""
    counter = Counter()
    xp = dataclasses.replace(NUMPY, matmul=counter.matmul, lstm_layer=None)
    zeros = np.zeros(sum(lengths), dtype=np.int64)
    spelling = Spelling(np.zeros(sum(FORM_LENGTHS), dtype=np.int64), np.array(FORM_LENGTHS))
    has_characters = network.words.characters is not None
    ids = WordIds(zeros, zeros, (zeros,) * len(network.words.tags), zeros, spelling if has_characters else None)
    vectors = encode_words(xp, network.words, ids, Packing.of(lengths))
    states = trees.leaf_states(xp, network.trees, vectors)
    slots = slot_weights(network.scorer, network.n_slots)
    dim = network.trees.output_dim
    c = np.concatenate([states[trees.LEFT][:, -dim:], states[trees.RIGHT][:, -dim:]], axis=1)
    xp.matmul(c, slots)
    hidden = np.zeros((1, network.scorer.unlabelled.shape[0]), dtype=np.float32)
    k = network.n_slots // 2 - 1
    for length in lengths:
        pairs_to_score = length - 1
        for n_pending in range(length - 1, 1, -1):  # after each attachment except the last
            if network.trees.encode is not None:
                relations = np.zeros((1, network.trees.encode.shape[1]), dtype=np.float32)
                encoded = trees.encode_modifiers(xp, network.trees, c[:1], relations)
                trees.attach(xp, network.trees, states[trees.RIGHT][:1], encoded, side=trees.RIGHT)
                xp.matmul(c[:1, dim:], slots[dim:])
            pairs_to_score += sum(pair - k <= 0 for pair in range(n_pending - 1))  # windows that hold the first word
        for _ in range(pairs_to_score):
            xp.matmul(hidden, network.scorer.unlabelled)
            xp.matmul(hidden, network.scorer.labelled)
    return counter.total


@pytest.mark.parametrize("name", CONFIGS)
def test_short_sentences(name: str) -> None:
    """In sentences of up to k + 3 words every window holds every word, so the count is exact."""
    network = small_network(CONFIGS[name])
    lengths = [n for n in (5, 4, 4, 2, 1) if n <= CONFIGS[name].window + 3]
    assert multiply_adds(network, lengths, FORM_LENGTHS) == counted(network, lengths)


def test_long_sentences() -> None:
    """In longer sentences the count is a tight upper bound."""
    network = small_network(CONFIGS["strong"])
    found, bound = counted(network, [30, 12]), multiply_adds(network, [30, 12], FORM_LENGTHS)
    assert found < bound < 1.01 * found


def test_characters_and_deep_layers_count() -> None:
    """Reading characters, and layers that read both directions of the layer below, take more products."""
    strong = CONFIGS["strong"]
    full = multiply_adds(small_network(strong), [5], FORM_LENGTHS)
    for smaller in ({"spelling_dim": 0}, {"deep_bilstm": False}):
        assert multiply_adds(small_network(dataclasses.replace(strong, **smaller)), [5], FORM_LENGTHS) < full
