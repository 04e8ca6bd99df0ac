"""The tokenizer's settings: the sizes of its network, and how it is trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easyfirst.model.settings import MAX_LAYERS, MAX_SIZE, TrainingSettings, build_settings, require


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
            require(1 <= getattr(self, name) <= MAX_SIZE, f"{name} must be from 1 to {MAX_SIZE:,}")
        for name in ("character_layers", "token_layers"):
            require(1 <= getattr(self, name) <= MAX_LAYERS, f"{name} must be from 1 to {MAX_LAYERS}")
        require(self.min_count >= 1, "min_count must be at least 1")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TokenizerConfig:
        """From JSON; an unknown key or a value of the wrong type is a :class:`ConfigError`."""
        return build_settings(cls(), values, "network.")


@dataclass(frozen=True, slots=True)
class TokenizerTraining(TrainingSettings):
    """How a tokenizer learns."""

    epochs: int = 18
    learning_rate: float = 0.004
    dropout: float = 0.2
