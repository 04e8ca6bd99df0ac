"""Directories of model parts: ``config.json``, ``vocab.json``, ``weights.safetensors`` and, for the parser, a card.

The parser's directory is the model's; tokenizer, tagger, vectors and transformer are directories in it. Nothing is
ever unpickled, and any problem with a directory is a :class:`ModelError`.

All files are replaced together (``easyfirst.model.transaction``), so a process killed at any moment leaves the old
part or the new one. The header of the weights identifies their network and vocabulary and has a checksum of their
values, so a mixture of two parts, as an interrupted copy may leave it, is detected and refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from easyfirst.errors import ConfigError, ModelError
from easyfirst.json_values import whole_number
from easyfirst.model.directory import (
    CARD,
    CONFIG,
    MAX_VOCABULARY,
    PART_FOLDERS,
    VOCABULARY,
    WEIGHTS,
    file_errors,
    from_json,
    read_file,
    refuse_others,
    require_model,
    to_json,
)
from easyfirst.model.transaction import Changes, replacing, settle
from easyfirst.model.weight_files import checksum, pack_weights, quantize, read_weights

FLOAT_FORMAT_VERSION, EIGHT_BIT_FORMAT_VERSION, FOUR_BIT_FORMAT_VERSION, MORPHOLOGY_FORMAT_VERSION = 1, 2, 3, 4
TRANSFORMER_FORMAT_VERSION = 5
"""Weights as floats of 16 or 32 bits, weights as 8-bit integers with scales, word vectors of 4 bits a number, taggers
that predict FEATS or LEMMA and parsers that read FEATS, and parsers with a transformer."""
FORMAT_VERSION = TRANSFORMER_FORMAT_VERSION  # the newest version that can be read
TOKENIZER, TAGGER, VECTORS, TRANSFORMER = PART_FOLDERS
_Network = TypeVar("_Network")


@dataclass(frozen=True, slots=True)
class Part:
    """The contents of a directory. Settings and vocabulary are unchecked JSON values."""

    kind: str  # ``easyfirst-parser``, ``easyfirst-tagger``...
    settings: Mapping[str, Any]  # settings, of which ``network`` determines the arrays
    vocabulary: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    card: str | None = None
    writer: str = "unknown"  # the version of easyfirst that wrote it


def installed_version() -> str:
    """Return the installed version of this package."""
    import importlib.metadata  # slow to import

    try:
        return importlib.metadata.version("easyfirst")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def save_part(path: str | PathLike[str], part: Part, *, bits: int = 32, version: int | None = None) -> None:
    """Write a part to a directory (:func:`write_part`)."""
    with replacing(Path(path)) as changes:
        write_part(changes, part, bits=bits, version=version)


def write_part(changes: Changes, part: Part, folder: str = "", *, bits: int = 32, version: int | None = None) -> str:
    """Write a part into a folder of the directory that is changed, and return the checksum of its arrays; refuse a
    folder that holds something else. Arrays are stored as they are, or quantized if ``bits`` is less than 32.
    ``version`` is the format version, if ``bits`` does not determine it."""
    header = {
        "kind": part.kind,
        "format_version": version or (EIGHT_BIT_FORMAT_VERSION if bits < 16 else FLOAT_FORMAT_VERSION),
        "easyfirst_version": installed_version(),
    }
    vocabulary = to_json(part.vocabulary, indent=None)
    stored = quantize(part.arrays, bits)
    refuse_others(changes.directory / folder, part.kind)
    place = f"{folder}/" if folder else ""
    changes.write(place + CONFIG, to_json(header | dict(part.settings), indent=2))
    changes.write(place + VOCABULARY, vocabulary)
    changes.write(place + WEIGHTS, pack_weights(stored, network=part.settings["network"], vocabulary=vocabulary))
    if part.card is not None:
        changes.write(place + CARD, part.card.encode(errors="replace"))
    return checksum(stored)


def load_part(path: str | PathLike[str], kind: str, read: Callable[[object], _Network]) -> tuple[Part, _Network]:
    """Return a part, with its arrays as stored, and its network's settings. ``read`` reads these and fills in defaults
    that older files do not have, so that the settings in config and weights can be compared."""
    directory = Path(path)
    with file_errors(f"{directory} cannot be read"):
        settle(directory)
        require_model(directory)
        settings, writer = _read_settings(directory / CONFIG, kind)
        vocabulary = read_file(directory / VOCABULARY, MAX_VOCABULARY)
        names = from_json(vocabulary, directory / VOCABULARY)
        header, arrays = read_weights(directory / WEIGHTS)
        card = directory / CARD
        text = read_file(card).decode(errors="replace") if card.is_file() else None
    written_for = _network_of(header.get("network"), read, directory / WEIGHTS)
    network = _network_of(settings.get("network", {}), read, directory / CONFIG)
    is_same_vocabulary = header.get("vocabulary_sha256") == hashlib.sha256(vocabulary).hexdigest()
    for other, fits in ((CONFIG, network == written_for), (VOCABULARY, is_same_vocabulary)):
        if not fits:
            raise ModelError(
                f"{directory}: {WEIGHTS} and {other} are of different models, or {other} was changed; "
                "writing or copying was interrupted: train or copy the model again"
            )
    return Part(kind, settings, names, arrays, text, writer), network


def _read_settings(path: Path, kind: str) -> tuple[dict[str, Any], str]:
    """Return the settings of a part and the version of easyfirst that wrote it."""
    values = from_json(read_file(path), path)
    found = values.pop("kind", None)
    if found != kind:
        if isinstance(found, str) and found.startswith("easyfirst-"):
            raise ModelError(f"{path.parent} is an {found}, and an {kind} is needed here; check the name")
        raise ModelError(f"{path} belongs to a foreign model: easyfirst reads only models trained with easyfirst")
    writer = values.pop("easyfirst_version", "unknown")
    try:
        version = whole_number(values.pop("format_version", None), "format_version", least=1)
    except ValueError as error:
        raise ModelError(f"{path} is damaged: {error}") from None
    if version > FORMAT_VERSION:
        raise ModelError(
            f"{path.parent} was written by a newer version of easyfirst ({writer}; format {version}, this one reads "
            f"up to {FORMAT_VERSION}); upgrade easyfirst"
        )
    return values, str(writer)


def _network_of(values: object, read: Callable[[object], _Network], path: Path) -> _Network:
    try:
        return read(values)
    except (ConfigError, ValueError) as error:
        raise ModelError(f"{path}: {error} (this is easyfirst {installed_version()})") from None
