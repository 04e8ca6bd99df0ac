"""A step of the tree's LSTMs in NumPy: equal to ``easyfirst.nn.rnn``, the definition, and tests hold it so.

Two things make it faster where there are many rows (bench/choices.py). Gates lie one after the other, (gates, rows,
dim), and not side by side in a row, because NumPy spends more on beginning a row than on the numbers in it; weights
need not move for that, a view of them will do. And gates are never computed: with E = exp(-x), sigmoid(x) is
1 / (1 + E), and with E = exp(-2x), tanh(x) is (1 - E) / (1 + E), so a product of the two is one fraction, and 1 + E is
all that is needed of a gate.
"""

from __future__ import annotations

import numpy as np

from easyfirst.nn.activations import FEW, MINUS_TWO, ONE, TWO
from easyfirst.nn.arrays import Floats

N_GATES = 4
ENOUGH = np.float32(20)
"""tanh of half of it is one in float32; its exp is so small that products with it do not overflow unless they may."""
_SCALES = np.array([-1, -1, -1, -2], dtype=np.float32)[:, None, None]  # forget, input, output, candidate


def by_gate(weights: Floats) -> Floats:
    """(2, rows, gates * dim) -> (2, gates, rows, dim), a view."""
    return weights.reshape(*weights.shape[:2], N_GATES, -1).swapaxes(1, 2)


def product(x: Floats, weights: Floats) -> Floats:
    """(.., rows, in) by (.., in, gates * dim), with the gates one after the other: (.., gates, rows, dim)."""
    *sides, rows, _ = x.shape
    if rows == 1:  # then it makes no difference how gates lie, and one product costs less than four
        return np.matmul(x, weights).reshape(*sides, N_GATES, 1, -1)
    apart = weights.reshape(*weights.shape[:-1], N_GATES, -1).swapaxes(-2, -3)
    return np.matmul(x[..., None, :, :], apart)


def step(z: Floats, c: Floats | None) -> tuple[Floats, Floats]:
    """The next c and h. ``z``: pre-activations (.., gates, rows, dim), which are overwritten. Without ``c`` a sequence
    begins, and there is no forget gate."""
    z *= _SCALES[-z.shape[-3] :]
    candidate, of_output, of_input = z[..., -1, :, :], z[..., -2, :, :], z[..., -3, :, :]
    np.minimum(candidate, ENOUGH, out=candidate)
    np.exp(z, out=z)
    z += ONE
    new_c = TWO - candidate
    candidate *= of_input
    new_c /= candidate
    if c is not None:
        forget = z[..., 0, :, :]
        new_c += np.divide(c, forget, out=forget)
    if new_c.size < FEW:
        h = np.tanh(new_c)
    else:
        h = new_c * MINUS_TWO
        np.minimum(h, ENOUGH, out=h)
        np.exp(h, out=h)
        h += ONE
        of_output *= h
        np.subtract(TWO, h, out=h)
    h /= of_output
    return new_c, h
