"""A fast BiLSTM over rows of a small table in NumPy, tested against ``easyfirst.nn.sequences``.

A character contributes the same to the gates wherever it occurs, so the product of its embedding with the input
weights is computed once and looked up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easyfirst.nn import lstm
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.rnn import CELLS, Layer
from easyfirst.nn.sequences import Packing, run_layer, unpack


class TableReader:
    """``run_bidirectional`` for an embedding table and layers that do not change."""

    def __init__(self, embedding: Floats, layers: Sequence[Layer]) -> None:
        self._first, *self._others = layers
        table = np.matmul(embedding, self._first.input) + self._first.bias
        self._table = lstm.exponents_by_gate(table)  # (2, gates, rows, dim)
        self._recurrent = lstm.exponents_by_gate(self._first.recurrent)

    def read(self, ids: Ints, packing: Packing) -> Floats:
        """Run the layers over rows of the table: (n_rows,) -> (n_rows, 2 * dim)."""
        x = self._run_first(ids[packing.order], packing.n_active)
        for layer in self._others:
            x = run_layer(NUMPY, CELLS["lstm"], layer, x, packing.n_active)
        return unpack(NUMPY, x, packing)

    def _run_first(self, ids: Ints, n_active: Sequence[int]) -> Floats:
        """Run the first layer over packed rows: (2, n_rows) -> (2, n_rows, dim)."""
        outputs = np.empty((*ids.shape, self._first.dim), dtype=self._table.dtype)
        buffer = np.empty((2, lstm.N_GATES, n_active[0], self._first.dim), dtype=self._table.dtype)
        c = h = None
        begin = 0
        for n in n_active:
            end = begin + n
            z = buffer[:, :, :n]
            for side in (0, 1):
                self._table[side].take(ids[side, begin:end], 1, out=z[side], mode="clip")  # other modes copy `out`
            if c is None or h is None:
                c, h = lstm.step_by_exponents(z[:, 1:], None)
            else:
                z += np.matmul(h[:, None, :n], self._recurrent)
                c, h = lstm.step_by_exponents(z, c[:, :n])
            outputs[:, begin:end] = h
            begin = end
        return outputs
