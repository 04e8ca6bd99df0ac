"""The parser's arrays: their names and shapes, and their initial values.

Weights are Glorot-uniform, as in the paper's toolkit, with two gains that keep the signal from fading in two stacks of
RNNs: sigmoid gates start near 1/2 and halve what passes, so the input weights of RNNs are doubled, and embeddings
start larger. Without the gains most of the first epoch is spent growing the weights (docs/decisions.md). With a
character encoder, word embeddings start at zero, so that rare words add no noise to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfirst.model.initial_values import embedding, glorot, rnn_array, rnn_shapes
from easyfirst.model.parser_config import NetworkConfig
from easyfirst.nn.arrays import Floats
from easyfirst.nn.rnn import CELLS

TABLES = ("words.embedding", "words.external", "words.upos", "words.xpos", "characters.embedding")
"""The embedding tables with sparse gradients."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The number of rows of the embedding tables."""

    words: int
    tags: dict[str, int]
    relations: int
    external: tuple[int, int] | None = None
    """The rows and columns of the external vectors."""
    characters: int = 0


def parser_shapes(config: NetworkConfig, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array by name."""
    tag_kinds = config.tag_kinds
    external_dim = sizes.external[1] if sizes.external else 0
    input_dim = config.word_dim + external_dim + config.tag_dim * len(tag_kinds) + 2 * config.spelling_dim
    shapes: dict[str, tuple[int, ...]] = {"words.embedding": (sizes.words, config.word_dim)}
    if sizes.external:
        shapes["words.external"] = sizes.external
    for kind in tag_kinds:
        shapes[f"words.{kind}"] = (sizes.tags[kind], config.tag_dim)
    if config.spelling_dim:
        shapes["characters.embedding"] = (sizes.characters, config.character_dim)
        shapes |= rnn_shapes("characters.rnn", config.character_dim, config.spelling_dim, 1)
    shapes["words.project"] = (input_dim, config.vector_dim)
    shapes["words.bias"] = (config.vector_dim,)
    n_gates = CELLS[config.rnn].n_gates
    stacks = {"words.rnn": config.bilstm_layers}
    if config.deep_bilstm:
        stacks = {f"words.rnn{number}": 1 for number in range(config.bilstm_layers)}
    for prefix, n_layers in stacks.items():
        shapes |= rnn_shapes(prefix, config.vector_dim, config.vector_dim // 2, n_layers, n_gates)
    shapes["trees.padding"] = (config.vector_dim,)
    shapes |= rnn_shapes("trees.rnn", config.vector_dim, config.tree_dim, config.tree_layers, n_gates)
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


def initial_parser(
    config: NetworkConfig, sizes: Sizes, rng: np.random.Generator, *, external: Floats | None = None
) -> dict[str, Floats]:
    """Initialise the arrays of one network. Biases are 0, those of an LSTM's forget gate 1."""
    arrays: dict[str, Floats] = {}
    for name, shape in parser_shapes(config, sizes).items():
        if name == "words.external" and external is not None:
            arrays[name] = np.array(external, dtype=np.float32)
        elif name == "words.embedding" and config.spelling_dim:
            arrays[name] = np.zeros(shape, dtype=np.float32)
        elif name == "characters.embedding":
            arrays[name] = glorot(rng, shape[-1], 0, shape)
        elif name in TABLES:
            arrays[name] = embedding(rng, *shape)
            if name in ("words.upos", "words.xpos"):
                arrays[name][0] = 0  # the unknown tag does not occur in training
        elif name in ("trees.relation", "trees.padding"):
            arrays[name] = glorot(rng, shape[-1], 0, shape)
        elif ".rnn" in name:
            n_gates = 4 if name.startswith("characters.") else CELLS[config.rnn].n_gates
            arrays[name] = rnn_array(rng, name, shape, n_gates=n_gates)
        elif name.endswith("bias"):
            arrays[name] = np.zeros(shape, dtype=np.float32)
        else:
            fan_out = shape[-1] // 2 if name == "scorer.hidden" else shape[-1]  # MLP_U and MLP_L share this matrix
            arrays[name] = glorot(rng, shape[-2], fan_out, shape)
    return arrays
