"""A small model to write, damage and read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easyfirst.model.parser_config import NetworkConfig, ParserConfig
from easyfirst.model.parser_store import ParserModel, initial_parser, save_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.treebank.sentence import Sentence

MakeModel = Callable[..., ParserModel]


@pytest.fixture
def sentences() -> list[Sentence]:
    return [
        Sentence.from_words(
            ["The", "fox", "ate", "1,000", "10\u00a0000", "🦊"],
            upos=["DET", "NOUN", "VERB", "NUM", "NUM", "SYM"],
            xpos=["DT", "NN", "VBD", "CD", "CD", "SYM"],
            heads=[2, 3, 0, 6, 4, 3],
            relations=["det", "nsubj", "root", "nummod", "flat", "obj"],
        ),
        Sentence.from_words(["Fox"], upos=["NOUN"], xpos=["NN"], heads=[0], relations=["root"]),
    ]


@pytest.fixture
def make_model(sentences: list[Sentence]) -> MakeModel:
    """A model of a few numbers; keyword arguments are settings of the network."""

    def make(*, seed: int = 0, external: list[str] | None = None, **network: Any) -> ParserModel:
        sizes: dict[str, Any] = {"word_dim": 3, "tag_dim": 2, "relation_dim": 2, "vector_dim": 4, "tree_dim": 3}
        settings = NetworkConfig(**(sizes | {"hidden_dim": 2} | network))
        vocabulary = ParserVocabulary.of(
            sentences,
            tag_kinds=settings.tag_kinds,
            external=external,
            reads_characters=settings.spelling_dim > 0,
        )
        shape = None if external is None else (len(external) + 1, 5)
        arrays = initial_parser(settings, sizes_of(vocabulary, shape), np.random.default_rng(seed))
        return ParserModel(ParserConfig("paper", settings), vocabulary, arrays, "# A card\n")

    return make


@pytest.fixture
def saved(tmp_path: Path, make_model: MakeModel) -> Path:
    save_parser(tmp_path / "model", make_model())
    return tmp_path / "model"
