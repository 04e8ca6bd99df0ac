"""Training that starts from a trained parser instead of random weights (``--init``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from easyfirst.errors import ConfigError, DataError
from easyfirst.model.directory import WEIGHTS
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_store import load_parser
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.weight_files import stored_checksum
from easyfirst.nn.arrays import Floats
from easyfirst.training.crossing import LiftedSentences
from easyfirst.training.data import TrainingData


def initial_model(path: Path, lifted: LiftedSentences) -> tuple[ParserVocabulary, dict[str, Floats]]:
    """Return the vocabulary and a copy of the weights of a model. Raise a :class:`DataError` if the sentences have
    relations that it does not know."""
    model = load_parser(path)
    known = {*model.vocabulary.relations, None}
    for sentence in lifted.sentences:
        for i, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if head and relation not in known:
                message = f"the relation {relation!r} is unknown to the parser of {path}, which --init names; train a "
                raise DataError(message + "new parser", source=sentence.source, line=sentence.word_line(i))
    return model.vocabulary, {name: array.copy() for name, array in model.arrays.items()}


def init_checksum(path: Path) -> str:
    """Return the checksum of the weights of a model."""
    return stored_checksum(path / WEIGHTS)


def with_initial_model(path: Path, config: ParserConfig, data: TrainingData) -> tuple[ParserConfig, TrainingData]:
    """Return the settings and the data of a training that starts from a model: with its network, its way to encode
    crossing arcs, and its word vectors."""
    model = load_parser(path)
    if model.encoder is not None:
        raise ConfigError(
            f"--init {path} has a transformer encoder, which cannot be trained further; train a new parser"
        )
    if model.config.members > 1:
        raise ConfigError(f"--init {path} is an ensemble; name a model with a single parser")
    if data.vectors is not None or data.shared_vectors is not None:
        raise ConfigError("--embeddings and --init cannot be combined; the model has its own word vectors")
    frozen = model.vectors is not None or config.training.freeze_external
    training = replace(config.training, crossing=model.config.training.crossing, freeze_external=frozen)
    config = replace(config, network=model.config.network, training=training)
    return config, replace(data, shared_vectors=model.vectors)
