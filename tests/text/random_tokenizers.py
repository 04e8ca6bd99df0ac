"""Tokenizers with random weights, which put boundaries anywhere: what must hold of any tokenizer holds of them."""

from __future__ import annotations

import numpy as np

from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.model.tokenizer_store import TokenizerModel, initial_tokenizer
from easyfirst.model.tokenizer_vocabulary import SPACE, Rewriting, TokenizerVocabulary
from easyfirst.text.tokenizing import Tokenizer

CONFIG = TokenizerConfig(character_dim=3, hidden_dim=4, token_dim=3)
ALPHABET = {character: row for row, character in enumerate(SPACE + "abcdefg.,!'ABC123", 30)}


def random_model(
    seed: int, *, config: TokenizerConfig = CONFIG, has_inner_spaces: bool = False, rules: bool = True
) -> TokenizerModel:
    rewriting = Rewriting({"b": ("x", "yz")} if rules else {})
    vocabulary = TokenizerVocabulary(ALPHABET, rewriting, has_inner_spaces, {"ba": (1, 1), "a.b": (1, 1, 1)})
    arrays = initial_tokenizer(config, vocabulary, np.random.default_rng(seed))
    for name in ("boundary.weights", "question.weights"):
        arrays[name] *= 5  # so that every answer is given
    return TokenizerModel(config, vocabulary, arrays)


def random_tokenizer(seed: int, *, has_inner_spaces: bool = False, **biases: list[int]) -> Tokenizer:
    """Return a tokenizer. ``biases`` are those of its two output layers, ``boundary`` and ``question``."""
    model = random_model(seed, has_inner_spaces=has_inner_spaces)
    for name, bias in biases.items():
        model.arrays[f"{name}.bias"][:] = bias
    return Tokenizer(model)
