"""The tree encoder (section 3): every subtree a vector c = e_l ∘ e_r, built incrementally as in Algorithm 2.

A node's *state* is the pair of its two RNN states. Attaching a modifier advances one of the two by
enc(modifier) = tanh(W^e (c ∘ relation) + b), so the modifiers are read from the head outward.

Without tree layers (the paper's baseline) a node is its head's vector: its state is v_i and never changes.
"""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.nn import rnn
from easyfirst.nn.namespace import Array, Namespace

LEFT, RIGHT = 0, 1  # a modifier's side of its head; also an action's direction, and the row of two-sided weights


@dataclass(frozen=True, slots=True)
class TreeWeights:
    """RNN_L and RNN_R, the relation embeddings, W^e and b, and the vector that pads the pending list."""

    padding: Array  # (vector_dim,)
    layers: tuple[rnn.Layer, ...]
    cell: rnn.Cell
    relations: Array | None  # (n_relations, relation_dim)
    encode: Array | None  # (2 * tree_dim + relation_dim, vector_dim)
    bias: Array | None  # (vector_dim,)

    @property
    def output_dim(self) -> int:
        """The width of e_l, and of e_r (without layers: of half of v_i)."""
        return self.layers[-1].dim if self.layers else int(self.padding.shape[0]) // 2


def leaf_states(xp: Namespace, weights: TreeWeights, vectors: Array) -> Array:
    """Return the states of nodes without modifiers: (rows, vector_dim) -> (2, rows, state)."""
    if weights.layers:
        return rnn.start(xp, weights.cell, weights.layers, vectors)
    half = weights.output_dim
    return xp.stack([vectors[:, :half], vectors[:, half:]], 0)


def relation_table(xp: Namespace, weights: TreeWeights) -> Array:
    """Return what each relation adds to W^e (c ∘ relation) + b: (n_relations, vector_dim)."""
    assert weights.relations is not None
    assert weights.encode is not None
    assert weights.bias is not None
    return xp.matmul(weights.relations, weights.encode[2 * weights.output_dim :]) + weights.bias


def encode_modifiers(xp: Namespace, weights: TreeWeights, c: Array, relations: Array) -> Array:
    """Return enc of finished subtrees: c (rows, 2 * tree_dim), rows of :func:`relation_table` -> (rows, vector_dim)."""
    assert weights.encode is not None
    z = xp.matmul(c, weights.encode[: 2 * weights.output_dim])
    z += relations
    return xp.tanh(z)


def attach(xp: Namespace, weights: TreeWeights, state: Array, encoded: Array, *, side: int) -> Array:
    """Return the heads' states on one side after each takes a modifier there: (rows, state) -> (rows, state)."""
    return rnn.advance(xp, weights.cell, weights.layers, encoded, state, side=side)
