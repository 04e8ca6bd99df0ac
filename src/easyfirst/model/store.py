"""A model is a directory: ``config.json``, ``vocab.json``, ``weights.safetensors`` and ``README.md`` (the card).

Nothing is ever unpickled, and whatever is wrong with a directory is a :class:`ModelError`.

Each file is replaced in one step, and the weights say in their header which network and which vocabulary they belong
to, and the checksum of their values. So:

* weights of the same network and vocabulary can be replaced alone, after every epoch, and so can ``config.json`` when
  only training settings change: a process killed at any moment leaves a model that loads;
* while another model is written over an old one, a mixture of the two is noticed and refused;
* ``config.json`` is written first, to mark the directory as ours, and the card last: it may be older than the
  weights, but never promises scores of weights that are not there.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError, safe_open

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.config import Config, NetworkConfig
from easyfirst.model.files import (
    CARD,
    CONFIG,
    KIND,
    VOCABULARY,
    WEIGHTS,
    from_json,
    prepare_directory,
    replace_file,
    require_model,
    to_json,
)
from easyfirst.model.parameters import Sizes, parameter_shapes
from easyfirst.model.vocab import Vocabulary
from easyfirst.nn.arrays import Floats

FORMAT_VERSION = 1

_STORED_TYPES = {"F32": np.float32, "F16": np.float16}
_HEADER = "easyfirst"  # one key only: the order of several would differ from file to file


@dataclass(frozen=True, slots=True)
class Model:
    """A network with its settings, its vocabulary, and the card that describes it."""

    config: Config
    vocabulary: Vocabulary
    arrays: dict[str, Floats]
    card: str = ""


def installed_version() -> str:
    """The version of this package, as installed."""
    try:
        return importlib.metadata.version("easyfirst")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def sizes_of(vocabulary: Vocabulary, external_shape: tuple[int, ...] | None) -> Sizes:
    """How large the look-up tables of a vocabulary are; ``external_shape`` is that of the external vectors' table."""
    tags = {kind: len(rows) + 1 for kind, rows in vocabulary.tags.items()}
    words, relations = len(vocabulary.words) + 1, len(vocabulary.relations)
    if external_shape is None and vocabulary.external is None:
        return Sizes(words, tags, relations)
    if external_shape is None or vocabulary.external is None:
        raise ModelError("the vocabulary and the weights must both have external vectors, or neither")
    if len(external_shape) != 2 or external_shape[0] != len(vocabulary.external) + 1:
        raise ModelError(
            f"the vocabulary has {len(vocabulary.external)} words with external vectors, which does not fit a table "
            f"of shape {external_shape}"
        )
    return Sizes(words, tags, relations, (external_shape[0], external_shape[1]))


def save_model(path: str | PathLike[str], model: Model) -> None:
    """Write a model; refuses one that could not be loaded again, and a directory that holds something else.

    Arrays of float16 are stored as such, and are float32 once they are loaded.
    """
    directory = Path(path)
    _check_arrays(model.arrays, model.config.network, model.vocabulary)
    settings = {"kind": KIND, "format_version": FORMAT_VERSION, "easyfirst_version": installed_version()}
    config = to_json(settings | model.config.to_dict(), indent=2)
    vocabulary = to_json(model.vocabulary.to_dict(), indent=None)
    weights = _pack_weights(model.arrays, model.config.network, vocabulary)
    prepare_directory(directory)
    replace_file(directory / CONFIG, config)
    replace_file(directory / VOCABULARY, vocabulary)
    replace_file(directory / WEIGHTS, weights)
    replace_file(directory / CARD, model.card.encode(errors="replace"))


def load_model(path: str | PathLike[str]) -> Model:
    """Read a model; its arrays are float32, writable and C-contiguous."""
    directory = Path(path)
    try:
        require_model(directory)
        config = _read_config(directory / CONFIG)
        vocabulary_bytes = (directory / VOCABULARY).read_bytes()
        vocabulary = _read_vocabulary(vocabulary_bytes, directory / VOCABULARY)
        arrays = _read_weights(directory / WEIGHTS, config.network, vocabulary_bytes)
        card = directory / CARD
        text = card.read_bytes().decode(errors="replace") if card.is_file() else ""
    except OSError as error:
        raise ModelError(f"{directory} cannot be read: {error.strerror or error}") from error
    try:
        _check_arrays(arrays, config.network, vocabulary)
    except ModelError as error:
        raise ModelError(f"{directory}: {error}") from None
    return Model(config, vocabulary, _as_float32(arrays), text)


# Settings and vocabulary: JSON


