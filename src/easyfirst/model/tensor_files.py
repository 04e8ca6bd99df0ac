"""Files in the safetensors format, which hold named arrays and strings about them, and nothing that can be executed.

The first 8 bytes are the length of the header. The header is a JSON object with the type, the shape and the position of
each array, and the values follow without gaps: https://huggingface.co/docs/safetensors. This module needs only NumPy,
so that models also load where the compiled package of that name does not exist, such as in most versions of Pyodide.
It writes the same bytes as the package and makes the same checks when it reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike, fstat
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import numpy as np
import numpy.typing as npt

TYPES = {
    name: np.dtype(code)
    for name, code in {
        **{"BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "F16": "<f2", "I32": "<i4", "U32": "<u4"},
        **{"F32": "<f4", "C64": "<c8", "F64": "<f8", "I64": "<i8", "U64": "<u8"},
    }.items()
}
"""The types of NumPy, in the order of the format: a file has the arrays of the last ones first."""
_NAMES = {dtype: name for name, dtype in TYPES.items()}
_RANKS = {name: rank for rank, name in enumerate(TYPES)}
_METADATA = "__metadata__"
_LENGTH_BYTES = 8
_MAX_HEADER = 100_000_000  # bytes, as in the package


class TensorFileError(ValueError):
    """A file is not in the format, or it is damaged."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An array in a file: the name of its type, its shape, and the bytes it occupies after the header."""

    type: str
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TensorFile:
    """An open file whose header is checked. The arrays are in the order of their positions."""

    metadata: Mapping[str, str]
    entries: Mapping[str, Entry]
    _stream: BinaryIO
    _start: int

    def read(self, name: str) -> npt.NDArray[Any]:
        """Read an array."""
        entry = self.entries[name]
        if entry.type not in TYPES:
            raise TensorFileError(f"{name} is of type {entry.type}, which NumPy does not have")
        try:
            array = np.empty(entry.shape, TYPES[entry.type])
        except ValueError as error:  # too many dimensions, or too large ones in an array without values
            raise TensorFileError(f"{name} cannot have the shape {entry.shape}: {error}") from None
        values = array.reshape(-1).view(np.uint8)
        self._stream.seek(self._start + entry.start)
        if cast(Any, self._stream).readinto(values.data) != len(values):
            raise TensorFileError(f"the values of {name} are cut short")
        return array.astype(array.dtype.newbyteorder("="), copy=False)


def pack(arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a file."""
    stored = {name: (_type_of(name, array), array) for name, array in arrays.items()}
    order = sorted(stored, key=lambda name: (-_RANKS[stored[name][0]], name))
    header: dict[str, Any] = {} if metadata is None else {_METADATA: dict(metadata)}
    values: list[memoryview] = []
    end = 0
    for name in order:
        type_name, array = stored[name]
        values.append(np.asarray(array, TYPES[type_name], order="C").data)
        start, end = end, end + array.nbytes
        header[name] = {"dtype": type_name, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _LENGTH_BYTES)  # the values are aligned
    return b"".join([len(text).to_bytes(_LENGTH_BYTES, "little"), text, *values])


@contextmanager
def open_tensors(path: str | PathLike[str]) -> Generator[TensorFile, None, None]:
    """Open a file and check its header. Raise :class:`TensorFileError` if it is damaged."""
    with Path(path).open("rb") as stream:
        n_bytes = fstat(stream.fileno()).st_size
        length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
        start = _LENGTH_BYTES + length
        if n_bytes < _LENGTH_BYTES or length > _MAX_HEADER or start > n_bytes:
            raise TensorFileError("the header is longer than the file")
        header = _read_header(stream.read(length))
        metadata = _read_metadata(header.pop(_METADATA, None))
        entries = {name: _read_entry(name, value) for name, value in header.items()}
        entries = dict(sorted(entries.items(), key=lambda item: (item[1].start, item[1].end)))
        _check_positions(entries, n_bytes - start)
        yield TensorFile(metadata, entries, stream, start)


def _type_of(name: str, array: npt.NDArray[Any]) -> str:
    if (type_name := _NAMES.get(array.dtype.newbyteorder("<"))) is None:
        raise TypeError(f"{name} is of type {array.dtype}, which the format does not have")
    return type_name


def _read_header(text: bytes) -> dict[str, object]:
    if not text.startswith(b"{"):
        raise TensorFileError("the header is not a JSON object")
    try:
        return json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # invalid UTF-8 and invalid JSON are both ValueErrors
        raise TensorFileError(f"the header is not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs) or not all(map(_is_text, values)):
        raise ValueError("a name is repeated or not valid Unicode")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _is_text(value: object) -> bool:
    """Return whether this is a string without single surrogates, which JSON can escape and no file can hold."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _read_metadata(value: object) -> dict[str, str]:
    """Check the strings about the arrays, which a file need not have."""
    values = cast("dict[str, object]", {} if value is None else value)
    if not isinstance(value, dict | None) or not all(map(_is_text, values.values())):
        raise TensorFileError(f"{_METADATA} must be strings")
    return cast("dict[str, str]", values)


def _read_entry(name: str, value: object) -> Entry:
    """Check one value of the header."""
    facts = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    kind, shape, offsets = facts.get("dtype"), _sizes(facts.get("shape")), _sizes(facts.get("data_offsets"))
    if not isinstance(kind, str) or shape is None or offsets is None or len(offsets) != 2:
        raise TensorFileError(f"the header lacks the type, the shape or the position of {name}")
    return Entry(kind, shape, *offsets)


def _sizes(value: object) -> tuple[int, ...] | None:
    """Return a list of whole numbers, or None if it is anything else. True and False are not numbers here."""
    values = cast("list[object]", value) if isinstance(value, list) else [None]
    sizes = tuple(size for size in values if type(size) is int and size >= 0)
    return sizes if len(sizes) == len(values) else None


def _check_positions(entries: Mapping[str, Entry], n_bytes: int) -> None:
    """Check that the arrays fill the rest of the file without gaps, each with as many bytes as its shape needs."""
    ends = [0, *(entry.end for entry in entries.values())]
    for (previous, end), (name, entry) in zip(pairwise(ends), entries.items(), strict=True):
        if entry.start != previous or end < entry.start:
            raise TensorFileError(f"the values of {name} are not where those before them end")
        if entry.type in TYPES and math.prod(entry.shape) * TYPES[entry.type].itemsize != end - entry.start:
            raise TensorFileError(f"the shape of {name} does not fit its bytes")
    if ends[-1] != n_bytes:
        raise TensorFileError(f"it has {n_bytes:,} bytes of values, and its header names {ends[-1]:,}")
