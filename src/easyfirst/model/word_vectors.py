"""External word vectors that are not trained on, kept once for all parts of a model, in eight bits a value.

Each vector is a row of whole numbers from -127 to 127 times a scale of its own. Parts are trained with the very values
that are stored, so nothing is lost between training and use.
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
from easyfirst.model.part import Part, load_part, save_part
from easyfirst.model.vocab import external_ids, numbered
from easyfirst.model.weights import checksum, round_rows
from easyfirst.nn.arrays import Floats, Ints

if TYPE_CHECKING:
    from easyfirst.model.vectors import Vectors

KIND = "easyfirst-vectors"


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors by form; row 0 is that of words without one."""

    rows: Mapping[str, int]
    """Form -> row, from 1."""
    values: npt.NDArray[np.int8]
    """(n_words, dim)"""
    scales: npt.NDArray[np.float16]
    """(n_words, 1)"""

    @classmethod
    def of(cls, vectors: Vectors) -> WordVectors:
        """Round to eight bits."""
        values, scales = round_rows(vectors.vectors)
        return cls({word: row for row, word in enumerate(vectors.words, 1)}, values, scales)

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


def same_vectors(one: WordVectors | None, other: WordVectors | None) -> bool:
    """Whether parts with these vectors can share them."""
    if one is None or other is None:
        return one is other
    return one.rows == other.rows and one.sha256 == other.sha256


def save_word_vectors(path: str | PathLike[str], vectors: WordVectors) -> None:
    arrays = {"values": vectors.values, "scales": vectors.scales}
    save_part(path, Part(KIND, {"network": {"dim": vectors.dim}}, {"words": list(vectors.rows)}, arrays))


def load_word_vectors(path: str | PathLike[str]) -> WordVectors:
    """Raises :class:`ModelError` if the directory does not hold what :func:`save_word_vectors` wrote."""
    part = load_part(path, KIND, _dim)
    try:
        rows = numbered(part.vocabulary.get("words"))
        values, scales = part.arrays["values"], part.arrays["scales"]
    except (KeyError, ValueError) as error:
        raise ModelError(f"{Path(path)} is damaged ({error})") from None
    dim = cast(int, _dim(part.settings.get("network", {})))
    if (values.shape, scales.shape) != ((len(rows), dim), (len(rows), 1)) or values.dtype != np.int8:
        raise ModelError(f"{Path(path)} is damaged: {len(rows)} words, but values of shape {values.shape}")
    if not np.isfinite(scales).all():
        raise ModelError(f"{Path(path)} holds values that are not finite numbers")
    return WordVectors(rows, cast("Any", values), cast("Any", scales))


def _dim(network: object) -> object:
    if not isinstance(network, Mapping):
        raise ConfigError("network must be a table of settings")
    return cast("Mapping[str, Any]", network).get("dim")
