"""Models of a few numbers, untrained: what they say means nothing, but it has the right form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import ParserModel, initial_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_config import TaggerConfig
from easyfirst.model.tagger_store import TaggerModel, initial_tagger
from easyfirst.model.tagger_vocabulary import TaggerVocabulary
from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.model.tokenizer_store import TokenizerModel, initial_tokenizer
from easyfirst.model.tokenizer_vocabulary import TokenizerVocabulary
from easyfirst.text.tagging import Tagger
from easyfirst.text.tokenizing import Tokenizer
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.raw_text import read_paragraphs
from tests.morphology import TREEBANK, sentences_with_features

SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}


def small_model(tags: str, vectors: SharedVectors | None = None) -> ParserModel:
    config = preset("paper", network={**SMALL, "tags": tags})
    words = None if vectors is None else list(vectors.rows)
    vocabulary = ParserVocabulary.of(sentences_with_features(), tag_kinds=config.network.tag_kinds, external=words)
    table = None if vectors is None else vectors.table
    sizes = sizes_of(vocabulary, None if table is None else table.shape)
    arrays = initial_parser(config.network, sizes, np.random.default_rng(5), external=table)
    return ParserModel(config, vocabulary, arrays, "# a card\n", vectors)


def small_tokenizer() -> Tokenizer:
    config = TokenizerConfig(character_dim=4, hidden_dim=4, token_dim=4)
    vocabulary = TokenizerVocabulary.of(read_paragraphs(read_conllu(TREEBANK)), min_count=config.min_count)
    return Tokenizer(
        TokenizerModel(config, vocabulary, initial_tokenizer(config, vocabulary, np.random.default_rng(0)))
    )


def small_tagger(vectors: SharedVectors | None = None, *, kinds: tuple[str, ...] = ("upos", "xpos")) -> Tagger:
    """A tagger with these outputs; with ``lemmas``, it knows the lemmas of its treebank."""
    config = TaggerConfig(
        word_dim=4, character_dim=4, spelling_dim=4, bilstm_dim=4, external_dim=vectors.dim if vectors else 0
    )
    vocabulary = TaggerVocabulary.of(sentences_with_features(), min_count=config.min_count)
    known = vocabulary.known_lemmas if "lemmas" in kinds else {}
    vocabulary = replace(vocabulary, outputs={kind: vocabulary.outputs[kind] for kind in kinds}, known_lemmas=known)
    arrays = initial_tagger(config, vocabulary, np.random.default_rng(2))
    return Tagger(TaggerModel(config, vocabulary, arrays, vectors))
