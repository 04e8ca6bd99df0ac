"""The initialisation that parser, tagger and tokenizer share, and the shapes of RNN layers."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from easyfirst.nn.arrays import Floats

EMBEDDING_GAIN = 3.0
EMBEDDING_LENGTH = EMBEDDING_GAIN * math.sqrt(2)  # the mean length of a newly initialised embedding of any width
RNN_INPUT_GAIN = 2.0


def rnn_shapes(prefix: str, input_dim: int, dim: int, n_layers: int, n_gates: int = 4) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a stack of bidirectional layers."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number in range(n_layers):
        shapes[f"{prefix}.{number}.input"] = (2, input_dim, n_gates * dim)
        shapes[f"{prefix}.{number}.recurrent"] = (2, dim, n_gates * dim)
        shapes[f"{prefix}.{number}.bias"] = (2, n_gates * dim)
        input_dim = dim
    return shapes


def glorot(rng: np.random.Generator, fan_in: int, fan_out: int, shape: tuple[int, ...], gain: float = 1.0) -> Floats:
    """Draw a matrix from the Glorot-uniform distribution, times ``gain``."""
    bound = gain * math.sqrt(6 / (fan_in + fan_out))
    return rng.uniform(-bound, bound, size=shape).astype(np.float32)


def embedding(rng: np.random.Generator, n: int, dim: int) -> Floats:
    """Draw an embedding table, each row like a matrix with ``dim`` inputs and no outputs."""
    return glorot(rng, dim, 0, (n, dim), EMBEDDING_GAIN)


def rnn_arrays(rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    """Initialise those arrays of a network that belong to LSTM layers."""
    return {name: rnn_array(rng, name, shape, n_gates=4) for name, shape in shapes.items() if ".rnn" in name}


def rnn_array(rng: np.random.Generator, name: str, shape: tuple[int, ...], *, n_gates: int) -> Floats:
    """Initialise one array of an RNN layer. Each gate is scaled as a matrix of its own; forget gates start at 1."""
    if name.endswith("bias"):
        bias = np.zeros(shape, dtype=np.float32)
        if n_gates == 4:
            bias[:, : shape[-1] // 4] = 1
        return bias
    gain = RNN_INPUT_GAIN if name.endswith(".input") else 1.0
    return glorot(rng, shape[-2], shape[-1] // n_gates, shape, gain)
