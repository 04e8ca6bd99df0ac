"""The network's activation functions in NumPy, in place.

All of them go through one exponential, sigmoid(x) = 1 / (1 + exp(-x)) and tanh(x) = 2 sigmoid(2x) - 1, because
``np.exp`` takes half the time of ``np.tanh`` where there is no AVX-512. Far below zero the exponential is infinite and
the sigmoid zero, as it should be: callers of these functions let it overflow (:func:`overflow_is_fine`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

FEW = 4096
"""Up to this many elements, calling five functions costs more than the slower one takes."""
ONE, TWO, MINUS_TWO = np.float32(1), np.float32(2), np.float32(-2)


def overflow_is_fine() -> np.errstate:
    """A context in which exp may overflow to infinity without a warning."""
    return np.errstate(over="ignore")


def sigmoid_of_negated_(x: np.ndarray) -> np.ndarray:
    """sigmoid(-x), in place: for those who can have the sign for nothing."""
    np.exp(x, out=x)
    x += ONE
    return np.reciprocal(x, out=x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return sigmoid_of_negated_(np.negative(x))


def tanh(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if x.size < FEW:
        return np.tanh(x, out=out)
    y = sigmoid_of_negated_(np.multiply(x, MINUS_TWO, out=out))
    y *= TWO
    y -= ONE
    return y


@lru_cache(maxsize=32)
def _gate_scales(dim: int, n_gates: int, dtype: np.dtype[np.floating]) -> np.ndarray:
    scales = np.full(dim * n_gates, -1, dtype=dtype)
    scales[-dim:] = -2
    return scales


def lstm_gates_(z: np.ndarray, dim: int) -> np.ndarray:
    """Pre-activations of an LSTM to its gates, in place: sigmoids, but for the candidate, which comes last: a tanh."""
    z *= _gate_scales(dim, z.shape[-1] // dim, z.dtype)
    sigmoid_of_negated_(z)
    candidate = z[..., -dim:]
    candidate *= TWO
    candidate -= ONE
    return z


def lstm(z: np.ndarray, c: np.ndarray | None) -> np.ndarray:
    """One step of an LSTM: equal to ``easyfirst.nn.rnn.lstm_gates``. Overwrites ``z``."""
    dim = z.shape[-1] // (3 if c is None else 4)
    lstm_gates_(z, dim)
    state = np.empty((*z.shape[:-1], 2 * dim), dtype=z.dtype)
    new_c, h = state[..., :dim], state[..., dim:]
    np.multiply(z[..., -3 * dim : -2 * dim], z[..., -dim:], out=new_c)
    if c is not None:
        forget = z[..., :dim]
        forget *= c
        new_c += forget
    tanh(new_c, out=h)
    h *= z[..., -2 * dim : -dim]
    return state
