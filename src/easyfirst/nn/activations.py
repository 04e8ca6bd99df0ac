"""The network's activation functions in NumPy, in place.

All of them go through one exponential, sigmoid(x) = 1 / (1 + exp(-x)) and tanh(x) = 2 sigmoid(2x) - 1, because
``np.exp`` takes about half the time of ``np.tanh`` without AVX-512. Far below zero the exponential is infinite
and the sigmoid zero, as it should be: callers of these functions let it overflow (:func:`overflow_is_fine`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from easyfirst.nn.arrays import Floats

FEW = 4096
"""Up to this many elements, calling five functions costs more than the slower one takes."""
ONE, TWO, MINUS_TWO = np.float32(1), np.float32(2), np.float32(-2)


def overflow_is_fine() -> np.errstate:
    """A context in which exp may overflow to infinity without a warning."""
    return np.errstate(over="ignore")


def sigmoid_of_negated_(x: Floats) -> Floats:
    """sigmoid(-x), in place: for those who can have the sign for nothing."""
    np.exp(x, out=x)
    x += ONE
    return np.divide(ONE, x, out=x)  # np.reciprocal takes twice as long


def sigmoid(x: Floats) -> Floats:
    return sigmoid_of_negated_(np.negative(x))


def tanh(x: Floats, out: Floats | None = None) -> Floats:
    if x.size < FEW:
        return np.tanh(x, out=out)
    y = sigmoid_of_negated_(np.multiply(x, MINUS_TWO, out=out))
    y *= TWO
    y -= ONE
    return y


@lru_cache(maxsize=32)
def _gate_scales(dim: int, n_gates: int, dtype: np.dtype[np.floating]) -> Floats:
    scales = np.full(dim * n_gates, -1, dtype=dtype)
    scales[-dim:] = -2
    return scales


def lstm_gates_(z: Floats, dim: int) -> Floats:
    """Pre-activations of an LSTM to its gates, in place: sigmoids, but for the candidate, which comes last: a tanh."""
    z *= _gate_scales(dim, z.shape[-1] // dim, z.dtype)
    sigmoid_of_negated_(z)
    candidate = z[..., -dim:]
    candidate *= TWO
    candidate -= ONE
    return z
