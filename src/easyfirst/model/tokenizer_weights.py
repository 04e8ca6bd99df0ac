"""The tokenizer's arrays: their names and shapes, and their initial values."""

from __future__ import annotations

import numpy as np

from easyfirst.model.initial_values import embedding, glorot, rnn_arrays, rnn_shapes
from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.model.tokenizer_vocabulary import CATEGORIES, TokenizerVocabulary
from easyfirst.nn.arrays import Floats
from easyfirst.nn.tokenizer_network import N_BOUNDARIES, N_QUESTIONS


def tokenizer_shapes(config: TokenizerConfig, vocabulary: TokenizerVocabulary) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array by name."""
    hidden_dim, token_dim = config.hidden_dim, config.token_dim
    return {
        "characters.embedding": (len(CATEGORIES) + len(vocabulary.alphabet), config.character_dim),
        **rnn_shapes("characters.rnn", config.character_dim, hidden_dim, config.character_layers),
        "boundary.weights": (2 * hidden_dim, N_BOUNDARIES),
        "boundary.bias": (N_BOUNDARIES,),
        **rnn_shapes("tokens.rnn", 2 * hidden_dim, token_dim, config.token_layers),
        "question.weights": (2 * token_dim, N_QUESTIONS),
        "question.bias": (N_QUESTIONS,),
    }


def initial_tokenizer(
    config: TokenizerConfig, vocabulary: TokenizerVocabulary, rng: np.random.Generator
) -> dict[str, Floats]:
    arrays: dict[str, Floats] = {}
    for name, shape in tokenizer_shapes(config, vocabulary).items():
        if name == "characters.embedding":
            arrays[name] = embedding(rng, shape[0], shape[1])
        elif name.endswith("weights"):
            arrays[name] = glorot(rng, shape[0], shape[1], shape)
        else:
            arrays[name] = np.zeros(shape, dtype=np.float32)
    arrays |= rnn_arrays(rng, "characters.rnn", config.character_dim, config.hidden_dim, config.character_layers)
    arrays |= rnn_arrays(rng, "tokens.rnn", 2 * config.hidden_dim, config.token_dim, config.token_layers)
    return arrays
