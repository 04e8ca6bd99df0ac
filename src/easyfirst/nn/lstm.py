"""A step of the tree's LSTMs in NumPy: equal to ``easyfirst.nn.rnn``, the definition, and tests hold it so.

Two things make it faster where there are many rows (bench/choices.py). Gates lie one after the other, (gates, rows,
dim), and not side by side in a row, because NumPy spends more on beginning a row than on the numbers in it. And gates
are never computed: with E = exp(-x), sigmoid(x) is 1 / (1 + E), and with E = exp(-2x), tanh(x) is 2 / (1 + E) - 1, so
1 + E is all that is needed of a gate, to be divided by. The factors -1 and -2 are in the weights.
"""

from __future__ import annotations

import numpy as np

from easyfirst.nn.activations import FEW, MINUS_TWO, ONE, TWO
from easyfirst.nn.arrays import Floats

N_GATES = 4
FACTORS = np.array([-1, -1, -1, -2], dtype=np.float32)[:, None, None]
"""What makes exponents of pre-activations: forget, input, output, candidate."""


def exponents_by_gate(weights: Floats) -> Floats:
    """Weights that give exponents, not pre-activations: (2, rows, gates * dim) -> (2, gates, rows, dim), a copy."""
    by_gate = weights.reshape(*weights.shape[:2], N_GATES, -1).swapaxes(1, 2)
    return np.multiply(by_gate, FACTORS, order="C")


def step_by_exponents(z: Floats, c: Floats | None) -> tuple[Floats, Floats]:
    """The next c and h. ``z``: the exponents (.., gates, rows, dim), which are overwritten. Without ``c`` a sequence
    begins, and there is no forget gate."""
    candidate, of_output, of_input = z[..., -1, :, :], z[..., -2, :, :], z[..., -3, :, :]
    np.exp(z, out=z)
    z += ONE
    new_c = TWO / candidate
    new_c -= ONE
    new_c /= of_input
    if c is not None:
        forget = z[..., 0, :, :]
        new_c += np.divide(c, forget, out=forget)
    if new_c.size < FEW:
        h = np.tanh(new_c)
    else:
        h = new_c * MINUS_TWO
        np.exp(h, out=h)
        h += ONE
        np.divide(TWO, h, out=h)
        h -= ONE
    h /= of_output
    return new_c, h
