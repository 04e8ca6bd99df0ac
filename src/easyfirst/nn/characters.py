"""The character encoder: a form's vector is the last state of each direction of a BiLSTM over its characters. It is
computed once for each distinct form of a batch; words look up the row of their form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import CELLS, Cell, Layer, layers_of
from easyfirst.nn.sequences import Drop, Packing, run_bidirectional, span_states


@dataclass(frozen=True, slots=True)
class Spelling:
    """Distinct forms, longest first, as rows of the character table."""

    characters: Ints  # (n_characters,): all forms concatenated
    lengths: Ints  # (n_forms,), all positive

    def __len__(self) -> int:
        return len(self.lengths)

    def of(self, forms: Ints) -> Spelling:
        """Select some of the forms by number."""
        starts: Ints = np.cumsum(self.lengths) - self.lengths
        lengths: Ints = self.lengths[forms]
        new_starts: Ints = np.cumsum(lengths) - lengths
        places: Ints = np.arange(int(lengths.sum())) + np.repeat(starts[forms] - new_starts, lengths)
        return Spelling(self.characters[places], lengths)


@dataclass(frozen=True, slots=True)
class CharacterWeights:
    """The character table and the BiLSTM that reads it."""

    embedding: Array  # (n_characters, character_dim)
    layers: tuple[Layer, ...]
    cell: Cell


def characters_of(arrays: Mapping[str, Array], prefix: str = "characters") -> CharacterWeights:
    """Wrap the arrays ``<prefix>.embedding`` and ``<prefix>.rnn.*``."""
    return CharacterWeights(arrays[f"{prefix}.embedding"], layers_of(arrays, f"{prefix}.rnn"), CELLS["lstm"])


def spell(xp: Namespace, weights: CharacterWeights, spelling: Spelling, drop: Drop | None = None) -> Array:
    """Return the vector of each form: (n_forms, 2 * dim). ``drop`` is applied to the character embeddings."""
    x = xp.embed(weights.embedding, xp.index(spelling.characters))
    if drop is not None:
        x = drop(x)
    states = run_bidirectional(xp, weights.cell, weights.layers, x, Packing.of(spelling.lengths.tolist()))
    return last_states(xp, states, spelling)


def last_states(xp: Namespace, states: Array, spelling: Spelling) -> Array:
    """Return the last state of each direction in each form: (n_characters, 2 * dim) -> (n_forms, 2 * dim)."""
    ends = np.cumsum(spelling.lengths)
    return span_states(xp, states, ends - spelling.lengths, ends - 1)
