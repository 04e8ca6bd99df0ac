"""Shared vectors: eight bits a value, near to what was given, and the same after they were saved."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from easyfirst.errors import ModelError
from easyfirst.model.vectors import Vectors
from easyfirst.model.word_vectors import WordVectors, load_word_vectors, save_word_vectors
from easyfirst.text.tagger_store import look_up


def vectors_of(table: np.ndarray) -> WordVectors:
    return WordVectors.of(Vectors(tuple(f"w{n}" for n in range(len(table))), table))


@given(hnp.arrays(np.float32, (3, 5), elements=st.floats(-50, 50, width=32)))
def test_eight_bits_are_near(table: np.ndarray) -> None:
    rounded = vectors_of(table).table
    assert rounded.shape == (4, 5)
    assert not rounded[0].any()
    largest = np.abs(table).max(axis=1, keepdims=True)
    assert (np.abs(rounded[1:] - table) <= 0.01 * largest + 1e-5).all()


def test_saved_and_loaded(tmp_path: Path) -> None:
    vectors = vectors_of(np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32))
    save_word_vectors(tmp_path / "vectors", vectors)
    loaded = load_word_vectors(tmp_path / "vectors")
    assert loaded.rows == vectors.rows
    assert loaded.sha256 == vectors.sha256
    assert loaded.table.tobytes() == vectors.table.tobytes()


def test_forms_are_looked_up_as_written_then_normalised() -> None:
    vectors = WordVectors.of(Vectors(("Fox", "fox", "<number>"), np.eye(3, dtype=np.float32)))
    assert vectors.ids(["Fox", "FOX", "1990", "dog"]).tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("network", [None, [], "dim", 5])
def test_settings_that_are_no_table(tmp_path: Path, network: object) -> None:
    save_word_vectors(tmp_path, vectors_of(np.ones((2, 4), dtype=np.float32)))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"network": network}))
    with pytest.raises(ModelError, match=r"config\.json: network must be a table of settings"):
        load_word_vectors(tmp_path)


def test_no_vectors_at_all() -> None:
    found = look_up(vectors_of(np.zeros((0, 4), dtype=np.float32)), ["fox", "dog"])
    assert found.shape == (2, 4)
    assert not found.any()


def test_damage_is_noticed(tmp_path: Path) -> None:
    vectors = vectors_of(np.ones((2, 4), dtype=np.float32))
    save_word_vectors(tmp_path, vectors)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"network": {"dim": 5}}))
    with pytest.raises(ModelError, match="of different models"):
        load_word_vectors(tmp_path)
    with pytest.raises(ModelError, match="there is no model"):
        load_word_vectors(tmp_path / "nothing")
