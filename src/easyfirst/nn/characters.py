"""A form's vector from its characters: a BiLSTM reads them, and the last state of each direction is kept.

It is computed once for each distinct form of a batch; words take the row of their form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import CELLS, Cell, Layer, layers_of
from easyfirst.nn.sequences import Drop, Packing, read_both_ways


@dataclass(frozen=True, slots=True)
class Spelling:
    """Different forms, longest first, each as rows of the table of characters."""

    characters: Ints  # (n_characters,): all forms, one after the other
    lengths: Ints  # (n_forms,), none of them 0

    def __len__(self) -> int:
        return len(self.lengths)

    def of(self, forms: Ints) -> Spelling:
        """Some of the forms, by their numbers."""
        starts: Ints = np.cumsum(self.lengths) - self.lengths
        lengths: Ints = self.lengths[forms]
        new_starts: Ints = np.cumsum(lengths) - lengths
        places: Ints = np.arange(int(lengths.sum())) + np.repeat(starts[forms] - new_starts, lengths)
        return Spelling(self.characters[places], lengths)


@dataclass(frozen=True, slots=True)
class CharacterWeights:
    """The table of characters and the BiLSTM that reads them."""

    embedding: Array  # (n_characters, character_dim)
    layers: tuple[Layer, ...]
    cell: Cell

    @property
    def output_dim(self) -> int:
        """Of a form's vector."""
        return 2 * self.layers[-1].dim


def characters_of(arrays: Mapping[str, Array], prefix: str = "characters") -> CharacterWeights:
    """Arrays by name, ``<prefix>.embedding`` and ``<prefix>.rnn.*``, seen as weights."""
    return CharacterWeights(arrays[f"{prefix}.embedding"], layers_of(arrays, f"{prefix}.rnn"), CELLS["lstm"])


def spell(xp: Namespace, weights: CharacterWeights, spelling: Spelling, drop: Drop | None = None) -> Array:
    """The vector of each form: (n_forms, output_dim). ``drop`` is applied to the characters' embeddings."""
    x = xp.embed(weights.embedding, xp.index(spelling.characters))
    if drop is not None:
        x = drop(x)
    states = read_both_ways(xp, weights.cell, weights.layers, x, Packing.of(spelling.lengths.tolist()))
    return last_states(xp, states, spelling)


def last_states(xp: Namespace, states: Array, spelling: Spelling) -> Array:
    """What each direction knows when it has read a form, of what both know at every character: (n_forms, dim)."""
    ends = np.cumsum(spelling.lengths)
    half = states.shape[-1] // 2
    forward = xp.take(states[:, :half], xp.index(ends - 1))
    backward = xp.take(states[:, half:], xp.index(ends - spelling.lengths))
    return xp.concat([forward, backward], -1)
