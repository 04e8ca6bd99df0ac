"""Makes the engine that parses with the weights of a model."""

from __future__ import annotations

from collections.abc import Mapping

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
    if backend.core_for(config.network.rnn) is None:
        return NumpyEngine.of(arrays, config, vocabulary)
    return engine_of(vocabulary, backend, *networks_of(arrays, config.members, rnn=config.network.rnn))
