"""Frozen external word vectors, stored once for all parts of a model and quantized to 8 or 4 bits.

Each vector is a row of integers, from -127 to 127 or from -7 to 7, times a scale. Parts are trained with the quantized
values, so storing loses nothing. In 4 bits, a byte holds two values plus 8: the lower half an even column, the upper
half the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from easyfirst.errors import ConfigError, ModelError
from easyfirst.json_values import checking, table, whole_number
from easyfirst.model.lexicon import numbered, rows_from_json
from easyfirst.model.part import FOUR_BIT_FORMAT_VERSION, VECTORS, Part, load_part, write_part
from easyfirst.model.transaction import Changes, replacing
from easyfirst.model.weight_files import MAX_INT8, checksum, quantize_rows
from easyfirst.nn.arrays import Floats

if TYPE_CHECKING:
    from easyfirst.model.embeddings import Embeddings

KIND = "easyfirst-vectors"
MAX_OF_BITS = {8: MAX_INT8, 4: 7}
_ZERO = 8  # the code of 0 in 4 bits


@dataclass(frozen=True)
class SharedVectors:
    """Quantized vectors by form. Row 0 is for forms without a vector."""

    rows: Mapping[str, int]  # form -> row, from 1
    values: npt.NDArray[np.int8]  # (n_words, dim)
    scales: npt.NDArray[np.float16]  # (n_words, 1)
    bits: int = 8

    @classmethod
    def of(cls, vectors: Embeddings, bits: int = 8) -> SharedVectors:
        """Quantize vectors to 8 or 4 bits."""
        if bits not in MAX_OF_BITS:
            raise ConfigError(f"frozen word vectors have 8 or 4 bits a number, not {bits}")
        values, scales = quantize_rows(vectors.vectors, MAX_OF_BITS[bits])
        return cls(numbered(vectors.words), values, scales, bits)

    @property
    def dim(self) -> int:
        return int(self.values.shape[1])

    @property
    def table(self) -> Floats:
        """The dequantized table, (n_words + 1, dim), computed at each access."""
        table = np.zeros((len(self.values) + 1, self.dim), dtype=np.float32)
        np.multiply(self.values, self.scales.astype(np.float32), out=table[1:])
        return table

    @cached_property
    def sha256(self) -> str:
        """The checksum by which parts refer to the vectors they were trained with."""
        return checksum({"values": self.values, "scales": self.scales})


def same_vectors(one: SharedVectors | None, other: SharedVectors | None) -> bool:
    """Return whether two parts use the same vectors, or both none."""
    if one is None or other is None:
        return one is other
    return one.rows == other.rows and one.sha256 == other.sha256


def save_shared_vectors(path: str | PathLike[str], vectors: SharedVectors) -> None:
    """Write vectors to a directory."""
    with replacing(Path(path)) as changes:
        write_shared_vectors(changes, vectors, folder="")


def write_shared_vectors(changes: Changes, vectors: SharedVectors, folder: str = VECTORS) -> None:
    """Write vectors into a folder of the model that is changed."""
    network: dict[str, Any] = {"dim": vectors.dim}
    values, version = vectors.values, None
    if vectors.bits == 4:
        network["bits"] = 4
        values, version = _pack_nibbles(values), FOUR_BIT_FORMAT_VERSION
    arrays = {"values": values, "scales": vectors.scales}
    part = Part(KIND, {"network": network}, {"words": list(vectors.rows)}, arrays)
    write_part(changes, part, folder, version=version)


def load_shared_vectors(path: str | PathLike[str]) -> SharedVectors:
    part, (dim, bits) = load_part(path, KIND, _dim_and_bits)
    with checking(str(Path(path))):
        rows = rows_from_json(part.vocabulary["words"], "words")
        values, scales = part.arrays["values"], part.arrays["scales"]
    stored = (len(rows), dim if bits == 8 else (dim + 1) // 2)
    if (values.shape, scales.shape) != (stored, (len(rows), 1)) or values.dtype != np.int8:
        raise ModelError(f"{Path(path)} is damaged: {len(rows)} words, but values of shape {values.shape}")
    if not np.isfinite(scales).all():
        raise ModelError(f"{Path(path)} holds values that are not finite numbers")
    whole = values if bits == 8 else _unpack_nibbles(values, dim)
    return SharedVectors(rows, cast("Any", whole), cast("Any", scales), bits)


def _pack_nibbles(values: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Store values from -7 to 7 two to a byte: (n_words, dim) -> (n_words, bytes)."""
    n_words, dim = values.shape
    codes = np.full((n_words, dim + dim % 2), _ZERO, dtype=np.uint8)
    codes[:, :dim] = values + _ZERO
    return (codes[:, ::2] | codes[:, 1::2] << 4).view(np.int8)


def _unpack_nibbles(values: npt.NDArray[np.int8], dim: int) -> npt.NDArray[np.int8]:
    """Undo :func:`_pack_nibbles`."""
    codes = values.view(np.uint8)
    both = np.empty((*codes.shape, 2), dtype=np.uint8)
    np.bitwise_and(codes, 15, out=both[..., 0])
    np.right_shift(codes, 4, out=both[..., 1])
    whole = both.reshape(len(codes), 2 * codes.shape[1]).view(np.int8)
    whole -= np.int8(_ZERO)
    return np.ascontiguousarray(whole[:, :dim])


def _dim_and_bits(network: object) -> tuple[int, int]:
    settings = table(network, "network")
    bits = whole_number(settings.get("bits", 8), "bits")
    if bits not in MAX_OF_BITS:
        raise ValueError(f"bits must be 8 or 4, not {bits}")
    return whole_number(settings.get("dim"), "dim", least=1), bits
