"""Count the multiply-adds that a network needs to parse, from the shapes of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from easyfirst.nn.namespace import Array
from easyfirst.nn.parser_network import Network
from easyfirst.nn.rnn import Cell, Layer


def multiply_adds(network: Network, lengths: Sequence[int], form_lengths: Sequence[int] = ()) -> int:
    """Return the multiply-adds for sentences of these lengths, if nothing is computed twice.

    The vector of a form is computed once, by the BiLSTM over its characters: ``form_lengths`` are the lengths of the
    distinct forms. Each word needs v_i, two leaf states and their projections. Each attachment except a sentence's last
    needs the encoding of the modifier, one step of one RNN, the new half of the head's projections, and the scores of
    the pairs whose window holds the head. Each initial pair needs a score. Pairs near the ends of a sentence may not
    see the head, so the count of scores after an attachment is an upper bound.
    """
    words = network.words
    n_words = sum(lengths)
    total = n_words * (_size(words.project) + _leaf(network))
    total += sum(_bilstm(words.cell, layer, lengths) for stack in words.stacks for layer in stack)
    if words.characters is not None:
        total += sum(_bilstm(words.characters.cell, layer, form_lengths) for layer in words.characters.layers)
    total += sum(max(n - 2, 0) for n in lengths) * _attachment(network)
    n_scores = sum(n - 1 + _scores_after_attachments(n, network.n_slots) for n in lengths)
    return total + n_scores * (_size(network.scorer.unlabelled) + _size(network.scorer.labelled))


def _size(array: Array) -> int:
    return prod(array.shape)


def _bilstm(cell: Cell, layer: Layer, lengths: Sequence[int]) -> int:
    """Count one layer in both directions; the first step has no recurrent product and no idle gates."""
    first = _first_step(cell, layer)
    step = _size(layer.input) + _size(layer.recurrent)
    return sum(first + (n - 1) * step for n in lengths)


def _first_step(cell: Cell, layer: Layer) -> int:
    return _size(layer.input) * (cell.n_gates - cell.n_idle_gates) // cell.n_gates


def _leaf(network: Network) -> int:
    """Count both states of a word without modifiers, and its projections by all slots of the window."""
    return sum(_first_step(network.trees.cell, layer) for layer in network.trees.layers) + _size(network.scorer.hidden)


def _attachment(network: Network) -> int:
    """Count the new state of the head on one side, and the change of its projections."""
    trees = network.trees
    if trees.encode is None:
        return 0
    encoding = 2 * trees.output_dim * trees.encode.shape[1]
    steps = sum(_size(layer.input) + _size(layer.recurrent) for layer in trees.layers) // 2
    return encoding + steps + _size(network.scorer.hidden) // 2


def _scores_after_attachments(length: int, n_slots: int) -> int:
    """Count the pairs to score again: after each attachment at most one per slot, and no more than there are."""
    return sum(min(n_slots, n_pairs) for n_pairs in range(1, length - 1))
