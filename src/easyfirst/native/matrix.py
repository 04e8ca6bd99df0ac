"""Weights that are packed by the core for fast products."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from easyfirst.native.layout import Block
from easyfirst.native.library import PRECISIONS, BlockStruct, Core, check
from easyfirst.nn.arrays import Floats


class Weights:
    """Packed weights that rows are multiplied with. A result does not depend on the other rows of a product."""

    def __init__(self, core: Core, shape: tuple[int, int], make: str, *arguments: Any) -> None:
        """Call the function ``make`` of the core."""
        self.core, self.shape = core, shape
        made = ctypes.c_void_p()
        check(core.function(make)(*arguments, ctypes.byref(made)))
        assert made.value is not None
        self.address: int = made.value
        core.frees(self, "matrix_free", made.value)

    def product(self, x: Floats) -> npt.NDArray[np.float32]:
        """Return x @ weights + bias: (m, k) -> (m, n)."""
        rows = np.ascontiguousarray(x, dtype=np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.shape[0]:
            raise ValueError(f"rows must have {self.shape[0]} numbers, not {rows.shape[1:]}")
        out = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        with self.core.workspace() as workspace:
            self.core.call("product", self.address, workspace, len(rows), rows.ctypes.data, out.ctypes.data)
        return out


class Filled(Weights):
    """A matrix that is filled from blocks of arrays, again whenever they have changed. Row k is the bias."""

    def __init__(self, core: Core, shape: tuple[int, int], blocks: Sequence[Block], precision: str) -> None:
        """Make a matrix (k, n) for products of a precision. What no block covers is zero."""
        super().__init__(core, shape, "matrix_new", *shape, PRECISIONS[precision])
        self._source = Source(blocks)
        self.refill()

    def refill(self) -> None:
        """Read the blocks again. With 8-bit weights, views made before become invalid."""
        self._source.fill(self)


class Matrix(Weights):
    """A matrix of constant weights."""

    def __init__(self, core: Core, weights: Floats, bias: Floats | None = None, precision: str = "float32") -> None:
        """Pack weights (k, n) and a bias (n,) for products of a precision."""
        if weights.ndim != 2 or (bias is not None and bias.shape != weights.shape[1:]):
            raise ValueError("weights must be a matrix, and the bias must have a value for each of its columns")
        k, n = weights.shape
        super().__init__(core, (k, n), "matrix_new", k, n, PRECISIONS[precision])
        blocks = [Block(weights, 0, 0)]
        Source(blocks if bias is None else [*blocks, Block(bias[None], k, 0)]).fill(self)


class View(Weights):
    """Some rows and the first columns of a matrix, which share its memory."""

    def __init__(self, of: Weights, *, row: int, shape: tuple[int, int], has_bias: bool) -> None:
        """``shape``: (k, n); the rows are those from ``row`` on, a multiple of 8."""
        super().__init__(of.core, shape, "matrix_view", of.address, row, *shape, int(has_bias))
        self._of = of  # keeps the memory


class Source:
    """Blocks as the core reads them."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._arrays = [_with_plain_rows(block.array) for block in blocks]
        self._structs = (BlockStruct * len(blocks))(*map(_struct_of, self._arrays, blocks))

    def fill(self, weights: Weights) -> None:
        """Copy the blocks as they are now."""
        weights.core.call("matrix_fill", weights.address, self._structs, len(self._structs))


def _with_plain_rows(array: Floats) -> npt.NDArray[np.float32]:
    """Return an array whose rows the core can read: the array itself if possible."""
    is_plain = array.dtype == np.float32 and array.strides[1] == 4 and array.strides[0] % 4 == 0 <= array.strides[0]
    return array if is_plain else np.ascontiguousarray(array, dtype=np.float32)


def _struct_of(array: npt.NDArray[np.float32], block: Block) -> BlockStruct:
    return BlockStruct(array.ctypes.data, array.strides[0] // 4, *array.shape, block.row, block.column, block.factor)
