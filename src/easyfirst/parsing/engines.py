"""Makes engines: the one place that decides which engine parses with given weights."""

from __future__ import annotations

from collections.abc import Mapping

from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import networks_of
from easyfirst.parsing.engine import Engine, NumpyEngine


def make_engine(
    arrays: Mapping[str, Floats],
    config: ParserConfig,
    vocabulary: ParserVocabulary,
    backend: Backend | None = None,
) -> Engine:
    """Make an engine for these weights; without a ``backend``, that of the environment is chosen."""
    backend = Backend.choose() if backend is None else backend
    core = backend.core_for(config.network.rnn)
    if core is None:
        return NumpyEngine.of(arrays, config, vocabulary)
    from easyfirst.parsing.native_engine import NativeEngine

    networks = networks_of(arrays, config.members, rnn=config.network.rnn)
    return NativeEngine(vocabulary, core, networks, backend.precision)
