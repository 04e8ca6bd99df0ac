"""How the parts that learn by cross-entropy (tokenizer, tagger) are trained: frozen settings, checked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from easyfirst.errors import ConfigError

LARGEST = 2.0**63


@dataclass(frozen=True, slots=True)
class LearningConfig:
    """Adam, a rate that falls, weights averaged over time, and dropout."""

    epochs: int = 20
    seed: int = 1
    learning_rate: float = 0.002
    final_rate: float = 0.05
    """The share of the learning rate that is left at the end; it falls in a straight line."""
    adam_beta1: float = 0.9
    adam_beta2: float = 0.95
    clip_norm: float = 5.0
    weight_decay: float = 1e-6
    """The share of every dense weight that an update takes away."""
    averaging: float = 0.999
    """The weights that are kept are a running average over the updates, with this memory; 0: the last ones."""
    dropout: float = 0.33

    def __post_init__(self) -> None:
        check_finite(self)
        _require(self.epochs >= 1, "epochs must be at least 1")
        _require(0 <= self.seed < 2**63, "seed must be a non-negative 63-bit integer")
        check_adam(self.learning_rate, self.adam_beta1, self.adam_beta2, self.clip_norm, self.weight_decay)
        check_regularisation(self.final_rate, self.averaging, self.dropout)


def check_finite(settings: object) -> None:
    """All numbers of a dataclass are finite."""
    for name, value in dataclasses.asdict(settings).items():  # pyright: ignore[reportArgumentType]
        if isinstance(value, int | float):
            _require(-LARGEST <= value <= LARGEST, f"{name} must be a finite number")


def check_adam(rate: float, beta1: float, beta2: float, clip_norm: float, weight_decay: float) -> None:
    _require(rate > 0, "learning_rate must be positive")
    _require(0 <= beta1 < 1 and 0 <= beta2 < 1, "Adam's betas must be in [0, 1)")
    _require(clip_norm > 0, "clip_norm must be positive")
    _require(0 <= weight_decay < 1, "weight_decay must be in [0, 1)")


def check_regularisation(final_rate: float, averaging: float, dropout: float) -> None:
    _require(0 < final_rate <= 1, "final_rate must be above 0 and at most 1")
    _require(0 <= averaging < 1, "averaging must be in [0, 1)")
    _require(0 <= dropout < 1, "dropout must be in [0, 1)")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ConfigError(message)
