"""Representing words (section 3.1): v'_i = tanh(W^v (w_i ∘ p_i) + b), then v_i = f_i ∘ b_i by a BiLSTM.

LSTM_F and LSTM_B are two separate stacks (``easyfirst.nn.sequences``). Beyond the paper, w_i may be followed by an
external vector, a contextual vector of a pretrained encoder and a character vector, and every layer of the BiLSTM may
read both directions of the one below.
"""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.nn.arrays import Ints
from easyfirst.nn.characters import CharacterWeights, Spelling, spell
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import Cell, Layer
from easyfirst.nn.sequences import Drop, Packing, run_stacks


@dataclass(frozen=True, slots=True)
class WordIds:
    """The words of a batch as rows of the embedding tables, all sentences concatenated."""

    words: Ints  # (n_words,)
    external: Ints | None
    tags: tuple[Ints, ...]  # (n_words,) for each kind of tag
    forms: Ints | None = None  # (n_words,): the number of each word's form in the spelling
    spelling: Spelling | None = None
    contextual: Array | None = None  # (n_words, contextual_dim): the vectors that a pretrained encoder computes


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The embedding tables, W^v and b, and the BiLSTM (without stacks, v_i = v'_i)."""

    words: Array  # (n_vocabulary, word_dim)
    external: Array | None  # (n_external, external_dim)
    tags: tuple[Array, ...]  # (n_tags, tag_dim) each
    project: Array  # (sum of the dims above, vector_dim)
    bias: Array  # (vector_dim,)
    stacks: tuple[tuple[Layer, ...], ...]
    cell: Cell
    characters: CharacterWeights | None = None

    @property
    def contextual_dim(self) -> int:
        """The width of contextual vectors; 0: none are read."""
        tables = [self.words, *self.tags, *([] if self.external is None else [self.external])]
        spelling = 0 if self.characters is None else 2 * self.characters.layers[-1].dim
        return int(self.project.shape[0]) - sum(int(table.shape[1]) for table in tables) - spelling


def embed_words(xp: Namespace, weights: WordWeights, ids: WordIds, drop: Drop | None = None) -> Array:
    """Return v'_i for every word: (n_words, vector_dim). ``drop`` is applied to the character embeddings."""
    parts = [xp.embed(weights.words, xp.index(ids.words))]
    if weights.external is not None and ids.external is not None:
        parts.append(xp.embed(weights.external, xp.index(ids.external)))
    parts += [xp.embed(table, xp.index(tags)) for table, tags in zip(weights.tags, ids.tags, strict=True)]
    if ids.contextual is not None:
        parts.append(ids.contextual)
    if weights.characters is not None and ids.spelling is not None and ids.forms is not None:
        parts.append(xp.take(spell(xp, weights.characters, ids.spelling, drop), xp.index(ids.forms)))
    x = parts[0] if len(parts) == 1 else xp.concat(parts, -1)
    return xp.tanh(xp.matmul(x, weights.project) + weights.bias)


def encode_words(
    xp: Namespace, weights: WordWeights, ids: WordIds, packing: Packing, drop: Drop | None = None
) -> Array:
    """Return v_i for every word: (n_words, vector_dim). ``drop`` is applied to v', between stacks and to v."""
    return run_stacks(xp, weights.cell, weights.stacks, embed_words(xp, weights, ids, drop), packing, drop)
