"""The kinds of NumPy arrays there are; their shapes stand in comments where they are made."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]
"""Row numbers, versions, sides, counts: int64."""
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
"""Weights, vectors and scores: float32, but for tests of derivatives, which need float64."""
Bools: TypeAlias = npt.NDArray[np.bool_]
