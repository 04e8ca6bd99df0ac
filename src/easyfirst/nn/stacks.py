"""The tree encoder's RNNs in NumPy, for an engine that stores the parts of a state (c and h of each layer) separately.

``start`` and ``advance`` compute what ``easyfirst.nn.trees`` defines; the last part is the output, e_l or e_r.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from easyfirst.nn import lstm, trees
from easyfirst.nn.arrays import Floats
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.rnn import Layer
from easyfirst.nn.trees import TreeWeights


class Stack(Protocol):
    """RNN_L and RNN_R."""

    def start(self, vectors: Floats) -> Sequence[Floats]:
        """Return the states of leaves on both sides: (rows, vector_dim) -> parts (2, rows, dim)."""
        ...

    def advance(self, parts: Sequence[Floats], encoded: Floats, *, side: int) -> Sequence[Floats]:
        """Return the heads' states on one side after each takes a modifier: parts (rows, dim) -> parts (rows, dim)."""
        ...


def stack_of(weights: TreeWeights) -> Stack:
    is_lstm = weights.has_layers and weights.cell.name == "lstm"
    return LstmStack(weights.layers) if is_lstm else PlainStack(weights)


class PlainStack:
    """Any kind of RNN, or none, as defined in ``easyfirst.nn.trees``."""

    def __init__(self, weights: TreeWeights) -> None:
        self._weights = weights

    def start(self, vectors: Floats) -> Sequence[Floats]:
        return self._split(trees.leaf_states(NUMPY, self._weights, vectors))

    def advance(self, parts: Sequence[Floats], encoded: Floats, *, side: int) -> Sequence[Floats]:
        return self._split(trees.attach(NUMPY, self._weights, np.concatenate(parts, axis=-1), encoded, side=side))

    def _split(self, states: Floats) -> Sequence[Floats]:
        dim = self._weights.output_dim
        return [states[..., begin : begin + dim] for begin in range(0, states.shape[-1], dim)]


class LstmStack:
    """LSTMs, computed by ``easyfirst.nn.lstm``."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = [  # (input weights above recurrent weights, bias)
            (
                lstm.exponents_by_gate(np.concatenate([layer.input, layer.recurrent], 1)),
                lstm.exponents_by_gate(layer.bias),
            )
            for layer in layers
        ]

    def start(self, vectors: Floats) -> Sequence[Floats]:
        parts: list[Floats] = []
        x = vectors[None, None]  # (side, gate, rows, dim)
        for weights, bias in self._layers:
            z = np.matmul(x, weights[:, 1:, : x.shape[-1]])
            z += bias[:, 1:]
            parts += lstm.step_by_exponents(z, None)
            x = parts[-1][:, None]
        return parts

    def advance(self, parts: Sequence[Floats], encoded: Floats, *, side: int) -> Sequence[Floats]:
        new: list[Floats] = []
        x = encoded
        for k, (weights, bias) in enumerate(self._layers):
            z = np.matmul(np.concatenate([x, parts[2 * k + 1]], axis=1), weights[side])
            z += bias[side]
            new += lstm.step_by_exponents(z, parts[2 * k])
            x = new[-1]
        return new
