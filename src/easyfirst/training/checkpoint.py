"""A checkpoint: everything that a training run needs to continue bit for bit.

It is one file with the weights, the state of the optimizer and of the random generator, and the history. The file is
written under another name and then renamed, so an interrupted write never damages it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy.typing as npt

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.directory import replace_file
from easyfirst.model.tensor_files import open_tensors, pack

FILE = "checkpoint.safetensors"
FORMAT_VERSION = 1
SHA256_DIGITS = 64


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a run after an epoch."""

    facts: dict[str, Any]  # what JSON can hold: settings, data, history, the state of the random generator
    arrays: dict[str, npt.NDArray[Any]]

    def group(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays whose names begin with ``name/``, by the rest of their names."""
        prefix = f"{name}/"
        return {path.removeprefix(prefix): array for path, array in self.arrays.items() if path.startswith(prefix)}


def save_checkpoint(directory: Path, checkpoint: Checkpoint) -> None:
    """Write the directory's checkpoint, or replace it."""
    facts = {"format_version": FORMAT_VERSION, **checkpoint.facts}
    data = pack(checkpoint.arrays, {"facts": json.dumps(facts)})
    replace_file(directory / FILE, data)


def has_checkpoint(directory: Path) -> bool:
    """Return whether the directory has a checkpoint."""
    return (directory / FILE).is_file()


def load_checkpoint(directory: Path) -> Checkpoint:
    """Read the directory's checkpoint; raise :class:`ModelError` if it is missing or damaged."""
    path = directory / FILE
    if not has_checkpoint(directory):
        raise ModelError(f"{path}: no checkpoint to resume from; start without --resume")
    try:
        with open_tensors(path) as file:
            facts: dict[str, Any] = dict(json.loads(file.metadata["facts"]))
            arrays = {name: file.read(name) for name in file.entries}
    except (KeyError, ValueError, TypeError) as error:
        raise ModelError(f"{path}: this checkpoint is damaged ({error}); start again with --overwrite") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    if facts.pop("format_version", None) != FORMAT_VERSION:
        raise ModelError(
            f"{path}: another version of easyfirst wrote this checkpoint; resume with that version, or start again "
            "with --overwrite"
        )
    return Checkpoint(facts, arrays)


def require_same(what: str, saved: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise :class:`ConfigError` if the settings or data of a checkpoint are not those given now."""
    if other := differences(saved, given):
        raise ConfigError(f"the run used different {what} ({other}); resume with the same {what}")


def differences(saved: Mapping[str, Any], given: Mapping[str, Any], prefix: str = "") -> str:
    """Return the names of the values that differ, with the saved values; checksums are left out."""
    found: list[str] = []
    for name in dict.fromkeys((*saved, *given)):
        was, now = saved.get(name), given.get(name)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            inner = cast("Mapping[str, Any]", was), cast("Mapping[str, Any]", now)
            found.append(differences(*inner, f"{prefix}{name}."))
        elif was != now:
            is_checksum = isinstance(was, str) and len(was) == SHA256_DIGITS
            found.append(f"{prefix}{name}" if is_checksum else f"{prefix}{name} was {was}")
    return ", ".join(filter(None, found))
