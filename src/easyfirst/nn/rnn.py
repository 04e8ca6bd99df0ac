"""The RNN abstraction of section 2.2: ``s = initial(); s = s.advance(x); s.output()``, for many rows at once.

A layer's state is one row ``[..., h]`` whose last columns are its output, so the state of a stack of layers is a row
too and ``output(state)`` is a slice. A sequence starts from the zero state, so its first step needs neither the
recurrent product nor the gates that act on the past, and is a separate function (:attr:`Cell.first`).

All weights have a leading axis of two: forward and backward in the BiLSTM, left and right modifiers in the tree. The
two directions are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from easyfirst.nn.namespace import Array, Namespace


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of recurrent unit: the functions N and O of the paper, for one layer."""

    name: str
    n_gates: int
    n_parts: int  # the number of vectors of the layer's width in a state
    n_idle_gates: int  # the number of leading gates that have no effect on the first step, where the state is zero
    first: Callable[[Namespace, Array], Array]
    """``first(xp, z)``: the state after one input, where ``z`` is input @ weights + bias without the idle gates."""
    step: Callable[[Namespace, Array, Array, Array], Array]
    """``step(xp, z, recurrent, state)``: the next state, where ``z`` is input @ weights + bias."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one layer in both directions."""

    input: Array  # (2, input_dim, n_gates * dim)
    recurrent: Array  # (2, dim, n_gates * dim)
    bias: Array  # (2, 1, n_gates * dim)

    @property
    def dim(self) -> int:
        return int(self.recurrent.shape[-2])


def layers_of(arrays: Mapping[str, Array], prefix: str) -> tuple[Layer, ...]:
    """Return the layers ``<prefix>.0``, ``<prefix>.1`` ..."""
    layers: list[Layer] = []
    while (name := f"{prefix}.{len(layers)}") + ".input" in arrays:
        layers.append(Layer(arrays[f"{name}.input"], arrays[f"{name}.recurrent"], arrays[f"{name}.bias"][:, None, :]))
    return tuple(layers)


def stacks_of(arrays: Mapping[str, Array], prefix: str) -> tuple[tuple[Layer, ...], ...]:
    """Return the stacks of a BiRNN, lowest first: the single stack ``prefix``, or ``<prefix>0``, ``<prefix>1`` ...
    that each read both directions of the one below."""
    if only := layers_of(arrays, prefix):
        return (only,)
    stacks: list[tuple[Layer, ...]] = []
    while layers := layers_of(arrays, f"{prefix}{len(stacks)}"):
        stacks.append(layers)
    return tuple(stacks)


def lstm_gates(xp: Namespace, z: Array, c: Array | None) -> Array:
    """Return the next state [c, h] from the pre-activations of the gates: forget (absent in the first step, where ``c``
    is None), input, output, candidate. The kernels listed in ``easyfirst.nn.namespace`` compute the same."""
    dim = z.shape[-1] // (3 if c is None else 4)
    gates = xp.sigmoid(z[..., :-dim])
    new_c = gates[..., -2 * dim : -dim] * xp.tanh(z[..., -dim:])
    if c is not None:
        new_c = new_c + gates[..., :dim] * c
    return xp.concat([new_c, gates[..., -dim:] * xp.tanh(new_c)], -1)


def _lstm_step(xp: Namespace, z: Array, recurrent: Array, state: Array) -> Array:
    dim = state.shape[-1] // 2
    total = xp.matmul(state[..., dim:], recurrent)
    total += z
    return lstm_gates(xp, total, state[..., :dim])


def _gru_first(xp: Namespace, z: Array) -> Array:
    dim = z.shape[-1] // 2  # gates: update, candidate
    return xp.sigmoid(z[..., :dim]) * xp.tanh(z[..., dim:])


def _gru_step(xp: Namespace, z: Array, recurrent: Array, state: Array) -> Array:
    dim = z.shape[-1] // 3  # gates: reset, update, candidate
    gates = xp.sigmoid(z[..., : 2 * dim] + xp.matmul(state, recurrent[..., : 2 * dim]))
    candidate = xp.tanh(z[..., 2 * dim :] + xp.matmul(gates[..., :dim] * state, recurrent[..., 2 * dim :]))
    update = gates[..., dim:]
    return state + update * (candidate - state)


def _elman_step(xp: Namespace, z: Array, recurrent: Array, state: Array) -> Array:
    return xp.tanh(z + xp.matmul(state, recurrent))


def _lstm_first(xp: Namespace, z: Array) -> Array:
    return lstm_gates(xp, z, None)


def _elman_first(xp: Namespace, z: Array) -> Array:
    return xp.tanh(z)


CELLS = {
    "lstm": Cell("lstm", n_gates=4, n_parts=2, n_idle_gates=1, first=_lstm_first, step=_lstm_step),
    "gru": Cell("gru", n_gates=3, n_parts=1, n_idle_gates=1, first=_gru_first, step=_gru_step),
    "elman": Cell("elman", n_gates=1, n_parts=1, n_idle_gates=0, first=_elman_first, step=_elman_step),
}


def first_inputs(xp: Namespace, cell: Cell, layer: Layer, x: Array) -> Array:
    """Return input @ weights + bias without the idle gates, in both directions: (2, rows, gates)."""
    idle = cell.n_idle_gates * layer.dim
    z = xp.matmul(x, layer.input[:, :, idle:])
    z += layer.bias[:, :, idle:]
    return z


def start(xp: Namespace, cell: Cell, layers: Sequence[Layer], x: Array) -> Array:
    """``RNN.initial().advance(x)`` in both directions: (rows, input_dim) -> (2, rows, state)."""
    states: list[Array] = []
    for layer in layers:
        state = cell.first(xp, first_inputs(xp, cell, layer, x))
        states.append(state)
        x = state[..., -layer.dim :]
    return states[0] if len(states) == 1 else xp.concat(states, -1)


def advance(xp: Namespace, cell: Cell, layers: Sequence[Layer], x: Array, state: Array, *, side: int) -> Array:
    """``state.advance(x)`` in one direction: (rows, input_dim), (rows, state) -> (rows, state)."""
    states: list[Array] = []
    begin = 0
    for layer in layers:
        end = begin + cell.n_parts * layer.dim
        z = xp.matmul(x, layer.input[side])
        z += layer.bias[side]
        new = cell.step(xp, z, layer.recurrent[side], state[..., begin:end])
        states.append(new)
        x = new[..., -layer.dim :]
        begin = end
    return states[0] if len(states) == 1 else xp.concat(states, -1)
