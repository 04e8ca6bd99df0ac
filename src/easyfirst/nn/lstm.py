"""Fast LSTMs in NumPy, for parsing, tested against the definitions in ``easyfirst.nn.rnn`` and ``easyfirst.nn.trees``.

Two things make a step faster when there are many rows (bench/choices.py). Gates are separate blocks, (gates, rows,
dim), not columns of one row, because NumPy spends more on starting a row than on the numbers in it. And gates are never
computed: with E = exp(-x), sigmoid(x) is 1 / (1 + E), and with E = exp(-2x), tanh(x) is 2 / (1 + E) - 1, so it is
enough to divide by 1 + E. The factors -1 and -2 are folded into the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from easyfirst.nn import trees
from easyfirst.nn.activations import ONE, TWO, tanh
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.rnn import CELLS, Layer
from easyfirst.nn.sequences import Packing, run_layer, unpack
from easyfirst.nn.trees import TreeWeights

N_GATES = 4
FACTORS = np.array([-1, -1, -1, -2], dtype=np.float32)[:, None, None]
"""Exponent divided by pre-activation, for the forget, input and output gates and the candidate."""


def exponents_by_gate(weights: Floats) -> Floats:
    """Copy weights so that they yield exponents: (2, rows, gates * dim) -> (2, gates, rows, dim)."""
    by_gate = weights.reshape(*weights.shape[:2], N_GATES, -1).swapaxes(1, 2)
    return np.multiply(by_gate, FACTORS, order="C")


def step_by_exponents(z: Floats, c: Floats | None) -> tuple[Floats, Floats]:
    """Return the next c and h. The exponents ``z``, (.., gates, rows, dim), are overwritten. In the first step of a
    sequence ``c`` is None and ``z`` has no forget gate."""
    candidate, of_output, of_input = z[..., -1, :, :], z[..., -2, :, :], z[..., -3, :, :]
    np.exp(z, out=z)
    z += ONE
    new_c = TWO / candidate
    new_c -= ONE
    new_c /= of_input
    if c is not None:
        forget = z[..., 0, :, :]
        new_c += np.divide(c, forget, out=forget)
    h = tanh(new_c)
    h /= of_output
    return new_c, h


class TableReader:
    """``easyfirst.nn.sequences.run_bidirectional`` for an embedding table and layers that do not change.

    A character contributes the same to the gates wherever it occurs, so the product of its embedding with the input
    weights is computed once and looked up.
    """

    def __init__(self, embedding: Floats, layers: Sequence[Layer]) -> None:
        self._first, *self._others = layers
        table = np.matmul(embedding, self._first.input) + self._first.bias
        self._table = exponents_by_gate(table)  # (2, gates, rows, dim)
        self._recurrent = exponents_by_gate(self._first.recurrent)

    def read(self, ids: Ints, packing: Packing) -> Floats:
        """Run the layers over rows of the table: (n_rows,) -> (n_rows, 2 * dim)."""
        x = self._run_first(ids[packing.order], packing.n_active)
        for layer in self._others:
            x = run_layer(NUMPY, CELLS["lstm"], layer, x, packing.n_active)
        return unpack(NUMPY, x, packing)

    def _run_first(self, ids: Ints, n_active: Sequence[int]) -> Floats:
        """Run the first layer over packed rows: (2, n_rows) -> (2, n_rows, dim)."""
        outputs = np.empty((*ids.shape, self._first.dim), dtype=self._table.dtype)
        buffer = np.empty((2, N_GATES, n_active[0], self._first.dim), dtype=self._table.dtype)
        c = h = None
        begin = 0
        for n in n_active:
            end = begin + n
            z = buffer[:, :, :n]
            for side in (0, 1):
                self._table[side].take(ids[side, begin:end], 1, out=z[side], mode="clip")  # other modes copy `out`
            if c is None or h is None:
                c, h = step_by_exponents(z[:, 1:], None)
            else:
                z += np.matmul(h[:, None, :n], self._recurrent)
                c, h = step_by_exponents(z, c[:, :n])
            outputs[:, begin:end] = h
            begin = end
        return outputs


class PlainStack:
    """RNN_L and RNN_R of any kind, or none, as defined in ``easyfirst.nn.trees``, for an engine that stores the parts
    of a state (c and h of each layer) separately. The last part is the output, e_l or e_r."""

    def __init__(self, weights: TreeWeights) -> None:
        self._weights = weights

    def start(self, vectors: Floats) -> Sequence[Floats]:
        """Return the states of leaves on both sides: (rows, vector_dim) -> parts (2, rows, dim)."""
        return self._split(trees.leaf_states(NUMPY, self._weights, vectors))

    def advance(self, parts: Sequence[Floats], encoded: Floats, *, side: int) -> Sequence[Floats]:
        """Return the heads' states on one side after each takes a modifier: parts (rows, dim) -> parts (rows, dim)."""
        return self._split(trees.attach(NUMPY, self._weights, np.concatenate(parts, axis=-1), encoded, side=side))

    def _split(self, states: Floats) -> Sequence[Floats]:
        dim = self._weights.output_dim
        return [states[..., begin : begin + dim] for begin in range(0, states.shape[-1], dim)]


class LstmStack:
    """The same as :class:`PlainStack` for LSTMs, step by step as above."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = [  # (input weights above recurrent weights, bias)
            (exponents_by_gate(np.concatenate([layer.input, layer.recurrent], 1)), exponents_by_gate(layer.bias))
            for layer in layers
        ]

    def start(self, vectors: Floats) -> Sequence[Floats]:
        parts: list[Floats] = []
        x = vectors[None, None]  # (side, gate, rows, dim)
        for weights, bias in self._layers:
            z = np.matmul(x, weights[:, 1:, : x.shape[-1]])
            z += bias[:, 1:]
            parts += step_by_exponents(z, None)
            x = parts[-1][:, None]
        return parts

    def advance(self, parts: Sequence[Floats], encoded: Floats, *, side: int) -> Sequence[Floats]:
        new: list[Floats] = []
        x = encoded
        for k, (weights, bias) in enumerate(self._layers):
            z = np.matmul(np.concatenate([x, parts[2 * k + 1]], axis=1), weights[side])
            z += bias[side]
            new += step_by_exponents(z, parts[2 * k])
            x = new[-1]
        return new


Stack: TypeAlias = PlainStack | LstmStack


def stack_of(weights: TreeWeights) -> Stack:
    return LstmStack(weights.layers) if weights.layers and weights.cell.name == "lstm" else PlainStack(weights)
