"""Models of a few numbers, untrained: what they say means nothing, but it has the right form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from easyfirst.model.config import preset
from easyfirst.model.parameters import initial_parameters
from easyfirst.model.store import Model, sizes_of
from easyfirst.model.vocab import Vocabulary
from easyfirst.model.word_vectors import WordVectors
from easyfirst.text.script import Script
from easyfirst.text.tagger import Tagger
from easyfirst.text.tagger_store import TaggerConfig, TaggerModel, TaggerVocabulary, initial_tagger
from easyfirst.text.tokenizer import Tokenizer
from easyfirst.text.tokenizer_store import TokenizerConfig, TokenizerModel, initial_tokenizer
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.raw_text import read_paragraphs

TREEBANK = Path(__file__).parent.parent / "examples" / "toy" / "handwritten.conllu"
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}


def small_model(tags: str, vectors: WordVectors | None = None) -> Model:
    config = preset("paper", network={**SMALL, "tags": tags})
    words = None if vectors is None else list(vectors.rows)
    vocabulary = Vocabulary.of(read_conllu(TREEBANK), tag_kinds=config.network.tag_kinds, external=words)
    table = None if vectors is None else vectors.table
    sizes = sizes_of(vocabulary, None if table is None else table.shape)
    arrays = initial_parameters(config.network, sizes, np.random.default_rng(5), external=table)
    return Model(config, vocabulary, arrays, "# a card\n", vectors)


def small_tokenizer() -> Tokenizer:
    config = TokenizerConfig(character_dim=4, hidden_dim=4, token_dim=4)
    script = Script.of(read_paragraphs(read_conllu(TREEBANK)), min_count=config.min_count)
    return Tokenizer(TokenizerModel(config, script, initial_tokenizer(config, script, np.random.default_rng(1))))


def small_tagger(vectors: WordVectors | None = None, *, kinds: tuple[str, ...] = ("upos", "xpos")) -> Tagger:
    config = TaggerConfig(
        word_dim=4, character_dim=4, spelling_dim=4, bilstm_dim=4, external_dim=vectors.dim if vectors else 0
    )
    vocabulary = TaggerVocabulary.of(list(read_conllu(TREEBANK)), min_count=config.min_count)
    vocabulary = replace(vocabulary, tags={kind: vocabulary.tags[kind] for kind in kinds})
    arrays = initial_tagger(config, vocabulary, np.random.default_rng(2))
    return Tagger(TaggerModel(config, vocabulary, arrays, vectors))
