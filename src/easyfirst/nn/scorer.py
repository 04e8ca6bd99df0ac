"""The scoring function (section 4.4): Score(i, d, l) = MLP_U(x_i)[d] + MLP_L(x_i)[d, l].

x_i is the window of subtrees pend[i-k].c ∘ .. ∘ pend[i+1+k].c. Both MLPs read the same window, so their hidden layers
share one matrix. Before the tanh, a hidden layer is a sum over the slots of the window. Training computes it from
whole windows (:func:`hidden_of_windows`), parsing from projections stored for every node (:func:`slot_weights`),
because a node stays in many windows.
"""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.nn.namespace import Array, Namespace


@dataclass(frozen=True, slots=True)
class ScorerWeights:
    """MLP_U and MLP_L. The columns of ``hidden`` are MLP_U's hidden layer, then MLP_L's."""

    hidden: Array  # (n_slots * node_dim, 2 * hidden_dim)
    hidden_bias: Array  # (2 * hidden_dim,)
    unlabelled: Array  # (hidden_dim, 2)
    unlabelled_bias: Array  # (2,)
    labelled: Array  # (hidden_dim, 2 * n_relations)
    labelled_bias: Array  # (2 * n_relations,)

    @property
    def n_relations(self) -> int:
        return int(self.labelled.shape[1]) // 2


def slot_weights(weights: ScorerWeights, n_slots: int) -> Array:
    """Return the hidden layer's weights with a block of columns for each slot: (node_dim, n_slots * 2 * hidden_dim)."""
    width = weights.hidden.shape[1]
    return weights.hidden.reshape(n_slots, -1, width).swapaxes(0, 1).reshape(-1, n_slots * width)


def output_weights(xp: Namespace, weights: ScorerWeights) -> tuple[Array, Array]:
    """Merge the two output layers into one: ((2 * hidden_dim, 2 * n_relations), (2 * n_relations,))."""
    n = weights.n_relations
    of_unlabelled = xp.concat([weights.unlabelled[:, :1]] * n + [weights.unlabelled[:, 1:]] * n, 1)
    bias = xp.concat([weights.unlabelled_bias[:1]] * n + [weights.unlabelled_bias[1:]] * n, 0)
    return xp.concat([of_unlabelled, weights.labelled], 0), bias + weights.labelled_bias


def hidden_of_windows(xp: Namespace, weights: ScorerWeights, windows: Array) -> Array:
    """Return the hidden layer of whole windows: (rows, n_slots * node_dim) -> (rows, 2 * hidden_dim)."""
    return xp.tanh(xp.matmul(windows, weights.hidden) + weights.hidden_bias)
