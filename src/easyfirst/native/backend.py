"""The choice between the compiled core and NumPy, which all parts of a model share."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from easyfirst.errors import ConfigError, ModelError
from easyfirst.native.library import PRECISIONS, Core, find_core, why_missing

ENGINES = ("native", "numpy")
ENGINE_VARIABLE, PRECISION_VARIABLE = "EASYFIRST_ENGINE", "EASYFIRST_PRECISION"
DEFAULT_PRECISION = "int8"


class Backend(NamedTuple):
    """What the networks run on."""

    core: Core | None  # None: NumPy
    precision: str = DEFAULT_PRECISION
    is_required: bool = False  # True: it is an error if the core cannot run a network; False: NumPy does

    @classmethod
    def choose(cls, engine: str | None = None, precision: str | None = None) -> Backend:
        """Return the backend with this name. What is not given is read from ``EASYFIRST_ENGINE`` and
        ``EASYFIRST_PRECISION``; the defaults are the core, if there is one, and 8-bit weights."""
        engine = _chosen(engine, ENGINE_VARIABLE, "engine", ENGINES)
        precision = _chosen(precision, PRECISION_VARIABLE, "precision", tuple(PRECISIONS)) or DEFAULT_PRECISION
        core = None if engine == "numpy" else find_core()
        if engine == "native" and core is None:
            raise ConfigError(f"there is no native engine: {why_missing()}; else use engine 'numpy'")
        return cls(core, precision, is_required=engine == "native")

    @classmethod
    def exact(cls) -> Backend:
        """Return the default backend with 32-bit weights, for training: its scores are those of the trained weights."""
        return cls.choose(precision="float32")

    def core_for(self, rnn: str) -> Core | None:
        """Return the core if it runs networks of this kind of RNN, or None if NumPy does."""
        if self.core is not None and rnn == "lstm":
            return self.core
        if self.is_required:
            raise ModelError(
                f"the native engine runs LSTMs only, and this model has {rnn.upper()} cells; use engine 'numpy'"
            )
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the choice: the core of another process, or NumPy if it has none, takes the place of this one's."""
        return Backend.choose, (
            "numpy" if self.core is None else "native" if self.is_required else None,
            self.precision,
        )

    def __str__(self) -> str:
        return "numpy" if self.core is None else f"native ({self.core.isa}, {self.precision})"


def describe_engine(name: str) -> str:
    """Describe an engine to users, who should know why the slower one is in use."""
    if name != "numpy" or os.environ.get(ENGINE_VARIABLE) == "numpy" or (why := why_missing()) is None:
        return name
    return f"{name} (slower, because {why})"


def _chosen(given: str | None, variable: str, what: str, choices: tuple[str, ...]) -> str | None:
    """Return the value that was given, or else that of an environment variable, if any."""
    value, name = (given, what) if given is not None else (os.environ.get(variable) or None, variable)
    if value is not None and value not in choices:
        raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    return value
