"""Activation functions in NumPy. A trailing underscore marks those that work in place.

All use one exponential, sigmoid(x) = 1 / (1 + exp(-x)) and tanh(x) = 2 sigmoid(2x) - 1, because without AVX-512
``np.exp`` takes about half the time of ``np.tanh``. Far below zero the exponential overflows to infinity and the
sigmoid is zero, which is correct, so callers silence the warning (:func:`overflow_is_fine`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from easyfirst.nn.arrays import Floats

SMALL_SIZE = 4096  # below this many elements, one ``np.tanh`` is faster than five calls built on ``np.exp``
ONE, TWO, MINUS_TWO = np.float32(1), np.float32(2), np.float32(-2)


def overflow_is_fine() -> np.errstate:
    """Return a context in which exp may overflow to infinity without a warning."""
    return np.errstate(over="ignore")


def sigmoid_of_negated_(x: Floats) -> Floats:
    """Replace x by sigmoid(-x); callers fold the sign into a factor they apply anyway."""
    np.exp(x, out=x)
    x += ONE
    return np.divide(ONE, x, out=x)  # np.reciprocal takes twice as long


def sigmoid(x: Floats) -> Floats:
    return sigmoid_of_negated_(np.negative(x))


def tanh(x: Floats, out: Floats | None = None) -> Floats:
    if x.size < SMALL_SIZE:
        return np.tanh(x, out=out)
    y = np.multiply(x, MINUS_TWO, out=out)
    np.exp(y, out=y)
    y += ONE
    np.divide(TWO, y, out=y)
    y -= ONE
    return y


@lru_cache(maxsize=32)
def _gate_scales(dim: int, n_gates: int, dtype: np.dtype[np.floating]) -> Floats:
    scales = np.full(dim * n_gates, -1, dtype=dtype)
    scales[-dim:] = -2
    return scales


def lstm_gates_(z: Floats, dim: int) -> Floats:
    """Turn the pre-activations of an LSTM into its gates: sigmoids, and a tanh for the candidate, which comes last."""
    z *= _gate_scales(dim, z.shape[-1] // dim, z.dtype)
    sigmoid_of_negated_(z)
    candidate = z[..., -dim:]
    candidate *= TWO
    candidate -= ONE
    return z
