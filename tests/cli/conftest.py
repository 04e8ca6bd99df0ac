"""The command, in this process and as its own, and small models for it to use."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pytest

from easyfirst.model.card import CardFacts, write_card
from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import ParserModel, initial_parser, save_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.nn.tagger_network import OUTPUTS
from easyfirst.parser import Parser
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import score
from tests.cli.corpora import write_corpus
from tests.cli.tiny_training import TOY, Train, train_tiny
from tests.commands import Run, run_here, run_process
from tests.small_models import SMALL, small_model, small_tagger, small_tokenizer


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def run() -> Run:
    """The command in this process: ``run("parse", "--model", path, stdin=b"...")``."""
    return run_here


@pytest.fixture(scope="session")
def process() -> Run:
    """The command as a process of its own, for what depends on that."""
    return run_process


def _save(path: Path, treebank: Path, tags: str) -> Path:
    config = preset("paper", network={**SMALL, "tags": tags})
    vocabulary = ParserVocabulary.of(read_conllu(treebank), tag_kinds=config.network.tag_kinds)
    arrays = initial_parser(config.network, sizes_of(vocabulary, None), np.random.default_rng(5))
    facts = CardFacts(
        name=path.name,
        date=datetime.date(2024, 1, 2),
        easyfirst_version="0.1.0",
        config=config,
        data=[],
        scores=score(read_conllu(treebank), read_conllu(treebank)),
        licence="Apache-2.0",
    )
    save_parser(path, ParserModel(config, vocabulary, arrays, write_card(facts)))
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A model that needs no tags."""
    return _save(tmp_path_factory.mktemp("models") / "untagged", data / "multiword.conllu", "none")


@pytest.fixture(scope="session")
def xpos_model(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A model that needs XPOS."""
    return _save(tmp_path_factory.mktemp("models") / "xpos", data / "multiword.conllu", "xpos")


@pytest.fixture(scope="session")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads raw text and has no calibration."""
    path = tmp_path_factory.mktemp("models") / "text"
    Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(path)
    return path


@pytest.fixture(scope="session")
def whole_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads raw text, predicts all columns, and reads tags and features."""
    path = tmp_path_factory.mktemp("models") / "whole"
    Parser(small_model("all"), tokenizer=small_tokenizer(), tagger=small_tagger(kinds=OUTPUTS)).save(path)
    return path


@pytest.fixture(scope="session")
def train() -> Train:
    """``train(TRAIN, "--out", path)`` with a tiny network, in this process."""
    return train_tiny


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sentences."""
    path = tmp_path_factory.mktemp("data") / "dev.conllu"
    blocks = (TOY / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:4]
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Files of all kinds in a tree."""
    return write_corpus(tmp_path / "corpus")
