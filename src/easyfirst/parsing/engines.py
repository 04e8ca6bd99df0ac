"""Makes engines: the one place that decides which engine parses with given weights."""

from __future__ import annotations

from collections.abc import Mapping

from easyfirst.errors import ModelError
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import networks_of
from easyfirst.parsing.engine import Engine, NumpyEngine
from easyfirst.parsing.native_engine import engine_of


def make_engine(
    arrays: Mapping[str, Floats],
    config: ParserConfig,
    vocabulary: ParserVocabulary,
    backend: Backend | None = None,
) -> Engine:
    """Make an engine for these weights; without a ``backend``, that of the environment is chosen."""
    backend = Backend.choose() if backend is None else backend
    cell = config.network.rnn
    if cell == "lstm":
        return engine_of(vocabulary, backend, *networks_of(arrays, config.members, rnn=cell))
    if backend.is_required:
        raise ModelError(
            f"the native engine runs LSTMs only, and this model has {cell.upper()} cells; use engine 'numpy'"
        )
    return NumpyEngine.of(arrays, config, vocabulary)
