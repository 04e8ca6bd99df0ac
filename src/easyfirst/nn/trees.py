"""The tree encoder (section 3): every subtree a vector c = e_l ∘ e_r, built incrementally as in Algorithm 2.

A node's *state* is the pair of its two RNN states. Attaching a modifier advances one of the two by
enc(modifier) = tanh(W^e (c ∘ relation) + b), so the modifiers are read from the head outward.

Encoders of finished trees (``tree_levels``) may also read them inward, the head last, or in both directions. Then a
second pair of RNNs reads inward, and c = e_l ∘ e_r is followed by the e_l and e_r of the second pair.

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

    padding: Array  # (vector_dim,); None in encoders of finished trees, which have no pending list
    layers: tuple[rnn.Layer, ...]
    cell: rnn.Cell
    relations: Array | None  # (n_relations, relation_dim); None: relations are not read
    encode: Array | None  # (node_dim + relation_dim, vector_dim)
    bias: Array | None  # (vector_dim,)
    inward: tuple[rnn.Layer, ...] = ()  # the second pair of RNNs, of bidirectional encoders

    @property
    def output_dim(self) -> int:
        """The width of e_l, and of e_r (without layers: of half of v_i)."""
        return self.layers[-1].dim if self.layers else int(self.padding.shape[0]) // 2

    @property
    def node_dim(self) -> int:
        """The width of c."""
        return (4 if self.inward else 2) * self.output_dim


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
    return xp.matmul(weights.relations, weights.encode[weights.node_dim :]) + weights.bias


def encode_modifiers(xp: Namespace, weights: TreeWeights, c: Array, relations: Array) -> Array:
    """Return enc of finished subtrees: c (rows, node_dim), rows of :func:`relation_table` -> (rows, vector_dim)."""
    assert weights.encode is not None
    z = xp.matmul(c, weights.encode[: weights.node_dim])
    z += relations
    return xp.tanh(z)


def attach(
    xp: Namespace, weights: TreeWeights, state: Array, encoded: Array, *, side: int, inward: bool = False
) -> Array:
    """Return the heads' states on one side after each takes a modifier there: (rows, state) -> (rows, state). With
    ``inward``, these are states of the second pair of RNNs."""
    return rnn.advance(xp, weights.cell, weights.inward if inward else weights.layers, encoded, state, side=side)
