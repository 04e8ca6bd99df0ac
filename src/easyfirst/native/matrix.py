"""Constant weights, packed by the core for fast products."""

from __future__ import annotations

import ctypes
import weakref

import numpy as np
import numpy.typing as npt

from easyfirst.native.library import PRECISIONS, Core, check
from easyfirst.nn.arrays import Floats


class Matrix:
    """A matrix that rows are multiplied with. A result does not depend on the other rows of a product."""

    def __init__(self, core: Core, weights: Floats, bias: Floats | None = None, precision: str = "float32") -> None:
        """Pack weights (k, n) and a bias (n,) for products of a precision."""
        packed = np.ascontiguousarray(weights, dtype=np.float32)
        offsets = None if bias is None else np.ascontiguousarray(bias, dtype=np.float32)
        if packed.ndim != 2 or (offsets is not None and offsets.shape != packed.shape[1:]):
            raise ValueError("weights must be a matrix, and the bias must have a value for each of its columns")
        self.core, self.precision, self.shape = core, precision, packed.shape
        made = ctypes.c_void_p()
        bias_address = None if offsets is None else offsets.ctypes.data
        new = core.function("matrix_new")
        check(new(packed.ctypes.data, bias_address, *packed.shape, PRECISIONS[precision], ctypes.byref(made)))
        assert made.value is not None
        self.address: int = made.value
        weakref.finalize(self, core.function("matrix_free"), made.value)

    def product(self, x: Floats) -> npt.NDArray[np.float32]:
        """Return x @ weights + bias: (m, k) -> (m, n)."""
        rows = np.ascontiguousarray(x, dtype=np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.shape[0]:
            raise ValueError(f"rows must have {self.shape[0]} numbers, not {rows.shape[1:]}")
        out = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        with self.core.workspace() as workspace:
            self.core.call("product", self.address, workspace, len(rows), rows.ctypes.data, out.ctypes.data)
        return out
