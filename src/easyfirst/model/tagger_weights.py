"""The tagger's arrays: their names and shapes, and their initial values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from easyfirst.model.initial_values import glorot, rnn_arrays, rnn_shapes
from easyfirst.model.tagger_config import TaggerConfig
from easyfirst.model.tagger_vocabulary import TaggerVocabulary
from easyfirst.nn.arrays import Floats
from easyfirst.nn.members import join_members


def tagger_shapes(config: TaggerConfig, vocabulary: TaggerVocabulary) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of the ensemble by name."""
    return join_members([_member_shapes(config, vocabulary)] * config.members)


def _member_shapes(config: TaggerConfig, vocabulary: TaggerVocabulary) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"words.embedding": (len(vocabulary.words) + 1, config.word_dim)}
    if config.spelling_dim:
        shapes["characters.embedding"] = (len(vocabulary.characters) + 1, config.character_dim)
    for prefix, input_dim, dim in _rnns(config):
        shapes |= rnn_shapes(prefix, input_dim, dim, 1)
    for kind, tags in vocabulary.tags.items():
        shapes[f"tagger.{kind}"] = (2 * config.bilstm_dim, len(tags))
        shapes[f"tagger.{kind}_bias"] = (len(tags),)
    return shapes


def _rnns(config: TaggerConfig) -> Iterator[tuple[str, int, int]]:
    """Yield (prefix, input_dim, dim) of each BiLSTM of one layer."""
    if config.spelling_dim:
        yield "characters.rnn", config.character_dim, config.spelling_dim
    for number in range(config.bilstm_layers):
        yield f"tagger.rnn{number}", 2 * config.bilstm_dim if number else config.input_dim, config.bilstm_dim


def initial_tagger(config: TaggerConfig, vocabulary: TaggerVocabulary, rng: np.random.Generator) -> dict[str, Floats]:
    """Initialise the arrays of one member. Word embeddings start at zero, so that rare words add no noise to the
    character and external vectors."""
    arrays: dict[str, Floats] = {}
    for name, shape in _member_shapes(config, vocabulary).items():
        if name == "words.embedding" or name.endswith("bias"):
            arrays[name] = np.zeros(shape, dtype=np.float32)
        elif name == "characters.embedding":
            arrays[name] = glorot(rng, shape[1], 0, shape)
        elif ".rnn" not in name:
            arrays[name] = glorot(rng, shape[0], shape[1], shape)
    for prefix, input_dim, dim in _rnns(config):
        arrays |= rnn_arrays(rng, prefix, input_dim, dim, 1)
    return arrays
