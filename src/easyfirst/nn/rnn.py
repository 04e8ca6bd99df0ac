"""The RNN abstraction of section 2.2: ``s = initial(); s = s.advance(x); s.output()``, for many rows at once.

A layer's state is one row ``[..., h]`` whose last columns are its output, so a stack of layers is a row too and
``output(state)`` is a slice. A new sequence starts from the zero state; its first step therefore needs neither the
recurrent product nor the gates that only act on the past, and is a function of its own (:meth:`Cell.first`).

All weights have a leading axis of two: forward and backward in the BiLSTM, left and right modifiers in the tree.
The two directions never exchange anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from easyfirst.nn.namespace import Array, Namespace


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of recurrent unit: the functions N and O of the paper, for one layer."""

    name: str
    n_gates: int
    n_parts: int
    """How many vectors of the layer's width make a state."""
    n_idle_gates: int
    """How many leading gates have nothing to do in the first step, where the state is zero."""
    first: Callable[[Namespace, Array], Array]
    """``first(xp, z)``: the state after one input; ``z``: input @ weights + bias, without the idle gates."""
    step: Callable[[Namespace, Array, Array, Array], Array]
    """``step(xp, z, recurrent, state)``: the next state; ``z``: input @ weights + bias, all gates."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one layer, in both directions."""

    input: Array  # (2, input_dim, n_gates * dim)
    recurrent: Array  # (2, dim, n_gates * dim)
    bias: Array  # (2, 1, n_gates * dim)

    @property
    def dim(self) -> int:
        return int(self.recurrent.shape[-2])


def layers_of(arrays: Mapping[str, Array], prefix: str) -> tuple[Layer, ...]:
    """The layers whose names begin so, from the first on."""
    layers: list[Layer] = []
    while f"{prefix}.{len(layers)}.input" in arrays:
        name = f"{prefix}.{len(layers)}"
        bias = arrays[f"{name}.bias"]
        layers.append(Layer(arrays[f"{name}.input"], arrays[f"{name}.recurrent"], bias[:, None, :]))
    return tuple(layers)


def stacks_of(arrays: Mapping[str, Array], prefix: str) -> tuple[tuple[Layer, ...], ...]:
    """The stacks that read one after the other what both directions of the last one gave: the one with this name, or
    those named after it and numbered from 0 on."""
    if only := layers_of(arrays, prefix):
        return (only,)
    stacks: list[tuple[Layer, ...]] = []
    while layers := layers_of(arrays, f"{prefix}{len(stacks)}"):
        stacks.append(layers)
    return tuple(stacks)


def lstm_gates(xp: Namespace, z: Array, c: Array | None) -> Array:
    """Gates: forget (not without a past ``c``), input, output, candidate -> [c, h]. The definition that the kernels
    (``easyfirst.nn.lstm``, ``easyfirst.training.kernels``) equal."""
    dim = z.shape[-1] // (3 if c is None else 4)
    gates = xp.sigmoid(z[..., :-dim])
    new_c = gates[..., -2 * dim : -dim] * xp.tanh(z[..., -dim:])
    if c is not None:
        new_c = new_c + gates[..., :dim] * c
    return xp.concat([new_c, gates[..., -dim:] * xp.tanh(new_c)], -1)


def _lstm_first(xp: Namespace, z: Array) -> Array:
    return lstm_gates(xp, z, None)


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


def _elman_first(xp: Namespace, z: Array) -> Array:
    return xp.tanh(z)


def _elman_step(xp: Namespace, z: Array, recurrent: Array, state: Array) -> Array:
    return xp.tanh(z + xp.matmul(state, recurrent))


CELLS = {
    "lstm": Cell("lstm", n_gates=4, n_parts=2, n_idle_gates=1, first=_lstm_first, step=_lstm_step),
    "gru": Cell("gru", n_gates=3, n_parts=1, n_idle_gates=1, first=_gru_first, step=_gru_step),
    "elman": Cell("elman", n_gates=1, n_parts=1, n_idle_gates=0, first=_elman_first, step=_elman_step),
}


def first_inputs(xp: Namespace, cell: Cell, layer: Layer, x: Array) -> Array:
    """What a sequence's first input contributes to the gates that act, in both directions: (2, rows, gates)."""
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
