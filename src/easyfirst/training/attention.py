"""An auxiliary training task: predict the head and relation of every word from its vector v alone.

The hinge loss (section 5.1) has gradients only for violations, which get fewer as the parser gets better. This loss, by
biaffine attention (Dozat & Manning 2017), has gradients for every word of a batch with violations, and so trains a
BiLSTM whose vectors tell more about heads. Its weights are not saved: the parser has no features but its subtrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, leaky_relu, pad

from easyfirst.model.initial_values import glorot
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.sequences import Drop
from easyfirst.parsing.oracle import Gold

ARC_DIM, RELATION_DIM = 200, 64  # the hidden layers that score arcs and relations, for heads and for modifiers each
SLOPE = 0.1  # the slope of the hidden layers' activation below zero
IGNORED = -100
PREFIX = "attention."


def initial_attention(vector_dim: int, n_relations: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Return initial weights. Those of pairs are zero, so all heads are equally likely."""
    width = 2 * (ARC_DIM + RELATION_DIM)
    arrays = {
        "outside": glorot(rng, vector_dim, 0, (vector_dim,)),
        "hidden": glorot(rng, vector_dim, ARC_DIM, (vector_dim, width)),
        "hidden_bias": np.zeros(width, dtype=np.float32),
        "arcs": np.zeros((ARC_DIM + 1, ARC_DIM), dtype=np.float32),
        "relations": np.zeros((n_relations, RELATION_DIM + 1, RELATION_DIM + 1), dtype=np.float32),
    }
    return {PREFIX + name: array for name, array in arrays.items()}


@dataclass(frozen=True, slots=True)
class Attention:
    """The weights of the auxiliary task."""

    outside: Tensor  # (vector_dim,) the head of the root
    hidden: Tensor  # (vector_dim, 2 * ARC_DIM + 2 * RELATION_DIM)
    hidden_bias: Tensor
    arcs: Tensor  # (modifier: ARC_DIM + 1, head: ARC_DIM)
    relations: Tensor  # (n_relations, modifier: RELATION_DIM + 1, head: RELATION_DIM + 1)

    @classmethod
    def of(cls, parameters: Mapping[str, Tensor]) -> Attention:
        """Select the weights from named parameters."""
        return cls(**{name[len(PREFIX) :]: tensor for name, tensor in parameters.items() if name.startswith(PREFIX)})

    def mean_loss(self, vectors: Tensor, lengths: Ints, gold: Gold, drop: Drop | None = None) -> Tensor:
        """Return the cross-entropy of heads and relations, summed and divided by the number of words.

        ``vectors``: (n_words, vector_dim), sentence by sentence, longest first. Unknown heads and relations have no
        loss, nor has the root's relation. ``drop`` is applied to the hidden layers.
        """
        rows = torch.cat([vectors, self.outside[None]])
        hidden = leaky_relu(rows @ self.hidden + self.hidden_bias, SLOPE)
        hidden = hidden if drop is None else drop(hidden)
        as_head, as_modifier, names_head, names_modifier = hidden.split([ARC_DIM] * 2 + [RELATION_DIM] * 2, dim=1)
        arcs = self._arc_loss(as_head, as_modifier, lengths, gold)
        return (arcs + self._relation_loss(names_head, names_modifier, gold)) / len(vectors)

    def _arc_loss(self, as_head: Tensor, as_modifier: Tensor, lengths: Ints, gold: Gold) -> Tensor:
        outside = len(as_head) - 1
        queries = _with_one(as_modifier) @ self.arcs
        losses: list[Tensor] = []
        begin = 0
        classes = np.ceil(np.log2(lengths))  # of similar lengths, so that there is little padding
        for sizes in np.split(lengths, np.flatnonzero(np.diff(classes)) + 1):
            starts = begin + np.cumsum(sizes) - sizes
            end = begin + int(sizes.sum())
            is_word = np.arange(sizes[0]) < sizes[:, None]  # (sentence, place)
            words = np.where(is_word, starts[:, None] + np.arange(sizes[0]), outside)
            choices = np.insert(words, 0, outside, axis=1)  # the outside comes first
            scores = _rows(queries, words) @ _rows(as_head, choices).mT
            scores = scores.masked_fill(torch.from_numpy(~np.insert(is_word, 0, True, axis=1))[:, None], -torch.inf)
            rows = gold.heads[begin:end]
            places = np.where(rows == outside, 0, rows - np.repeat(starts, sizes) + 1)
            target = torch.from_numpy(np.where(rows > outside, IGNORED, places))
            scores = scores[torch.from_numpy(is_word)]
            losses.append(cross_entropy(scores, target, ignore_index=IGNORED, reduction="sum"))
            begin = end
        return torch.stack(losses).sum()

    def _relation_loss(self, names_head: Tensor, names_modifier: Tensor, gold: Gold) -> Tensor:
        n_words = len(names_head) - 1
        heads, relations = gold.heads[:n_words], gold.relations[:n_words]
        m = np.flatnonzero((heads < n_words) & (relations >= 0))
        of_heads = _with_one(names_head.index_select(0, torch.from_numpy(heads[m])))
        of_modifiers = _with_one(names_modifier.index_select(0, torch.from_numpy(m)))
        by_relation = of_modifiers @ self.relations.movedim(0, 1).flatten(1)
        scores = (by_relation.reshape(len(m), len(self.relations), RELATION_DIM + 1) @ of_heads[:, :, None])[..., 0]
        return cross_entropy(scores, torch.from_numpy(relations[m]), reduction="sum")


def _rows(x: Tensor, rows: Ints) -> Tensor:
    """Return the rows of x at these places: (..,) -> (.., dim)."""
    return x.index_select(0, torch.from_numpy(rows.reshape(-1))).reshape(*rows.shape, -1)


def _with_one(x: Tensor) -> Tensor:
    """Append a column of ones, so that a product with it has a bias."""
    return pad(x, (0, 1), value=1.0)
