"""The tokenizer's settings: the sizes of its network, and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.model.settings import MAX_LAYERS, MAX_SIZE, TrainingSettings, require, require_range


@dataclass(frozen=True, slots=True)
class TokenizerConfig:
    """The architecture of the tokenizer's network."""

    character_dim: int = 32
    min_count: int = 5  # rarer characters share the embedding of their Unicode category
    hidden_dim: int = 64  # the width of each direction of the BiLSTM over characters
    character_layers: int = 1
    token_dim: int = 64  # the width of each direction of the BiLSTM over tokens
    token_layers: int = 1

    def __post_init__(self) -> None:
        require_range(self, ("character_dim", "hidden_dim", "token_dim"), 1, MAX_SIZE)
        require_range(self, ("character_layers", "token_layers"), 1, MAX_LAYERS)
        require(self.min_count >= 1, "min_count must be at least 1")


@dataclass(frozen=True, slots=True)
class TokenizerTraining(TrainingSettings):
    """The training settings of a tokenizer."""

    epochs: int = 18
    learning_rate: float = 0.004
    dropout: float = 0.2
    augmentation: float = 0.4  # an epoch adds augmented versions of this share of the paragraphs, on average

    def __post_init__(self) -> None:
        super(TokenizerTraining, self).__post_init__()  # a dataclass with slots is a new class, so name it
        require(0 <= self.augmentation <= 1, "augmentation must be from 0 to 1")
