"""A part of a model as a directory: ``config.json``, ``vocab.json``, ``weights.safetensors``; for the parser, a card.

The parser's directory is the model's; the others (tokenizer, tagger, vectors) are folders in it. Nothing is ever
unpickled, and whatever is wrong with a directory is a :class:`ModelError`.

Each file is replaced in one step, and the weights say in their header which network and which vocabulary they belong
to, and the checksum of their values. So:

* weights of the same network and vocabulary can be replaced alone, after every epoch, and so can ``config.json`` when
  only training settings change: a process killed at any moment leaves a part that loads;
* while another one is written over an old one, a mixture of the two is noticed and refused;
* ``config.json`` is written first, to mark the directory as ours, and the card last: it may be older than the
  weights, but never promises scores of weights that are not there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy.typing as npt

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.directory import (
    CARD,
    CONFIG,
    VOCABULARY,
    WEIGHTS,
    from_json,
    prepare_directory,
    replace_file,
    require_model,
    to_json,
)
from easyfirst.model.weight_files import pack_weights, read_weights, shrink

PLAIN_FORMAT_VERSION = 1
"""Of a part whose weights are numbers of 16 or 32 bits."""
ROUNDED_FORMAT_VERSION = 2
"""Of a part whose weights are whole numbers and scales."""
HALVED_FORMAT_VERSION = 3
"""Of word vectors with two numbers a byte."""
FORMAT_VERSION = HALVED_FORMAT_VERSION
"""The newest that can be read."""
TOKENIZER, TAGGER, VECTORS = "tokenizer", "tagger", "vectors"
"""The folders of a model's other parts."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a directory holds, not yet looked at: the settings and the vocabulary as JSON has them."""

    kind: str
    """The first thing ``config.json`` says: ``easyfirst-parser``, ``easyfirst-tagger``..."""
    settings: Mapping[str, Any]
    """With ``network``: the settings that decide which arrays there are."""
    vocabulary: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    card: str | None = None
    writer: str = "unknown"
    """The version of easyfirst that wrote it."""


def installed_version() -> str:
    """The version of this package, as installed."""
    import importlib.metadata  # which takes longer to import than all the rest of a model to load

    try:
        return importlib.metadata.version("easyfirst")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def save_part(path: str | PathLike[str], part: Part, *, bits: int = 32, version: int | None = None) -> None:
    """Write a part; refuses a directory that holds something else. Arrays are stored in the type they have, or in
    fewer ``bits``. ``version``: of the format, if the bits do not tell."""
    directory = Path(path)
    arrays = shrink(part.arrays, bits)
    header = {
        "kind": part.kind,
        "format_version": version or (ROUNDED_FORMAT_VERSION if bits < 16 else PLAIN_FORMAT_VERSION),
        "easyfirst_version": installed_version(),
    }
    vocabulary = to_json(part.vocabulary, indent=None)
    weights = pack_weights(arrays, network=part.settings["network"], vocabulary=vocabulary)
    prepare_directory(directory, part.kind)
    replace_file(directory / CONFIG, to_json(header | dict(part.settings), indent=2))
    replace_file(directory / VOCABULARY, vocabulary)
    replace_file(directory / WEIGHTS, weights)
    if part.card is not None:
        replace_file(directory / CARD, part.card.encode(errors="replace"))


def load_part(path: str | PathLike[str], kind: str, read_network: Callable[[Mapping[str, Any]], object]) -> Part:
    """Read a part; its arrays are as they were stored. ``read_network`` makes the network's settings comparable: one
    that an older file does not have gets its default."""
    directory = Path(path)
    try:
        require_model(directory)
        settings, writer = _read_settings(directory / CONFIG, kind)
        vocabulary = (directory / VOCABULARY).read_bytes()
        names = from_json(vocabulary, directory / VOCABULARY)
        header, arrays = read_weights(directory / WEIGHTS)
        card = directory / CARD
        text = card.read_bytes().decode(errors="replace") if card.is_file() else None
    except OSError as error:
        raise ModelError(f"{directory} cannot be read: {error.strerror or error}") from error
    written_for = _network_of(header.get("network"), read_network, directory / WEIGHTS)
    if written_for != _network_of(settings.get("network", {}), read_network, directory / CONFIG):
        _refuse_mixture(directory / WEIGHTS, CONFIG)
    if header.get("vocabulary_sha256") != hashlib.sha256(vocabulary).hexdigest():
        _refuse_mixture(directory / WEIGHTS, VOCABULARY)
    return Part(kind, settings, names, arrays, text, writer)


def _read_settings(path: Path, kind: str) -> tuple[dict[str, Any], str]:
    """All that a part says of itself, and the version of easyfirst that wrote it."""
    values = from_json(path.read_bytes(), path)
    found = values.pop("kind", None)
    if found != kind:
        if isinstance(found, str) and found.startswith("easyfirst-"):
            raise ModelError(f"{path.parent} is an {found}, and an {kind} is needed here; check the name")
        raise ModelError(f"{path} belongs to a foreign model: easyfirst reads only models that it has trained")
    version, writer = values.pop("format_version", None), values.pop("easyfirst_version", "unknown")
    if type(version) is not int or version < 1:
        raise ModelError(f"{path} is damaged: format_version must be a whole number from 1, not {version!r}")
    if version > FORMAT_VERSION:
        raise ModelError(
            f"{path.parent} was written by a newer version of easyfirst ({writer}; format {version}, this one reads "
            f"up to {FORMAT_VERSION}); upgrade: pip install --upgrade easyfirst"
        )
    return values, str(writer)


def _network_of(values: Any, read_network: Callable[[Mapping[str, Any]], object], path: Path) -> object:
    try:
        return read_network(values)
    except ConfigError as error:
        raise ModelError(f"{path}: {error} (this is easyfirst {installed_version()})") from None


def _refuse_mixture(path: Path, other: str) -> NoReturn:
    raise ModelError(
        f"{path.parent}: {path.name} and {other} are of different models, or {other} was changed; "
        "writing or copying was interrupted: train or copy the model again"
    )
