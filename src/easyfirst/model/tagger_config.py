"""The tagger's settings: the sizes of its network, and how it is trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easyfirst.errors import ConfigError
from easyfirst.model.settings import MAX_LAYERS, MAX_SIZE, TrainingSettings, build_settings, require
from easyfirst.nn.ensemble import MAX_MEMBERS


@dataclass(frozen=True, slots=True)
class TaggerConfig:
    """The sizes and parts of the tagger's network."""

    word_dim: int = 64
    min_count: int = 2
    """Words that training saw less often have no embedding of their own."""
    character_dim: int = 32
    spelling_dim: int = 64
    """In each direction, of the BiLSTM over characters; 0: characters are not read."""
    bilstm_dim: int = 128
    """In each direction."""
    bilstm_layers: int = 2
    external_dim: int = 0
    """The width of the external vectors; 0: there are none."""
    members: int = 1
    """Networks of these sizes, of which each has learnt alone, and which tag together."""

    def __post_init__(self) -> None:
        for name, least in (("word_dim", 1), ("character_dim", 1), ("spelling_dim", 0), ("bilstm_dim", 1)):
            require(least <= getattr(self, name) <= MAX_SIZE, f"{name} must be from {least} to {MAX_SIZE:,}")
        require(0 <= self.external_dim <= MAX_SIZE, f"external_dim must be from 0 to {MAX_SIZE:,}")
        require(1 <= self.bilstm_layers <= MAX_LAYERS, f"bilstm_layers must be from 1 to {MAX_LAYERS}")
        require(self.min_count >= 1, "min_count must be at least 1")
        require(1 <= self.members <= MAX_MEMBERS, f"members must be from 1 to {MAX_MEMBERS}")

    @property
    def input_dim(self) -> int:
        """What the BiLSTM reads of each word."""
        return self.word_dim + self.external_dim + 2 * self.spelling_dim

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TaggerConfig:
        """From JSON; an unknown key or a value of the wrong type is a :class:`ConfigError`."""
        return build_settings(cls(), values, "network.")


@dataclass(frozen=True, slots=True)
class TaggerTraining(TrainingSettings):
    """How a tagger learns."""

    epochs: int = 14
    learning_rate: float = 0.006
    adam_beta2: float = 0.99
    dropout: float = 0.4
    batch_words: int = 400
    """About how many words a batch has."""
    word_dropout: float = 0.25
    """alpha: a word seen n times becomes the unknown word with probability alpha / (n + alpha)."""

    def __post_init__(self) -> None:
        super(TaggerTraining, self).__post_init__()
        if self.batch_words < 1:
            raise ConfigError("batch_words must be at least 1")
        if self.word_dropout < 0:
            raise ConfigError("word_dropout must not be negative")
