"""Reading and checking settings, and the training settings that tagger and tokenizer share."""

from __future__ import annotations

import dataclasses
import math
import reprlib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from easyfirst.errors import ConfigError

MAX_SIZE, MAX_LAYERS = 1 << 20, 64  # generous bounds that keep a damaged file from exhausting memory or time
MAX_VALUE = 2.0**63
MAX_GROWTH = 10  # by how many times a small treebank may multiply the epochs: more would learn it by heart
_Settings = typing.TypeVar("_Settings")


def require(holds: bool, message: str) -> None:
    """Raise a :class:`ConfigError` unless the condition holds."""
    if not holds:
        raise ConfigError(message)


def require_range(settings: object, names: Iterable[str], least: int, most: int) -> None:
    for name in names:
        require(least <= getattr(settings, name) <= most, f"{name} must be from {least} to {most:,}")


def build_settings(default: _Settings, values: object, prefix: str = "network.") -> _Settings:
    """Replace some settings of a dataclass. Raise a :class:`ConfigError` if one is unknown or of the wrong type, with
    ``prefix`` before its name, as users write it."""
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
            raise ConfigError(f"{prefix}{key} must be of type {wanted.__name__}, not {reprlib.repr(value)}")
    try:
        return dataclasses.replace(typing.cast(Any, default), **settings)
    except ConfigError as error:  # starts with the name
        raise ConfigError(f"{prefix}{error}") from None


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """Adam with a decaying learning rate, weight averaging and dropout."""

    epochs: int = 20  # at least; see min_updates
    min_updates: int = 0  # small treebanks are trained for more epochs, until there are so many updates
    patience: float = 0.0  # stop if dev has not improved for this share of all epochs; 0: never
    seed: int = 1
    learning_rate: float = 0.002
    final_rate: float = 0.05  # the final learning rate as a share of the initial one; the decay is linear
    adam_beta1: float = 0.9
    adam_beta2: float = 0.95
    clip_norm: float = 5.0
    weight_decay: float = 1e-6  # the share of every dense weight that an update removes
    averaging: float = 0.999  # the decay of the exponential moving average of the weights that is kept; 0: no averaging
    dropout: float = 0.33

    def __post_init__(self) -> None:
        check_training(self)


def within_budget(settings: _Settings, updates_an_epoch: float) -> _Settings:
    """Return training settings with enough epochs for ``min_updates``, but at most ``MAX_GROWTH`` times as many."""
    of_all: Any = settings
    n_epochs = math.ceil(of_all.min_updates / max(updates_an_epoch, 1))
    return dataclasses.replace(of_all, epochs=max(of_all.epochs, min(n_epochs, MAX_GROWTH * of_all.epochs)))


def check_finite(settings: object) -> None:
    """Raise a :class:`ConfigError` if a number of a dataclass is not finite."""
    for name, value in dataclasses.asdict(settings).items():  # pyright: ignore[reportArgumentType]
        if isinstance(value, int | float):
            require(-MAX_VALUE <= value <= MAX_VALUE, f"{name} must be a finite number")


def check_training(settings: Any) -> None:
    """Check the training settings that all parts have."""
    check_finite(settings)
    require(settings.epochs >= 1, "epochs must be at least 1")
    require(settings.min_updates >= 0, "min_updates must not be negative")
    require(0 <= settings.patience <= 1, "patience must be between 0 and 1")
    require(0 <= settings.seed < 2**63, "seed must be a non-negative 63-bit integer")
    require(settings.learning_rate > 0, "learning_rate must be positive")
    require(0 <= settings.adam_beta1 < 1 and 0 <= settings.adam_beta2 < 1, "Adam's betas must be in [0, 1)")
    require(settings.clip_norm > 0, "clip_norm must be positive")
    require(0 < settings.final_rate <= 1, "final_rate must be above 0 and at most 1")
    for name in ("weight_decay", "averaging", "dropout"):
        require(0 <= getattr(settings, name) < 1, f"{name} must be in [0, 1)")
