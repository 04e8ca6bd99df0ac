"""The tokenizer's network: a BiLSTM over characters finds the ends of words and tokens, and a second one over tokens
finds the ends of sentences.

A token's vector is the first BiLSTM's forward state at its last character and its backward state at its first
(``easyfirst.nn.sequences.span_states``). There are far fewer tokens than characters, so the second BiLSTM covers a long
context cheaply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from easyfirst.nn.arrays import Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import CELLS, Layer, layers_of
from easyfirst.nn.sequences import Drop, Packing, run_bidirectional

INSIDE, WORD_END, TOKEN_END = range(3)  # a character is inside a word, or ends a word inside a token, or a token
N_BOUNDARIES = 3
SENTENCE_END, REWRITTEN = range(2)  # a token ends a sentence; it has several words that are not its substrings
N_QUESTIONS = 2


@dataclass(frozen=True, slots=True)
class TokenizerWeights:
    """The character table, the two BiLSTMs and a linear layer on top of each."""

    characters: Array  # (n_kinds, character_dim)
    character_layers: tuple[Layer, ...]
    boundary: Array  # (2 * hidden_dim, N_BOUNDARIES)
    boundary_bias: Array
    token_layers: tuple[Layer, ...]
    question: Array  # (2 * token_dim, N_QUESTIONS)
    question_bias: Array


def tokenizer_of(arrays: Mapping[str, Array]) -> TokenizerWeights:
    """Wrap arrays as a network without copying."""
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
    """Return the first BiLSTM's states, given the characters' rows in the table: (n_characters, 2 * hidden_dim)."""
    x = xp.embed(weights.characters, xp.index(characters))
    if drop is not None:
        x = drop(x)
    h = run_bidirectional(xp, CELLS["lstm"], weights.character_layers, x, packing, drop)
    return h if drop is None else drop(h)


def score_boundaries(xp: Namespace, weights: TokenizerWeights, h: Array) -> Array:
    """Score the classes of each character: (n_characters, 2 * hidden_dim) -> (n_characters, N_BOUNDARIES)."""
    return xp.matmul(h, weights.boundary) + weights.boundary_bias


def score_tokens(
    xp: Namespace, weights: TokenizerWeights, vectors: Array, packing: Packing, drop: Drop | None = None
) -> Array:
    """Return the log-odds of each decision: (n_tokens, 2 * hidden_dim) -> (n_tokens, N_QUESTIONS)."""
    h = run_bidirectional(xp, CELLS["lstm"], weights.token_layers, vectors, packing, drop)
    if drop is not None:
        h = drop(h)
    return xp.matmul(h, weights.question) + weights.question_bias
