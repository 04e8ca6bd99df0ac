"""``weights.safetensors``: named arrays and a header that identifies their network and vocabulary and has a checksum.

Weights are stored in 32, 16 or 8 bits and read as float32. In 8 bits, each row of a matrix is integers from -127 to
127 times a scale, and the scales are a separate array. Vectors and small matrices stay in 16 bits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.directory import from_json
from easyfirst.model.memory import gigabytes, memory_size
from easyfirst.model.tensor_files import TensorFile, TensorFileError, open_tensors, pack
from easyfirst.nn.arrays import Floats

Arrays = dict[str, npt.NDArray[Any]]
FLOATS = (np.dtype(np.float32), np.dtype(np.float16))  # the types of weights before they are stored
BITS = (32, 16, 8)
MAX_INT8 = 127
SCALES = ".scales"
MIN_QUANTIZED = 1024  # smaller arrays are not quantized to 8 bits
_STORED_TYPES = ("F32", "F16", "I8")
_HEADER = "easyfirst"  # a single key, because earlier versions did not keep the order of several


def pack_weights(arrays: Mapping[str, npt.NDArray[Any]], *, network: Mapping[str, Any], vocabulary: bytes) -> bytes:
    """Return the bytes of the file, with the arrays as they are (see :func:`quantize`)."""
    stored = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {
        "network": dict(network),
        "vocabulary_sha256": hashlib.sha256(vocabulary).hexdigest(),
        "arrays_sha256": checksum(stored),
    }
    return pack(stored, {_HEADER: json.dumps(header)})


def checksum(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the checksum of all names, types, shapes and values."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def read_weights(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays as stored, after checking the checksum."""
    arrays: Arrays = {}
    if (size := path.stat().st_size) > memory_size() // 2:  # twice: as stored, and as float32
        raise ModelError(
            f"{path} has {gigabytes(size)}, which is too large for the memory ({gigabytes(memory_size())})"
        )
    with _opened(path) as (file, header):
        for name, entry in file.entries.items():
            if entry.type not in _STORED_TYPES:
                raise ModelError(f"{path}: {name} is stored as {entry.type}; only F32, F16 and I8 can be read")
            arrays[name] = file.read(name)
    if header.get("arrays_sha256") != checksum(arrays):
        raise ModelError(f"{path} is damaged: its values do not have the checksum in its header; fetch it again")
    return header, arrays


def stored_checksum(path: Path) -> str:
    """Return the checksum in the header without reading the values."""
    with _opened(path) as (_, header):
        return str(header.get("arrays_sha256"))


@contextmanager
def _opened(path: Path) -> Generator[tuple[TensorFile, dict[str, Any]], None, None]:
    """Yield an open file and its header."""
    try:
        with open_tensors(path) as file:
            if _HEADER not in file.metadata:
                raise ModelError(f"{path} belongs to a foreign model: it has no easyfirst header")
            yield file, from_json(file.metadata[_HEADER].encode(), path)
    except TensorFileError as error:
        raise ModelError(f"{path} is damaged, cut short or not a safetensors file ({error})") from None


def quantize(arrays: Mapping[str, Floats], bits: int) -> Arrays:
    """Convert weights to so many bits, to be stored."""
    if bits not in BITS:
        raise ConfigError(f"weights are stored in 32, 16 or 8 bits, not {bits}")
    if bits == 32:
        return dict(arrays)
    stored: Arrays = {}
    for name, array in arrays.items():
        if bits == 8 and array.ndim > 1 and array.size >= MIN_QUANTIZED:
            stored[name], stored[name + SCALES] = quantize_rows(array)
        else:
            stored[name] = array.astype(np.float16)
    return stored


def dequantize(arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Undo :func:`quantize`, up to rounding. Float arrays become float32."""
    restored: Arrays = {}
    for name, array in arrays.items():
        if (scales := arrays.get(name + SCALES)) is not None:
            if scales.shape != (*array.shape[:-1], 1):
                raise ModelError(f"{name} has shape {array.shape}, but its scales {scales.shape}")
            restored[name] = array * scales.astype(np.float32)
        elif not (name.endswith(SCALES) and name.removesuffix(SCALES) in arrays):
            restored[name] = array.astype(np.float32) if array.dtype == np.float16 else array
    return restored


def quantize_rows(array: Floats, largest: int = MAX_INT8) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """Return integers from -largest to largest and the scale of each row (the last axis)."""
    wide = array.astype(np.float32)
    scales = np.maximum(np.abs(wide).max(axis=-1, keepdims=True) / largest, 1e-7).astype(np.float16)
    rounded = np.clip(np.rint(wide / scales.astype(np.float32)), -largest, largest)
    return rounded.astype(np.int8), scales


def check_arrays(arrays: Mapping[str, npt.NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise a :class:`ModelError` unless the arrays have exactly these names and shapes and finite values."""
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
