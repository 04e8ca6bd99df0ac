"""The file of a calibration, ``confidence.json``, beside the weights it was fitted for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from easyfirst.confidence.calibration import Calibration
from easyfirst.errors import ModelError
from easyfirst.json_values import table
from easyfirst.model.directory import CONFIDENCE, WEIGHTS, file_errors, from_json, read_file, to_json
from easyfirst.model.transaction import Changes
from easyfirst.model.weight_files import stored_checksum

CALIBRATION_KIND, FORMAT_VERSION = "easyfirst-confidence", 2
"""Format 1 had no margins over rivals that were lost earlier, and no relations."""
HINT = "delete it, then run 'easyfirst calibrate' again"


def write_calibration(changes: Changes, calibration: Calibration, weights: str) -> None:
    """Write the calibration of the weights with this checksum into the directory that is changed."""
    path = changes.directory / CONFIDENCE
    if path.exists() and not _is_calibration(path):
        raise ModelError(f"{path} is not a calibration of easyfirst and would be replaced; move it away first")
    header = {"kind": CALIBRATION_KIND, "format_version": FORMAT_VERSION}
    header["weights_sha256"] = weights
    changes.write(CONFIDENCE, to_json(header | calibration.to_dict(), indent=2))


def load_calibration(directory: Path) -> Calibration | None:
    """Return the calibration of the weights in the directory, or None if there is none for these weights."""
    path = directory / CONFIDENCE
    if not path.is_file():
        return None
    try:
        values = _read(path)
    except ModelError as error:
        raise ModelError(f"{error}; {HINT}") from None
    kind, weights = values.pop("kind", None), values.pop("weights_sha256", None)
    if kind != CALIBRATION_KIND or weights != stored_checksum(directory / WEIGHTS):
        return None
    version = values.pop("format_version", None)
    if version not in (1, FORMAT_VERSION):
        newest = f"this version of easyfirst reads formats up to {FORMAT_VERSION}"
        raise ModelError(f"{path} has format {version!r} and {newest}; {HINT}")
    try:
        return Calibration.from_dict(_of_format_1(values) if version == 1 else values)
    except ValueError as error:
        raise ModelError(f"{path} is damaged: {error}; {HINT}") from None


def _of_format_1(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a calibration in format 1 in the present format. It gives the same probabilities."""
    return values | {"relations": {}, "scales": table(values.get("scales"), "scales") | {"rivals": []}}


def remove_calibration(changes: Changes) -> None:
    """Remove the calibration from the directory that is changed."""
    path = changes.directory / CONFIDENCE
    if path.is_file() and _is_calibration(path):
        changes.remove(CONFIDENCE)


def _read(path: Path) -> dict[str, Any]:
    with file_errors(f"{path} cannot be read"):
        return from_json(read_file(path), path)


def _is_calibration(path: Path) -> bool:
    try:
        return _read(path).get("kind") == CALIBRATION_KIND
    except ModelError:
        return False
