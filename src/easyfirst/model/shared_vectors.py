"""External word vectors that are not trained on, kept once for all parts of a model, in eight or four bits a value.

Each vector is a row of whole numbers, from -127 to 127 or from -7 to 7, times a scale of its own. Parts are trained
with the very values that are stored, so nothing is lost between training and use. Of values in four bits a byte holds
two, each as what is above -8: in the lower half that of an even column, in the upper half that of the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.lexicon import external_ids, numbered
from easyfirst.model.part import HALVED_FORMAT_VERSION, Part, load_part, save_part
from easyfirst.model.weight_files import LARGEST, checksum, round_rows
from easyfirst.nn.arrays import Floats, Ints

if TYPE_CHECKING:
    from easyfirst.model.embeddings import Embeddings

KIND = "easyfirst-vectors"
LARGEST_OF_BITS = {8: LARGEST, 4: 7}
_ZERO = 8  # of a value in four bits


@dataclass(frozen=True, slots=True)
class SharedVectors:
    """Vectors by form; row 0 is that of words without one."""

    rows: Mapping[str, int]
    """Form -> row, from 1."""
    values: npt.NDArray[np.int8]
    """(n_words, dim)"""
    scales: npt.NDArray[np.float16]
    """(n_words, 1)"""
    bits: int = 8
    """Of each value, when it is stored."""

    @classmethod
    def of(cls, vectors: Embeddings, bits: int = 8) -> SharedVectors:
        """Round to so many bits."""
        if bits not in LARGEST_OF_BITS:
            raise ConfigError(f"word vectors that stay as they are have 8 or 4 bits a number, not {bits}")
        values, scales = round_rows(vectors.vectors, LARGEST_OF_BITS[bits])
        return cls({word: row for row, word in enumerate(vectors.words, 1)}, values, scales, bits)

    @property
    def dim(self) -> int:
        return int(self.values.shape[1])

    @property
    def table(self) -> Floats:
        """(n_words + 1, dim), made anew at each call."""
        table = np.zeros((len(self.values) + 1, self.dim), dtype=np.float32)
        np.multiply(self.values, self.scales.astype(np.float32), out=table[1:])
        return table

    @property
    def sha256(self) -> str:
        """By which a part knows the vectors it was trained with."""
        return checksum({"values": self.values, "scales": self.scales})

    def ids(self, forms: Iterable[str]) -> Ints:
        """The row of each form: as written, else normalised, else 0."""
        return external_ids(self.rows, forms)


def same_vectors(one: SharedVectors | None, other: SharedVectors | None) -> bool:
    """Whether parts with these vectors can share them."""
    if one is None or other is None:
        return one is other
    return one.rows == other.rows and one.sha256 == other.sha256


def save_shared_vectors(path: str | PathLike[str], vectors: SharedVectors) -> None:
    network: dict[str, Any] = {"dim": vectors.dim}
    values, version = vectors.values, None
    if vectors.bits == 4:
        network["bits"] = 4
        values, version = _halved(values), HALVED_FORMAT_VERSION
    arrays = {"values": values, "scales": vectors.scales}
    save_part(path, Part(KIND, {"network": network}, {"words": list(vectors.rows)}, arrays), version=version)


def load_shared_vectors(path: str | PathLike[str]) -> SharedVectors:
    """Raises :class:`ModelError` if the directory does not hold what :func:`save_shared_vectors` wrote."""
    part = load_part(path, KIND, _dim_and_bits)
    try:
        rows = numbered(part.vocabulary.get("words"))
        values, scales = part.arrays["values"], part.arrays["scales"]
    except (KeyError, ValueError) as error:
        raise ModelError(f"{Path(path)} is damaged ({error})") from None
    dim, bits = _dim_and_bits(part.settings.get("network", {}))
    stored = (len(rows), dim if bits == 8 else _bytes_of(dim))
    if (values.shape, scales.shape) != (stored, (len(rows), 1)) or values.dtype != np.int8:
        raise ModelError(f"{Path(path)} is damaged: {len(rows)} words, but values of shape {values.shape}")
    if not np.isfinite(scales).all():
        raise ModelError(f"{Path(path)} holds values that are not finite numbers")
    whole = values if bits == 8 else _unhalved(values, dim)
    return SharedVectors(rows, cast("Any", whole), cast("Any", scales), bits)


def _halved(values: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """(n_words, dim) from -7 to 7, two of a row in a byte."""
    n_words, dim = values.shape
    codes = np.full((n_words, 2 * _bytes_of(dim)), _ZERO, dtype=np.uint8)
    codes[:, :dim] = values + _ZERO
    return (codes[:, ::2] | codes[:, 1::2] << 4).view(np.int8)


def _unhalved(values: npt.NDArray[np.int8], dim: int) -> npt.NDArray[np.int8]:
    """What :func:`_halved` was given."""
    codes = values.view(np.uint8)
    both = np.stack([codes & 15, codes >> 4], axis=-1).reshape(len(codes), 2 * codes.shape[1])
    return both[:, :dim].astype(np.int8) - np.int8(_ZERO)


def _bytes_of(dim: int) -> int:
    """Of a row in four bits a value."""
    return (dim + 1) // 2


def _dim_and_bits(network: object) -> tuple[int, int]:
    if not isinstance(network, Mapping):
        raise ConfigError("network must be a table of settings")
    settings = cast("Mapping[str, Any]", network)
    dim, bits = settings.get("dim"), settings.get("bits", 8)
    if type(dim) is not int or dim < 1:
        raise ConfigError(f"dim must be a whole number from 1, not {dim!r}")
    if type(bits) is not int or bits not in LARGEST_OF_BITS:
        raise ConfigError(f"bits must be 8 or 4, not {bits!r}")
    return dim, bits
