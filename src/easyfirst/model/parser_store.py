"""Loading and saving parsers (``easyfirst.model.part``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy.typing as npt

from easyfirst.confidence.calibration import Calibration
from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.calibration_store import load_calibration, remove_calibration, save_calibration
from easyfirst.model.directory import CONFIG, KIND, VOCABULARY, errors_in, prepare_directory
from easyfirst.model.parser_config import NetworkConfig, ParserConfig
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.parser_weights import Sizes, parser_shapes
from easyfirst.model.part import VECTORS, Part, installed_version, load_part, save_part
from easyfirst.model.shared_vectors import SharedVectors, load_shared_vectors, save_shared_vectors
from easyfirst.model.weight_files import check_arrays, dequantize
from easyfirst.nn.arrays import Floats
from easyfirst.nn.members import join_members

EXTERNAL = "words.external"


@dataclass(frozen=True, slots=True)
class ParserModel:
    """A parser with its settings, vocabulary, weights and card."""

    config: ParserConfig
    vocabulary: ParserVocabulary
    arrays: dict[str, Floats]
    card: str = ""
    vectors: SharedVectors | None = None
    """Frozen external vectors, which the parts of a model share. They are in ``vocabulary`` and ``arrays`` too, but
    stored once, in a separate directory."""
    calibration: Calibration | None = None
    """The calibration that turns margins into probabilities, if fitted."""


def sizes_of(vocabulary: ParserVocabulary, external_shape: tuple[int, ...] | None) -> Sizes:
    """Return the sizes of the embedding tables; ``external_shape`` is the shape of the table of external vectors."""
    tags = {kind: len(rows) + 1 for kind, rows in vocabulary.tags.items()}
    words, relations = len(vocabulary.words) + 1, len(vocabulary.relations)
    characters = 0 if vocabulary.characters is None else len(vocabulary.characters) + 1
    if external_shape is None and vocabulary.external is None:
        return Sizes(words, tags, relations, characters=characters)
    if external_shape is None or vocabulary.external is None:
        raise ModelError("the vocabulary and the weights must both have external vectors, or neither")
    if len(external_shape) != 2 or external_shape[0] != len(vocabulary.external) + 1:
        raise ModelError(
            f"the vocabulary has {len(vocabulary.external)} words with external vectors, which does not fit a table "
            f"of shape {external_shape}"
        )
    return Sizes(words, tags, relations, (external_shape[0], external_shape[1]), characters)


def save_parser(path: str | PathLike[str], model: ParserModel, *, bits: int = 32) -> None:
    """Write a model with weights of so many bits (``easyfirst.model.weight_files``). Refuse a model that could not be
    loaded again and a directory that holds something else."""
    _check(model.arrays, model.config, model.vocabulary, shares=model.vectors is not None)
    prepare_directory(Path(path))
    remove_calibration(Path(path))  # before its weights are replaced
    settings, vocabulary, arrays = model.config.to_dict(), model.vocabulary, model.arrays
    if model.vectors is not None:
        save_shared_vectors(Path(path) / VECTORS, model.vectors)
        settings["vectors"] = model.vectors.sha256
        vocabulary = replace(vocabulary, external=None)
        arrays = {name: array for name, array in arrays.items() if name != EXTERNAL}
    save_part(path, Part(KIND, settings, vocabulary.to_dict(), arrays, model.card), bits=bits)
    if model.calibration is not None:
        save_calibration(Path(path), model.calibration)


def load_parser(path: str | PathLike[str]) -> ParserModel:
    """Read a model. Its arrays are float32, writable and C-contiguous."""
    directory = Path(path)
    part = load_part(directory, KIND, _network_of)
    settings = dict(part.settings)
    vectors = _load_vectors(directory, settings.pop("vectors", None))
    try:
        config = ParserConfig.from_dict(settings)
    except ConfigError as error:
        written = f"written by easyfirst {part.writer}, this is {installed_version()}"
        raise ModelError(f"{directory / CONFIG}: {error} ({written})") from None
    with errors_in(directory / VOCABULARY):
        vocabulary = ParserVocabulary.from_dict(part.vocabulary)
    if vectors is not None:
        vocabulary = replace(vocabulary, external=vectors.rows)
    with errors_in(directory):
        arrays = dequantize(part.arrays) | ({} if vectors is None else {EXTERNAL: vectors.table})
        _check(arrays, config, vocabulary, shares=vectors is not None)
    return ParserModel(config, vocabulary, arrays, part.card or "", vectors, load_calibration(directory))


def _load_vectors(directory: Path, sha256: object) -> SharedVectors | None:
    if sha256 is None:
        return None
    vectors = load_shared_vectors(directory / VECTORS)
    if vectors.sha256 != sha256:
        raise ModelError(
            f"{directory / VECTORS} are not the vectors the model was trained with; copy the whole model again"
        )
    return vectors


def _network_of(values: Mapping[str, Any]) -> NetworkConfig:
    return ParserConfig.from_dict({"network": values}).network


def _check(
    arrays: Mapping[str, npt.NDArray[Any]], config: ParserConfig, vocabulary: ParserVocabulary, *, shares: bool
) -> None:
    """Raise a :class:`ModelError` if the arrays do not fit these settings and this vocabulary. ``shares``: the members
    of an ensemble share one table of external vectors."""
    network = config.network
    if tuple(vocabulary.tags) != network.tag_kinds:
        raise ModelError(f"the network needs tags of {network.tags!r}, the vocabulary has {list(vocabulary.tags)}")
    if (vocabulary.characters is not None) != bool(network.spelling_dim):
        raise ModelError("the network and the vocabulary must both read characters, or neither")
    external = arrays.get(EXTERNAL)
    shapes = parser_shapes(network, sizes_of(vocabulary, None if external is None else external.shape))
    others = {name: shape for name, shape in shapes.items() if not (shares and name == EXTERNAL)}
    check_arrays(arrays, join_members([shapes, *[others] * (config.members - 1)]))
