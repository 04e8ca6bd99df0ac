"""Representing words (section 3.1): v'_i = tanh(W^v (w_i ∘ p_i) + b), then v_i = f_i ∘ b_i by a BiLSTM.

LSTM_F and LSTM_B are two separate stacks. They read a batch of sentences in lock step: sentences are sorted by length,
longest first, so that the ones still running at time t are the first rows, and both directions run the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import Cell, Layer, first_inputs


@dataclass(frozen=True, slots=True)
class WordIds:
    """The words of a batch as row numbers of the embedding tables, all sentences one after the other."""

    words: Ints  # (n_words,)
    external: Ints | None
    tags: tuple[Ints, ...]  # one (n_words,) for each kind of tag


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Embedding tables, W^v and the BiLSTM (no layers: v_i = v'_i)."""

    words: Array  # (n_vocabulary, word_dim)
    external: Array | None  # (n_external, external_dim)
    tags: tuple[Array, ...]  # (n_tags, tag_dim) each
    project: Array  # (sum of the dims above, vector_dim)
    bias: Array  # (vector_dim,)
    layers: tuple[Layer, ...]
    cell: Cell


@dataclass(frozen=True, slots=True)
class Packing:
    """Where each word of a batch stands in time: ``order[0]`` reads forward, ``order[1]`` backward."""

    n_active: list[int]  # sentences still running at time t
    order: Ints  # (2, n_words): word rows, time after time
    place: Ints  # (2, n_words): the inverse of order

    @classmethod
    def of(cls, lengths: Sequence[int]) -> Packing:
        """``lengths`` of the sentences, longest first."""
        sizes = np.asarray(lengths, dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        times = np.arange(sizes[0] if len(sizes) else 0)
        alive = times[:, None] < sizes[None, :]  # (time, sentence)
        forward = (starts[None, :] + times[:, None])[alive]
        backward = ((starts + sizes - 1)[None, :] - times[:, None])[alive]
        order = np.stack([forward, backward])
        place = np.empty_like(order)
        place[0, forward] = np.arange(len(forward))
        place[1, backward] = np.arange(len(backward))
        return cls(alive.sum(axis=1).tolist(), order, place)


def embed_words(xp: Namespace, weights: WordWeights, ids: WordIds) -> Array:
    """v'_i for every word: (n_words, vector_dim)."""
    parts = [xp.embed(weights.words, xp.index(ids.words))]
    if weights.external is not None and ids.external is not None:
        parts.append(xp.embed(weights.external, xp.index(ids.external)))
    parts += [xp.embed(table, xp.index(tags)) for table, tags in zip(weights.tags, ids.tags, strict=True)]
    x = parts[0] if len(parts) == 1 else xp.concat(parts, -1)
    return xp.tanh(xp.matmul(x, weights.project) + weights.bias)


def encode_words(xp: Namespace, weights: WordWeights, ids: WordIds, packing: Packing) -> Array:
    """v_i for every word: (n_words, vector_dim), in the order of ``ids``."""
    x = embed_words(xp, weights, ids)
    if not weights.layers:
        return x
    order, place = xp.index(packing.order), xp.index(packing.place)
    x = xp.stack([xp.take(x, order[0]), xp.take(x, order[1])], 0)  # (2, n_words, vector_dim), time after time
    for layer in weights.layers:
        if xp.lstm_layer is not None and weights.cell.name == "lstm":
            x = xp.lstm_layer(layer, x, packing.n_active)
        else:
            x = run_layer(xp, weights.cell, layer, x, packing.n_active)
    return xp.concat([xp.take(x[0], place[0]), xp.take(x[1], place[1])], -1)


def run_layer(xp: Namespace, cell: Cell, layer: Layer, x: Array, n_active: Sequence[int]) -> Array:
    """One layer over packed sequences, both directions at once: (2, n_words, in) -> (2, n_words, dim)."""
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
