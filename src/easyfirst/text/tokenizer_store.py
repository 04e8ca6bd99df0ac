"""A tokenizer's settings, alphabet and weights, and its directory (``easyfirst.model.part``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.config import MAX_LAYERS, MAX_SIZE, build_settings
from easyfirst.model.files import VOCABULARY
from easyfirst.model.parameters import embedding, glorot, rnn_arrays, rnn_shapes
from easyfirst.model.part import Part, load_part, save_part
from easyfirst.model.weights import check_arrays, restore
from easyfirst.nn.arrays import Floats
from easyfirst.nn.tokenizer import N_BOUNDARIES, N_QUESTIONS
from easyfirst.text.script import CATEGORIES, Script

KIND = "easyfirst-tokenizer"


@dataclass(frozen=True, slots=True)
class TokenizerConfig:
    """The sizes of the tokenizer's network."""

    character_dim: int = 32
    min_count: int = 5
    """Characters that training saw less often have no embedding of their own, only that of their category."""
    hidden_dim: int = 64
    """In each direction, of the BiLSTM over characters."""
    character_layers: int = 1
    token_dim: int = 64
    """In each direction, of the BiLSTM over tokens."""
    token_layers: int = 1

    def __post_init__(self) -> None:
        for name in ("character_dim", "hidden_dim", "token_dim"):
            _require(1 <= getattr(self, name) <= MAX_SIZE, f"{name} must be from 1 to {MAX_SIZE:,}")
        for name in ("character_layers", "token_layers"):
            _require(1 <= getattr(self, name) <= MAX_LAYERS, f"{name} must be from 1 to {MAX_LAYERS}")
        _require(self.min_count >= 1, "min_count must be at least 1")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TokenizerConfig:
        """From JSON; an unknown key or a value of the wrong type is a :class:`ConfigError`."""
        return build_settings(cls(), values, "network.")


@dataclass(frozen=True, slots=True)
class TokenizerModel:
    """Everything there is to a tokenizer."""

    config: TokenizerConfig
    script: Script
    arrays: Mapping[str, Floats]


def tokenizer_shapes(config: TokenizerConfig, script: Script) -> dict[str, tuple[int, ...]]:
    """Every array of the network by name."""
    hidden_dim, token_dim = config.hidden_dim, config.token_dim
    return {
        "characters.embedding": (len(CATEGORIES) + len(script.alphabet), config.character_dim),
        **rnn_shapes("characters.rnn", config.character_dim, hidden_dim, config.character_layers),
        "boundary.weights": (2 * hidden_dim, N_BOUNDARIES),
        "boundary.bias": (N_BOUNDARIES,),
        **rnn_shapes("tokens.rnn", 2 * hidden_dim, token_dim, config.token_layers),
        "question.weights": (2 * token_dim, N_QUESTIONS),
        "question.bias": (N_QUESTIONS,),
    }


def initial_tokenizer(config: TokenizerConfig, script: Script, rng: np.random.Generator) -> dict[str, Floats]:
    """Fresh arrays."""
    arrays: dict[str, Floats] = {}
    for name, shape in tokenizer_shapes(config, script).items():
        if name == "characters.embedding":
            arrays[name] = embedding(rng, shape[0], shape[1])
        elif name.endswith("weights"):
            arrays[name] = glorot(rng, shape[0], shape[1], shape)
        else:
            arrays[name] = np.zeros(shape, dtype=np.float32)
    arrays |= rnn_arrays(rng, "characters.rnn", config.character_dim, config.hidden_dim, config.character_layers)
    arrays |= rnn_arrays(rng, "tokens.rnn", 2 * config.hidden_dim, config.token_dim, config.token_layers)
    return arrays


def save_tokenizer(path: str | PathLike[str], model: TokenizerModel, *, bits: int = 32) -> None:
    """Write a tokenizer. ``bits``: of a stored weight."""
    check_arrays(model.arrays, tokenizer_shapes(model.config, model.script))
    save_part(path, Part(KIND, {"network": asdict(model.config)}, model.script.to_dict(), model.arrays), bits=bits)


def load_tokenizer_model(path: str | PathLike[str]) -> TokenizerModel:
    """Read a tokenizer."""
    directory = Path(path)
    part = load_part(directory, KIND, TokenizerConfig.from_dict)
    config = TokenizerConfig.from_dict(part.settings.get("network", {}))
    try:
        script = Script.from_dict(part.vocabulary)
    except ModelError as error:
        raise ModelError(f"{directory / VOCABULARY}: {error}") from None
    try:
        arrays = restore(part.arrays)
        check_arrays(arrays, tokenizer_shapes(config, script))
    except ModelError as error:
        raise ModelError(f"{directory}: {error}") from None
    return TokenizerModel(config, script, arrays)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ConfigError(message)
