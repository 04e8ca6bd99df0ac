"""Types of NumPy arrays. Comments give the shapes where the arrays are declared."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]  # row numbers, versions, sides and counts (intp)
Floats: TypeAlias = npt.NDArray[np.floating[Any]]  # weights, vectors and scores (float32; float64 in gradient checks)
Bools: TypeAlias = npt.NDArray[np.bool_]
