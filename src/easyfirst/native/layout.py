"""Weights in the layout of the core: every width is padded with zeros to a multiple of 8, gates are exponents."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from easyfirst.nn.arrays import Floats, Ints

WIDTH = 8
GATES = (1, 2, 3, 0)
"""The gates of an LSTM in the core's order: input, output and candidate, then forget, which a first step leaves out."""

FACTORS = (-1, -1, -1, -2)
"""Exponent divided by pre-activation, for the forget, input and output gates and the candidate of an LSTM."""

Packed = npt.NDArray[np.float32]


class Places(NamedTuple):
    """Where the numbers of a vector are in a padded one."""

    where: Ints
    size: int

    @classmethod
    def of(cls, *dims: int, padded: bool = True) -> Places:
        """Lay out vectors of these sizes side by side, each padded by default."""
        sizes = [-(-dim // WIDTH) * WIDTH if padded else dim for dim in dims]
        starts = np.cumsum([0, *sizes])
        where = [start + np.arange(dim) for start, dim in zip(starts[:-1], dims, strict=True)]
        return cls(np.concatenate(where), int(starts[-1]))

    @property
    def is_plain(self) -> bool:
        """Whether nothing is padded."""
        return len(self.where) == self.size

    def beside(self, other: Places) -> Places:
        """Lay out another vector after this one."""
        return Places(np.concatenate([self.where, self.size + other.where]), self.size + other.size)

    def runs(self) -> list[tuple[int, int, int]]:
        """Return the parts that stay together: where each begins, how long it is, and where it goes."""
        bounds = [0, *(np.flatnonzero(np.diff(self.where) != 1) + 1).tolist(), len(self.where)]
        return [(begin, end - begin, int(self.where[begin])) for begin, end in itertools.pairwise(bounds)]


ONE_ROW = Places.of(1, padded=False)


def spread(array: Floats, columns: Places, rows: Places | None = None) -> Packed:
    """Put the numbers of a matrix, or of a vector, into their places. Everything else is zero."""
    if rows is None:
        out = np.zeros((*array.shape[:-1], columns.size), dtype=np.float32)
        out[..., columns.where] = array
        return out
    out = np.zeros((rows.size, columns.size), dtype=np.float32)
    out[rows.where[:, None], columns.where] = array
    return out


def exponents(weights: Floats, dim: int) -> Floats:
    """Return the columns of an LSTM's gates (.., 4 * dim) as exponents, in the core's order."""
    parts = (weights[..., gate * dim : (gate + 1) * dim] * np.float32(FACTORS[gate]) for gate in GATES)
    return np.concatenate(list(parts), axis=-1)


class Block(NamedTuple):
    """A part of a matrix: a matrix whose numbers go, times a factor, to the rows and columns from the given ones on."""

    array: Floats
    row: int
    column: int
    factor: float = 1.0


def blocks_of(
    array: Floats, columns: Places, rows: Places, *, row: int = 0, column: int = 0, factor: float = 1.0
) -> list[Block]:
    """Return the blocks that put a matrix into its places, from a row and a column on, without copying it."""
    return [
        Block(array[i : i + n_rows, j : j + n_columns], row + to_row, column + to_column, factor)
        for i, n_rows, to_row in rows.runs()
        for j, n_columns, to_column in columns.runs()
    ]


def gate_blocks(weights: Floats, dim: int, rows: Places, row: int = 0) -> list[Block]:
    """Return the blocks of an LSTM's weights (rows, 4 * dim) as :func:`exponents`."""
    columns = Places.of(dim)
    parts: Sequence[Floats] = [weights[:, gate * dim : (gate + 1) * dim] for gate in range(4)]
    return [
        block
        for place, gate in enumerate(GATES)
        for block in blocks_of(parts[gate], columns, rows, row=row, column=place * columns.size, factor=FACTORS[gate])
    ]
