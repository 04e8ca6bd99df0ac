"""The array functions that the networks are written in, besides operators and indexing.

Parsing runs the networks in NumPy (:data:`NUMPY`), training runs the same functions in PyTorch
(``easyfirst.training.torch_namespace``). Only LSTMs also have kernels: ``easyfirst.nn.lstm`` for parsing,
``easyfirst.training.kernels`` for training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from easyfirst.nn import activations
from easyfirst.nn.arrays import Ints

Array: TypeAlias = Any  # a numpy.ndarray or a torch.Tensor; the shared functions return the type they are given


@dataclass(frozen=True, slots=True)
class Namespace:
    """The functions that the shared code calls by name."""

    matmul: Callable[[Array, Array], Array]
    """``matmul(x, weights)``: (n, in) @ (in, out), or two matrices at once, (.., n, in) @ (2, in, out)."""
    tanh: Callable[[Array], Array]
    sigmoid: Callable[[Array], Array]
    lstm_layer: Callable[[Any, Array, list[int]], Array] | None
    """``lstm_layer(layer, x, n_active)``: an optional kernel equivalent to ``easyfirst.nn.sequences.run_layer``."""
    concat: Callable[[list[Array], int], Array]
    stack: Callable[[list[Array], int], Array]
    embed: Callable[[Array, Array], Array]  # embed(table, ids): rows of an embedding table, whose gradient is sparse
    take: Callable[[Array, Array], Array]  # take(x, rows): rows of a computed array
    index: Callable[[Ints], Array]  # convert row numbers to the type that arrays of this library are indexed with


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
