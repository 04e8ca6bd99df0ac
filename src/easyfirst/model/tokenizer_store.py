"""The tokenizer's arrays, and loading and saving tokenizers (``easyfirst.model.part``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np

from easyfirst.model.directory import VOCABULARY, errors_in
from easyfirst.model.initial_values import embedding, glorot, rnn_arrays, rnn_shapes
from easyfirst.model.memory import check_trainable
from easyfirst.model.part import TOKENIZER, Part, load_part, write_part
from easyfirst.model.settings import build_settings
from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.model.tokenizer_vocabulary import CATEGORIES, TokenizerVocabulary
from easyfirst.model.transaction import Changes, replacing
from easyfirst.model.weight_files import check_arrays, dequantize
from easyfirst.nn.arrays import Floats
from easyfirst.nn.tokenizer_network import N_BOUNDARIES, N_QUESTIONS

KIND = "easyfirst-tokenizer"


@dataclass(frozen=True, slots=True)
class TokenizerModel:
    """A tokenizer with its settings, vocabulary and weights."""

    config: TokenizerConfig
    vocabulary: TokenizerVocabulary
    arrays: Mapping[str, Floats]


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
    shapes = tokenizer_shapes(config, vocabulary)
    check_trainable(shapes)
    for name, shape in shapes.items():
        if name == "characters.embedding":
            arrays[name] = embedding(rng, shape[0], shape[1])
        elif name.endswith("weights"):
            arrays[name] = glorot(rng, shape[0], shape[1], shape)
        else:
            arrays[name] = np.zeros(shape, dtype=np.float32)
    return arrays | rnn_arrays(rng, shapes)


def save_tokenizer(path: str | PathLike[str], model: TokenizerModel, *, bits: int = 32) -> None:
    """Write a tokenizer to a directory (:func:`write_tokenizer`)."""
    with replacing(Path(path)) as changes:
        write_tokenizer(changes, model, folder="", bits=bits)


def write_tokenizer(changes: Changes, model: TokenizerModel, folder: str = TOKENIZER, *, bits: int = 32) -> None:
    """Write a tokenizer into a folder of the model that is changed, with weights of so many bits."""
    check_arrays(model.arrays, tokenizer_shapes(model.config, model.vocabulary))
    part = Part(KIND, {"network": asdict(model.config)}, model.vocabulary.to_dict(), model.arrays)
    write_part(changes, part, folder, bits=bits)


def load_tokenizer(path: str | PathLike[str]) -> TokenizerModel:
    part, config = load_part(path, KIND, partial(build_settings, TokenizerConfig()))
    with errors_in(Path(path, VOCABULARY)):
        vocabulary = TokenizerVocabulary.from_dict(part.vocabulary)
    with errors_in(Path(path)):
        arrays = dequantize(part.arrays)
        check_arrays(arrays, tokenizer_shapes(config, vocabulary))
    return TokenizerModel(config, vocabulary, arrays)
