"""The network's arrays: their names and shapes, and their first values.

Weights are Glorot-uniform, as in the paper's toolkit, but for two gains that keep what a word brings from fading on its
way through two stacks of RNNs: gates at rest let half of it pass, so what RNNs read is doubled, and embeddings
start larger. Without them the first epoch is lost to growing the weights (docs/decisions.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from easyfirst.model.config import NetworkConfig
from easyfirst.nn.arrays import Floats
from easyfirst.nn.rnn import CELLS

EMBEDDING_GAIN = 3.0
EMBEDDING_LENGTH = EMBEDDING_GAIN * math.sqrt(2)
"""The mean length of a fresh embedding, whatever its width."""
RNN_INPUT_GAIN = 2.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows the look-up tables have."""

    words: int
    tags: dict[str, int]
    relations: int
    external: tuple[int, int] | None = None
    """Rows and columns of the external vectors."""


def parameter_shapes(config: NetworkConfig, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Every array of the network by name."""
    tag_kinds = config.tag_kinds
    external_dim = sizes.external[1] if sizes.external else 0
    input_dim = config.word_dim + external_dim + config.tag_dim * len(tag_kinds)
    shapes: dict[str, tuple[int, ...]] = {"words.embedding": (sizes.words, config.word_dim)}
    if sizes.external:
        shapes["words.external"] = sizes.external
    for kind in tag_kinds:
        shapes[f"words.{kind}"] = (sizes.tags[kind], config.tag_dim)
    shapes["words.project"] = (input_dim, config.vector_dim)
    shapes["words.bias"] = (config.vector_dim,)
    shapes |= _rnn_shapes(config, "words.rnn", config.vector_dim // 2, config.bilstm_layers)
    shapes["trees.padding"] = (config.vector_dim,)
    shapes |= _rnn_shapes(config, "trees.rnn", config.tree_dim, config.tree_layers)
    node_dim = config.vector_dim
    if config.tree_layers:
        node_dim = 2 * config.tree_dim
        shapes["trees.relation"] = (sizes.relations, config.relation_dim)
        shapes["trees.encode"] = (node_dim + config.relation_dim, config.vector_dim)
        shapes["trees.bias"] = (config.vector_dim,)
    shapes["scorer.hidden"] = (config.n_slots * node_dim, 2 * config.hidden_dim)
    shapes["scorer.hidden_bias"] = (2 * config.hidden_dim,)
    shapes["scorer.unlabelled"] = (config.hidden_dim, 2)
    shapes["scorer.unlabelled_bias"] = (2,)
    shapes["scorer.labelled"] = (config.hidden_dim, 2 * sizes.relations)
    shapes["scorer.labelled_bias"] = (2 * sizes.relations,)
    return shapes


def _rnn_shapes(config: NetworkConfig, prefix: str, dim: int, n_layers: int) -> dict[str, tuple[int, ...]]:
    n_gates = CELLS[config.rnn].n_gates
    shapes: dict[str, tuple[int, ...]] = {}
    input_dim = config.vector_dim
    for number in range(n_layers):
        shapes[f"{prefix}.{number}.input"] = (2, input_dim, n_gates * dim)
        shapes[f"{prefix}.{number}.recurrent"] = (2, dim, n_gates * dim)
        shapes[f"{prefix}.{number}.bias"] = (2, n_gates * dim)
        input_dim = dim
    return shapes


def initial_parameters(
    config: NetworkConfig, sizes: Sizes, rng: np.random.Generator, *, external: Floats | None = None
) -> dict[str, Floats]:
    """Fresh arrays; biases are zero (an LSTM's forget gate: one)."""
    arrays: dict[str, Floats] = {}
    for name, shape in parameter_shapes(config, sizes).items():
        if name == "words.external" and external is not None:
            arrays[name] = np.array(external, dtype=np.float32)
        elif name.endswith("bias"):
            arrays[name] = np.zeros(shape, dtype=np.float32)
            if config.rnn == "lstm" and ".rnn." in name:
                arrays[name][:, : shape[-1] // 4] = 1
        else:
            bound = _glorot_bound(name, shape, config)
            arrays[name] = rng.uniform(-bound, bound, size=shape).astype(np.float32)
            if name in ("words.upos", "words.xpos"):
                arrays[name][0] = 0  # the unknown tag, which training never meets
    return arrays


def _glorot_bound(name: str, shape: tuple[int, ...], config: NetworkConfig) -> float:
    if name in ("words.embedding", "words.external", "words.upos", "words.xpos"):
        return EMBEDDING_GAIN * math.sqrt(6 / shape[-1])  # every row is a vector of its own
    if name in ("trees.relation", "trees.padding"):
        return math.sqrt(6 / shape[-1])
    fan_in, fan_out = shape[-2], shape[-1]
    gain = 1.0
    if ".rnn." in name:
        fan_out //= CELLS[config.rnn].n_gates  # every gate is a matrix of its own
        gain = RNN_INPUT_GAIN if name.endswith(".input") else 1.0
    elif name == "scorer.hidden":
        fan_out //= 2  # MLP_U and MLP_L side by side
    return gain * math.sqrt(6 / (fan_in + fan_out))
