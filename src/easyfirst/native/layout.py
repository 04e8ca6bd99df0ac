"""Weights in the layout of the core: every width is padded with zeros to a multiple of 8, gates are exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from easyfirst.nn.arrays import Floats, Ints

WIDTH = 8
FACTORS = (-1, -1, -1, -2)
"""Exponent divided by pre-activation, for the forget, input and output gates and the candidate of an LSTM."""

Packed = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Places:
    """Where the numbers of a vector are in a padded one."""

    where: Ints
    size: int

    @classmethod
    def of(cls, *dims: int, padded: bool = True) -> Places:
        """Lay out vectors of these sizes side by side, each padded unless told otherwise."""
        sizes = [-(-dim // WIDTH) * WIDTH if padded else dim for dim in dims]
        starts = np.cumsum([0, *sizes])
        where = [start + np.arange(dim) for start, dim in zip(starts[:-1], dims, strict=True)]
        return cls(np.concatenate(where), int(starts[-1]))

    def beside(self, other: Places) -> Places:
        """Lay out another vector after this one."""
        return Places(np.concatenate([self.where, self.size + other.where]), self.size + other.size)


def spread(array: Floats, columns: Places, rows: Places | None = None) -> Packed:
    """Put the numbers of a matrix, or of a vector, into their places. Everything else is zero."""
    if rows is None:
        out = np.zeros((*array.shape[:-1], columns.size), dtype=np.float32)
        out[..., columns.where] = array
        return out
    out = np.zeros((rows.size, columns.size), dtype=np.float32)
    out[rows.where[:, None], columns.where] = array
    return out


def exponents(weights: Floats, dim: int, gates: Sequence[int] = range(4)) -> Floats:
    """Return the columns of some gates of an LSTM, (.., 4 * dim) -> (.., len(gates) * dim), as exponents."""
    parts = (weights[..., gate * dim : (gate + 1) * dim] * np.float32(FACTORS[gate]) for gate in gates)
    return np.concatenate(list(parts), axis=-1)