def _read_config(path: Path) -> Config:
    values = from_json(path.read_bytes(), path)
    if values.pop("kind", None) != KIND:
        raise ModelError(f"{path} belongs to a foreign model: easyfirst reads only models that it has trained")
    version, writer = values.pop("format_version", None), values.pop("easyfirst_version", "unknown")
    if type(version) is not int or version < 1:
        raise ModelError(f"{path} is damaged: format_version must be a whole number from 1, not {version!r}")
    if version > FORMAT_VERSION:
        raise ModelError(
            f"{path.parent} was written by a newer version of easyfirst ({writer}; format {version}, this one reads "
            f"up to {FORMAT_VERSION}); upgrade: pip install --upgrade easyfirst"
        )
    try:
        return Config.from_dict(values)
    except ConfigError as error:
        raise ModelError(f"{path}: {error} (written by easyfirst {writer}, this is {installed_version()})") from None


def _read_vocabulary(content: bytes, path: Path) -> Vocabulary:
    try:
        return Vocabulary.from_dict(from_json(content, path))
    except ModelError as error:
        raise ModelError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


# Weights: safetensors


def _pack_weights(arrays: Mapping[str, Floats], network: NetworkConfig, vocabulary: bytes) -> bytes:
    stored = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {
        "network": asdict(network),
        "vocabulary_sha256": hashlib.sha256(vocabulary).hexdigest(),
        "arrays_sha256": _checksum(stored),
    }
    return safetensors.numpy.save(stored, {_HEADER: json.dumps(header)})


def _checksum(arrays: Mapping[str, Floats]) -> str:
    """Of all values, names and shapes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}\n".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def _read_weights(path: Path, network: NetworkConfig, vocabulary: bytes) -> dict[str, Floats]:
    """The arrays as they are stored, which are those that were written, for this network and this vocabulary."""
    arrays: dict[str, Floats] = {}
    try:
        with cast(Any, safe_open(path, framework="np")) as file:
            header = _weights_header(file.metadata(), path)
            for name in file.keys():  # noqa: SIM118 (not a dictionary)
                stored_type: str = file.get_slice(name).get_dtype()
                if stored_type not in _STORED_TYPES:
                    raise ModelError(f"{path}: {name} is stored as {stored_type}; F32 or F16 is needed")
                arrays[name] = np.array(file.get_tensor(name), dtype=_STORED_TYPES[stored_type], order="C")
    except SafetensorError as error:
        raise ModelError(f"{path} is damaged, cut short or not a safetensors file ({error})") from None
    if header.get("arrays_sha256") != _checksum(arrays):
        raise ModelError(f"{path} is damaged: its values do not have the checksum in its header; fetch it again")
    if _network_of(header, path) != network:
        _refuse_mixture(path, CONFIG)
    if header.get("vocabulary_sha256") != hashlib.sha256(vocabulary).hexdigest():
        _refuse_mixture(path, VOCABULARY)
    return arrays


def _weights_header(metadata: Mapping[str, str] | None, path: Path) -> dict[str, Any]:
    if not metadata or _HEADER not in metadata:
        raise ModelError(f"{path} belongs to a foreign model: its header says nothing of easyfirst")
    return from_json(metadata[_HEADER].encode(), path)


def _network_of(header: Mapping[str, Any], path: Path) -> NetworkConfig:
    """The network the weights were written for; a setting they do not know has its default."""
    try:
        return Config.from_dict({"network": header.get("network")}).network
    except ConfigError as error:
        raise ModelError(f"{path}: {error}") from None


def _refuse_mixture(path: Path, other: str) -> NoReturn:
    raise ModelError(
        f"{path.parent}: {path.name} and {other} are of different models, or {other} was changed; "
        "writing or copying was interrupted: train or copy the model again"
    )


def _check_arrays(arrays: Mapping[str, Floats], network: NetworkConfig, vocabulary: Vocabulary) -> None:
    """The arrays are those of this network and vocabulary, and hold numbers."""
    if tuple(vocabulary.tags) != network.tag_kinds:
        raise ModelError(f"the network needs tags of {network.tags!r}, the vocabulary has {list(vocabulary.tags)}")
    external = arrays.get("words.external")
    shapes = parameter_shapes(network, sizes_of(vocabulary, None if external is None else external.shape))
    if missing := sorted(shapes.keys() - arrays.keys()):
        raise ModelError(f"the weights lack {', '.join(missing)}")
    if extra := sorted(arrays.keys() - shapes.keys()):
        raise ModelError(f"the weights have arrays this network does not: {', '.join(extra)}")
    for name, array in arrays.items():
        if array.shape != shapes[name]:
            raise ModelError(f"{name} has shape {array.shape}, but network and vocabulary need {shapes[name]}")
        if array.dtype not in _STORED_TYPES.values():
            raise ModelError(f"{name} is of type {array.dtype}; float32 or float16 is needed")
        if not np.isfinite(array).all():
            raise ModelError(f"{name} holds values that are not finite numbers")


def _as_float32(arrays: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: array.astype(np.float32, copy=False) for name, array in arrays.items()}
