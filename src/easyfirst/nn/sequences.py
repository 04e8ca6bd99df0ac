"""Reading sequences of any length in both directions at once, in lock step: what the paper's BiLSTM is made of.

Two separate stacks read forward and backward. Sequences are sorted by length, longest first, so that the ones still
running at time t are the first rows, and both directions run the same number. Sentences are read so, word by word, and
words and texts, character by character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import Cell, Layer, first_inputs

Drop = Callable[[Array], Array]
"""Dropout, in training: sets some values of an array to zero by chance and scales the others up."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Where each row of a batch stands in time: ``order[0]`` reads forward, ``order[1]`` backward."""

    n_active: list[int]  # sequences still running at time t
    order: Ints  # (2, n_rows): rows, time after time
    place: Ints  # (2, n_rows): the inverse of order

    @classmethod
    def of(cls, lengths: Sequence[int]) -> Packing:
        """``lengths`` of the sequences, longest first."""
        sizes = np.asarray(lengths, dtype=np.int64)
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
    """Yield the indices of sequences in batches, the longest sequence first.

    A batch has at most ``max_rows`` rows and ``max_sequences`` sequences; a longer sequence is a batch of its own.
    """
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


def read_both_ways(
    xp: Namespace, cell: Cell, layers: Sequence[Layer], x: Array, packing: Packing, drop: Drop | None = None
) -> Array:
    """What two stacks make of every row, forward and backward side by side: (n_rows, in) -> (n_rows, 2 * dim).

    ``drop`` is applied to what one layer gives to the next.
    """
    order, place = xp.index(packing.order), xp.index(packing.place)
    x = xp.stack([xp.take(x, order[0]), xp.take(x, order[1])], 0)  # (2, n_rows, in), time after time
    for number, layer in enumerate(layers):
        if number and drop is not None:
            x = drop(x)
        if xp.lstm_layer is not None and cell.name == "lstm":
            x = xp.lstm_layer(layer, x, packing.n_active)
        else:
            x = run_layer(xp, cell, layer, x, packing.n_active)
    return xp.concat([xp.take(x[0], place[0]), xp.take(x[1], place[1])], -1)


def read_stacks(
    xp: Namespace,
    cell: Cell,
    stacks: Sequence[Sequence[Layer]],
    x: Array,
    packing: Packing,
    drop: Drop | None = None,
) -> Array:
    """Every stack reads in both directions what the one below gave in both: (n_rows, in) -> (n_rows, 2 * dim), or ``x``
    itself if there is none. ``drop`` is applied to what each of them reads, and to what the last one gives."""
    for layers in stacks:
        x = read_both_ways(xp, cell, layers, x if drop is None else drop(x), packing)
    return x if drop is None else drop(x)


def run_layer(xp: Namespace, cell: Cell, layer: Layer, x: Array, n_active: Sequence[int]) -> Array:
    """One layer over packed sequences, both directions at once: (2, n_rows, in) -> (2, n_rows, dim)."""
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
