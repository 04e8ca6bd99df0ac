"""``weights.safetensors``: named arrays, a header that says what they belong to, and the checksum of their values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError, safe_open

from easyfirst.errors import ModelError
from easyfirst.model.files import from_json
from easyfirst.nn.arrays import Floats

Arrays = dict[str, npt.NDArray[Any]]

FLOATS = (np.dtype(np.float32), np.dtype(np.float16))
"""What weights may be stored as; once loaded they are float32."""

_STORED_TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8}
_HEADER = "easyfirst"  # one key only: the order of several would differ from file to file


def pack_weights(arrays: Mapping[str, npt.NDArray[Any]], *, network: Mapping[str, Any], vocabulary: bytes) -> bytes:
    """The content of the file. ``network`` and ``vocabulary`` are what the arrays belong to."""
    stored = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {
        "network": dict(network),
        "vocabulary_sha256": hashlib.sha256(vocabulary).hexdigest(),
        "arrays_sha256": checksum(stored),
    }
    return safetensors.numpy.save(stored, {_HEADER: json.dumps(header)})


def checksum(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Of all values, names and shapes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def read_weights(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The header, and the arrays as they are stored, which are those that were written."""
    arrays: Arrays = {}
    try:
        with cast(Any, safe_open(path, framework="np")) as file:
            header = _header_of(file.metadata(), path)
            for name in file.keys():  # noqa: SIM118 (not a dictionary)
                stored_type: str = file.get_slice(name).get_dtype()
                if stored_type not in _STORED_TYPES:
                    raise ModelError(f"{path}: {name} is stored as {stored_type}; only F32, F16 and I8 can be read")
                arrays[name] = np.array(file.get_tensor(name), dtype=_STORED_TYPES[stored_type], order="C")
    except SafetensorError as error:
        raise ModelError(f"{path} is damaged, cut short or not a safetensors file ({error})") from None
    if header.get("arrays_sha256") != checksum(arrays):
        raise ModelError(f"{path} is damaged: its values do not have the checksum in its header; fetch it again")
    return header, arrays


def stored_checksum(path: Path) -> str:
    """The checksum that the header has, without a look at the values."""
    try:
        with cast(Any, safe_open(path, framework="np")) as file:
            return str(_header_of(file.metadata(), path).get("arrays_sha256"))
    except SafetensorError as error:
        raise ModelError(f"{path} is damaged, cut short or not a safetensors file ({error})") from None


def _header_of(metadata: Mapping[str, str] | None, path: Path) -> dict[str, Any]:
    if not metadata or _HEADER not in metadata:
        raise ModelError(f"{path} belongs to a foreign model: its header says nothing of easyfirst")
    return from_json(metadata[_HEADER].encode(), path)


def check_arrays(arrays: Mapping[str, npt.NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """The arrays are those a network needs, and hold numbers."""
    if missing := sorted(shapes.keys() - arrays.keys()):
        raise ModelError(f"the weights lack {', '.join(missing)}")
    if extra := sorted(arrays.keys() - shapes.keys()):
        raise ModelError(f"the weights have arrays this network does not: {', '.join(extra)}")
    for name, array in arrays.items():
        if array.shape != shapes[name]:
            raise ModelError(f"{name} has shape {array.shape}, but network and vocabulary need {shapes[name]}")
        if array.dtype not in FLOATS:
            raise ModelError(f"{name} is of type {array.dtype}; float32 or float16 is needed")
        if not np.isfinite(array).all():
            raise ModelError(f"{name} holds values that are not finite numbers")


def as_float32(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Floats]:
    return {name: array.astype(np.float32, copy=False) for name, array in arrays.items()}
