"""Bidirectional RNNs over batches of sequences (of words, characters or tokens), both directions in lock step.

Sequences are sorted longest first, so those still running at time t are the first rows in either direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import Cell, Layer, first_inputs

Drop = Callable[[Array], Array]  # dropout, used in training only


@dataclass(frozen=True, slots=True)
class Packing:
    """The rows of a batch sorted by time step: ``order[0]`` reads forward, ``order[1]`` backward."""

    n_active: list[int]  # sequences still running at time t
    order: Ints  # (2, n_rows): row numbers by time step
    place: Ints  # (2, n_rows): the inverse of order

    @classmethod
    def of(cls, lengths: Sequence[int]) -> Packing:
        """Pack sequences of these lengths, longest first."""
        sizes = np.asarray(lengths, dtype=np.intp)
        starts = np.cumsum(sizes) - sizes
        times = np.arange(sizes[0] if len(sizes) else 0)
        alive = times[:, None] < sizes[None, :]  # (time, sequence)
        forward = (starts[None, :] + times[:, None])[alive]
        backward = ((starts + sizes - 1)[None, :] - times[:, None])[alive]
        order = np.stack([forward, backward])
        place = np.empty_like(order)
        place[0, forward] = np.arange(len(forward))
        place[1, backward] = np.arange(len(backward))
        return cls(alive.sum(axis=1).tolist(), order, place)


def longest_first(lengths: Sequence[int], *, max_rows: int, max_sequences: int | None = None) -> Iterator[list[int]]:
    """Yield the indices of sequences in batches, the longest sequence first. A batch has at most ``max_rows`` rows and
    ``max_sequences`` sequences; a longer sequence is a batch of its own."""
    batch: list[int] = []
    n_rows = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) == max_sequences or n_rows + lengths[index] > max_rows):
            yield batch
            batch, n_rows = [], 0
        batch.append(index)
        n_rows += lengths[index]
    if batch:
        yield batch


def run_bidirectional(
    xp: Namespace, cell: Cell, layers: Sequence[Layer], x: Array, packing: Packing, drop: Drop | None = None
) -> Array:
    """Run two independent stacks and concatenate their outputs, forward first: (n_rows, in) -> (n_rows, 2 * dim).
    ``drop`` is applied between layers."""
    order = xp.index(packing.order)
    x = xp.stack([xp.take(x, order[0]), xp.take(x, order[1])], 0)  # (2, n_rows, in), by time step
    for number, layer in enumerate(layers):
        if number and drop is not None:
            x = drop(x)
        if xp.lstm_layer is not None and cell.name == "lstm":
            x = xp.lstm_layer(layer, x, packing.n_active)
        else:
            x = run_layer(xp, cell, layer, x, packing.n_active)
    return unpack(xp, x, packing)


def unpack(xp: Namespace, x: Array, packing: Packing) -> Array:
    """Restore the order of the rows and concatenate the directions: (2, n_rows, dim) -> (n_rows, 2 * dim)."""
    place = xp.index(packing.place)
    return xp.concat([xp.take(x[0], place[0]), xp.take(x[1], place[1])], -1)


def run_stacks(
    xp: Namespace, cell: Cell, stacks: Sequence[Sequence[Layer]], x: Array, packing: Packing, drop: Drop | None = None
) -> Array:
    """Run stacks that each read both directions of the one below: (n_rows, in) -> (n_rows, 2 * dim). Without stacks the
    result is ``x``. ``drop`` is applied to the input of each stack and to the result."""
    for layers in stacks:
        x = run_bidirectional(xp, cell, layers, x if drop is None else drop(x), packing)
    return x if drop is None else drop(x)


def span_states(xp: Namespace, states: Array, first: Ints, last: Ints) -> Array:
    """Return the forward state at the last row of each span and the backward state at its first: (n_spans, 2 * dim)."""
    half = states.shape[-1] // 2
    return xp.concat([xp.take(states[:, :half], xp.index(last)), xp.take(states[:, half:], xp.index(first))], -1)


def run_layer(xp: Namespace, cell: Cell, layer: Layer, x: Array, n_active: Sequence[int]) -> Array:
    """Run one layer over packed sequences in both directions: (2, n_rows, in) -> (2, n_rows, dim)."""
    begin = n_active[0]
    state = cell.first(xp, first_inputs(xp, cell, layer, x[:, :begin]))
    outputs = [state[..., -layer.dim :]]
    z = xp.matmul(x[:, begin:], layer.input)
    z += layer.bias
    at = 0
    for n in n_active[1:]:
        state = cell.step(xp, z[:, at : at + n], layer.recurrent, state[:, :n])
        outputs.append(state[..., -layer.dim :])
        at += n
    return xp.concat(outputs, 1)
