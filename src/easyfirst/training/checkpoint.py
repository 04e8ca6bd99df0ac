"""A training run on disk: everything that is needed to go on, bit for bit, as if it had never stopped.

One file, written beside its place and renamed, so there is always a whole one. It holds the weights, the optimiser's
state, the random generator's, and the history so far.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy.typing as npt
import safetensors
import safetensors.numpy

from easyfirst.errors import ModelError
from easyfirst.model.directory import replace_file

FILE = "checkpoint.safetensors"
FORMAT_VERSION = 1
SHA256_DIGITS = 64


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a run after some epoch."""

    facts: dict[str, Any]
    """What can be written as JSON: settings, data, history, the random generator's state."""
    arrays: dict[str, npt.NDArray[Any]]


def save_checkpoint(directory: Path, checkpoint: Checkpoint) -> None:
    """Replace the directory's checkpoint."""
    facts = {"format_version": FORMAT_VERSION, **checkpoint.facts}
    data = safetensors.numpy.save(checkpoint.arrays, metadata={"facts": json.dumps(facts)})
    replace_file(directory / FILE, data)


def has_checkpoint(directory: Path) -> bool:
    return (directory / FILE).is_file()


def load_checkpoint(directory: Path) -> Checkpoint:
    """The directory's checkpoint; raises :class:`ModelError` if there is none or it is damaged."""
    path = directory / FILE
    if not has_checkpoint(directory):
        raise ModelError(f"{path}: no checkpoint to resume from; start without --resume")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            facts: dict[str, Any] = dict(json.loads((file.metadata() or {})["facts"]))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelError(f"{path}: this checkpoint is damaged ({error}); start again with --overwrite") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    if facts.pop("format_version", None) != FORMAT_VERSION:
        raise ModelError(f"{path}: this checkpoint is of another version of easyfirst; resume with that version")
    return Checkpoint(facts, arrays)


def differences(saved: Mapping[str, Any], given: Mapping[str, Any], prefix: str = "") -> str:
    """The names of the settings that are not the same, with what they were; checksums are not shown."""
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
