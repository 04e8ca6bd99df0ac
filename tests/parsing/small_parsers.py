"""Parsers with small random networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from easyfirst.model.parser_config import NetworkConfig, preset
from easyfirst.model.parser_store import ParserModel, Sizes, initial_parser
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.parser import Parser
from easyfirst.parsing.engine import NumpyEngine
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence

DATA = Path(__file__).parent.parent / "data"
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}
FORMS = ["Do", "n't", "salt", "soup", "the", ".", "zebra", "1", "👩‍🍳", "10\u00a0000", "ספר"]


def small_parser(*, seed: int = 0, tags: str = "upos", name: str = "paper") -> Parser:
    """Return a parser with the vocabulary of a tiny treebank and random weights, in NumPy."""
    config = preset(name, network={**SMALL, "tags": tags})
    vocabulary = ParserVocabulary.of(read_conllu(DATA / "multiword.conllu"), tag_kinds=config.network.tag_kinds)
    arrays = initial_parser(config.network, sizes_of(vocabulary, config.network), np.random.default_rng(seed))
    model = ParserModel(config, vocabulary, arrays)
    return Parser(model, engine=NumpyEngine.of(arrays, config, vocabulary), valid=False)


def engine_of(parser: Parser) -> NumpyEngine:
    """Return an engine with the weights of a parser."""
    return NumpyEngine.of(parser.model.arrays, parser.config, parser.model.vocabulary)


def sizes_of(vocabulary: ParserVocabulary, network: NetworkConfig) -> Sizes:
    tags = {kind: len(vocabulary.tags[kind]) + 1 for kind in network.tag_kinds}
    return Sizes(len(vocabulary.words) + 1, tags, len(vocabulary.relations))


def tagged(forms: list[str]) -> Sentence:
    return Sentence.from_words(forms, upos=["NOUN"] * len(forms))
