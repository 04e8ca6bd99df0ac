"""The tokenizer's network: one BiLSTM reads characters and says where words and tokens end, a second one reads the
tokens and says where sentences end.

A token's vector is what the first BiLSTM knows at its two ends: forward at its last character, backward at its first.
Tokens are few beside characters, so the second BiLSTM sees far at little cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import CELLS, Layer, layers_of
from easyfirst.nn.sequences import Drop, Packing, read_both_ways

INSIDE, WORD_END, TOKEN_END = range(3)
"""What a character is: inside of a word, the last one of a word whose token goes on, the last one of a token."""
N_BOUNDARIES = 3
SENTENCE_END, REWRITTEN = range(2)
"""What is asked of a token: is it the last one of a sentence? Is it a multiword token whose words are not its parts?"""
N_QUESTIONS = 2


@dataclass(frozen=True, slots=True)
class TokenizerWeights:
    """The embedding table, the two BiLSTMs and a linear layer on top of each."""

    characters: Array  # (n_kinds, character_dim)
    character_layers: tuple[Layer, ...]
    boundary: Array  # (2 * hidden_dim, N_BOUNDARIES)
    boundary_bias: Array
    token_layers: tuple[Layer, ...]
    question: Array  # (2 * token_dim, N_QUESTIONS)
    question_bias: Array


def tokenizer_of(arrays: Mapping[str, Array]) -> TokenizerWeights:
    """Arrays by name, seen as a network. Nothing is copied."""
    return TokenizerWeights(
        characters=arrays["characters.embedding"],
        character_layers=layers_of(arrays, "characters.rnn"),
        boundary=arrays["boundary.weights"],
        boundary_bias=arrays["boundary.bias"],
        token_layers=layers_of(arrays, "tokens.rnn"),
        question=arrays["question.weights"],
        question_bias=arrays["question.bias"],
    )


def read_characters(
    xp: Namespace, weights: TokenizerWeights, characters: Ints, packing: Packing, drop: Drop | None = None
) -> Array:
    """What the first BiLSTM makes of every character, given its row in the table: (n_characters, 2 * hidden_dim)."""
    x = xp.embed(weights.characters, xp.index(characters))
    if drop is not None:
        x = drop(x)
    h = read_both_ways(xp, CELLS["lstm"], weights.character_layers, x, packing, drop)
    return h if drop is None else drop(h)


def score_boundaries(xp: Namespace, weights: TokenizerWeights, h: Array) -> Array:
    """(n_characters, 2 * hidden_dim) -> (n_characters, N_BOUNDARIES)"""
    return xp.matmul(h, weights.boundary) + weights.boundary_bias


def token_vectors(xp: Namespace, h: Array, first: Ints, last: Ints) -> Array:
    """Of tokens, given the rows of their first and last characters: (n_tokens, 2 * hidden_dim)."""
    half = h.shape[-1] // 2
    return xp.concat([xp.take(h[:, :half], xp.index(last)), xp.take(h[:, half:], xp.index(first))], -1)


def score_tokens(
    xp: Namespace, weights: TokenizerWeights, vectors: Array, packing: Packing, drop: Drop | None = None
) -> Array:
    """The log odds of the answer yes to each question: (n_tokens, 2 * hidden_dim) -> (n_tokens, N_QUESTIONS)."""
    h = read_both_ways(xp, CELLS["lstm"], weights.token_layers, vectors, packing, drop)
    if drop is not None:
        h = drop(h)
    return xp.matmul(h, weights.question) + weights.question_bias
