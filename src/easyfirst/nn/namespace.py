"""The few array functions the network is written in: everything else is operators and indexing.

NumPy (:data:`NUMPY`) runs the network to parse; PyTorch, through a namespace of the same shape in
``easyfirst.training.gradients``, runs the very same functions to learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any
"""A ``numpy.ndarray`` or a ``torch.Tensor``: the shared functions take either, and give back the same kind."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """What the shared functions call by name."""

    matmul: Callable[[Array, Array], Array]
    """``matmul(x, weights)``: rows by one matrix (n, in) @ (in, out), or by two (.., n, in) @ (2, in, out)."""
    tanh: Callable[[Array], Array]
    sigmoid: Callable[[Array], Array]
    lstm: Callable[[Array, Array | None], Array]
    """``lstm(z, c)``: a kernel equal to :func:`easyfirst.nn.rnn.lstm_gates`, the definition, under this namespace."""
    concat: Callable[[list[Array], int], Array]
    stack: Callable[[list[Array], int], Array]
    embed: Callable[[Array, Array], Array]
    """``embed(table, ids)``: rows of a table; the one look-up whose gradient touches few rows of many."""
    take: Callable[[Array, Array], Array]
    """``take(x, rows)``: rows of an array that is itself computed."""
    index: Callable[[np.ndarray], Array]
    """A NumPy array of row numbers, made into what this kind of array is indexed with."""


_HALF = np.float32(0.5)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    """The logistic function by way of tanh, which NumPy vectorises and which cannot overflow."""
    y = x * _HALF
    np.tanh(y, out=y)
    y *= _HALF
    y += _HALF
    return y


def _lstm(z: np.ndarray, c: np.ndarray | None) -> np.ndarray:
    """All gates by one tanh, in place: sigmoid(x) = (tanh(x / 2) + 1) / 2."""
    dim = z.shape[-1] // (3 if c is None else 4)
    t = z.copy()
    t[..., :-dim] *= _HALF
    np.tanh(t, out=t)
    t[..., :-dim] *= _HALF
    t[..., :-dim] += _HALF
    state = np.empty((*z.shape[:-1], 2 * dim), dtype=z.dtype)
    new_c, h = state[..., :dim], state[..., dim:]
    np.multiply(t[..., -3 * dim : -2 * dim], t[..., -dim:], out=new_c)
    if c is not None:
        new_c += np.multiply(t[..., :dim], c, out=t[..., :dim])
    np.tanh(new_c, out=h)
    h *= t[..., -2 * dim : -dim]
    return state


NUMPY = Namespace(
    matmul=np.matmul,
    tanh=np.tanh,
    sigmoid=_sigmoid,
    lstm=_lstm,
    concat=np.concatenate,
    stack=np.stack,
    embed=lambda table, ids: table[ids],
    take=lambda x, rows: x[rows],
    index=lambda rows: rows,
)
