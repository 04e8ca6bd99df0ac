"""Settings that all parts of a model share: how they are read and checked, and those of the optimizer."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easyfirst.errors import ConfigError

MAX_SIZE, MAX_LAYERS = 1 << 20, 64
"""Bounds that no network needs to pass, so that a damaged file cannot ask for all memory or time."""


def require(holds: bool, message: str) -> None:
    """Raise a :class:`ConfigError` unless the condition holds."""
    if not holds:
        raise ConfigError(message)


_Settings = typing.TypeVar("_Settings")


def build_settings(default: _Settings, values: object, prefix: str) -> _Settings:
    """A dataclass of settings with some of them changed; an unknown one, or one of the wrong type, is a
    :class:`ConfigError`. ``prefix``: what a user writes before their names."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{prefix.rstrip('.')} must be a table of settings")
    settings = typing.cast("Mapping[str, Any]", values)
    types_of = typing.get_type_hints(type(default))
    for key, value in settings.items():
        if key not in types_of:
            raise ConfigError(f"unknown setting {prefix}{key}; there are: {', '.join(types_of)}")
        wanted = types_of[key]
        is_right = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
        if not (is_right or (wanted is float and type(value) is int)):
            raise ConfigError(f"{prefix}{key} must be of type {wanted.__name__}, not {value!r}")
    try:
        return dataclasses.replace(typing.cast(Any, default), **settings)
    except ConfigError as error:  # which begins with the name
        raise ConfigError(f"{prefix}{error}") from None


LARGEST = 2.0**63


@dataclass(frozen=True, slots=True)
class TrainingSettings:
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
        require(self.epochs >= 1, "epochs must be at least 1")
        require(0 <= self.seed < 2**63, "seed must be a non-negative 63-bit integer")
        check_adam(self.learning_rate, self.adam_beta1, self.adam_beta2, self.clip_norm, self.weight_decay)
        check_regularisation(self.final_rate, self.averaging, self.dropout)


def check_finite(settings: object) -> None:
    """All numbers of a dataclass are finite."""
    for name, value in dataclasses.asdict(settings).items():  # pyright: ignore[reportArgumentType]
        if isinstance(value, int | float):
            require(-LARGEST <= value <= LARGEST, f"{name} must be a finite number")


def check_adam(rate: float, beta1: float, beta2: float, clip_norm: float, weight_decay: float) -> None:
    require(rate > 0, "learning_rate must be positive")
    require(0 <= beta1 < 1 and 0 <= beta2 < 1, "Adam's betas must be in [0, 1)")
    require(clip_norm > 0, "clip_norm must be positive")
    require(0 <= weight_decay < 1, "weight_decay must be in [0, 1)")


def check_regularisation(final_rate: float, averaging: float, dropout: float) -> None:
    require(0 < final_rate <= 1, "final_rate must be above 0 and at most 1")
    require(0 <= averaging < 1, "averaging must be in [0, 1)")
    require(0 <= dropout < 1, "dropout must be in [0, 1)")
