"""The few array functions the network is written in: everything else is operators and indexing.

NumPy (:data:`NUMPY`) runs the network to parse; PyTorch, through a namespace of the same shape in
``easyfirst.training.torch_namespace``, runs the very same functions to learn. Only the LSTM has kernels of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from easyfirst.nn import activations
from easyfirst.nn.arrays import Ints

Array: TypeAlias = Any
"""A ``numpy.ndarray`` or a ``torch.Tensor``: the shared functions take either, and give back the same kind."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """What the shared functions call by name."""

    matmul: Callable[[Array, Array], Array]
    """``matmul(x, weights)``: rows by one matrix (n, in) @ (in, out), or by two (.., n, in) @ (2, in, out)."""
    tanh: Callable[[Array], Array]
    sigmoid: Callable[[Array], Array]
    lstm_layer: Callable[[Any, Array, list[int]], Array] | None
    """``lstm_layer(layer, x, n_active)``: a kernel for LSTMs, if any, equal to ``easyfirst.nn.sequences.run_layer``."""
    concat: Callable[[list[Array], int], Array]
    stack: Callable[[list[Array], int], Array]
    embed: Callable[[Array, Array], Array]
    """``embed(table, ids)``: rows of a table; the one look-up whose gradient touches few rows of many."""
    take: Callable[[Array, Array], Array]
    """``take(x, rows)``: rows of an array that is itself computed."""
    index: Callable[[Ints], Array]
    """A NumPy array of row numbers, made into what this kind of array is indexed with."""


NUMPY = Namespace(
    matmul=np.matmul,
    tanh=activations.tanh,
    sigmoid=activations.sigmoid,
    lstm_layer=None,
    concat=np.concatenate,
    stack=np.stack,
    embed=lambda table, ids: table.take(ids, 0),
    take=lambda x, rows: x.take(rows, 0),
    index=lambda rows: rows,
)
