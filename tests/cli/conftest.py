"""The command as a real process, and small models for it to use."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from easyfirst.model.card import CardFacts, write_card
from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import ParserModel, save_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.parser_weights import initial_parser
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import score

SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def run() -> Run:
    """``run("parse", "--model", path, stdin=b"...")``; nothing may ever end in a traceback."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "easyfirst", *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done

    return call


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
