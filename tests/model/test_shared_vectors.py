"""Shared vectors: eight or four bits a value, near to what was given, and the same after they were saved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.lexicon import external_ids
from easyfirst.model.part import load_part, save_part
from easyfirst.model.shared_vectors import KIND, SharedVectors, load_shared_vectors, save_shared_vectors
from easyfirst.model.tagger_store import look_up
from easyfirst.model.weight_files import read_weights


def vectors_of(table: np.ndarray, bits: int = 8) -> SharedVectors:
    return SharedVectors.of(Embeddings(tuple(f"w{n}" for n in range(len(table))), table), bits)


@given(hnp.arrays(np.float32, (3, 5), elements=st.floats(-50, 50, width=32)), st.sampled_from([(8, 0.01), (4, 0.075)]))
def test_they_are_near(table: np.ndarray, bits_and_distance: tuple[int, float]) -> None:
    bits, distance = bits_and_distance
    rounded = vectors_of(table, bits).table
    assert rounded.shape == (4, 5)
    assert not rounded[0].any()
    largest = np.abs(table).max(axis=1, keepdims=True)
    assert (np.abs(rounded[1:] - table) <= distance * largest + 1e-5).all()


@pytest.mark.parametrize(("bits", "version"), [(8, 1), (4, 3)])
@pytest.mark.parametrize("shape", [(6, 4), (5, 3), (3, 1), (0, 4)])
def test_saved_and_loaded(tmp_path: Path, shape: tuple[int, int], bits: int, version: int) -> None:
    vectors = vectors_of(np.random.default_rng(1).normal(size=shape).astype(np.float32), bits)
    save_shared_vectors(tmp_path / "vectors", vectors)
    loaded = load_shared_vectors(tmp_path / "vectors")
    assert loaded.rows == vectors.rows
    assert loaded.sha256 == vectors.sha256
    assert loaded.table.tobytes() == vectors.table.tobytes()
    assert loaded.bits == bits
    assert json.loads((tmp_path / "vectors" / "config.json").read_text())["format_version"] == version
    _, stored = read_weights(tmp_path / "vectors" / "weights.safetensors")
    assert stored["values"].nbytes == shape[0] * (shape[1] if bits == 8 else (shape[1] + 1) // 2)


def test_two_numbers_in_a_byte(tmp_path: Path) -> None:
    """How a file that was written once is read in every later version."""
    save_shared_vectors(tmp_path, vectors_of(np.array([[7, -7, 1], [0, 3, 7]], dtype=np.float32), 4))
    _, stored = read_weights(tmp_path / "weights.safetensors")
    assert stored["values"].view(np.uint8).tolist() == [[0x1F, 0x89], [0xB8, 0x8F]]
    assert stored["scales"].tolist() == [[1], [1]]


def test_other_numbers_of_bits(tmp_path: Path) -> None:
    table = np.ones((2, 4), dtype=np.float32)
    with pytest.raises(ConfigError, match="8 or 4 bits a number, not 3"):
        vectors_of(table, 3)
    save_shared_vectors(tmp_path, replace(vectors_of(table, 4), bits=8))
    for bits, message in ((4, "values of shape"), (3, "bits must be 8 or 4, not 3"), ([4], "bits must be a whole num")):
        settings = {"network": {"dim": 4, "bits": bits}}
        save_part(tmp_path, replace(load_part(tmp_path, KIND, lambda network: network)[0], settings=settings))
        with pytest.raises(ModelError, match=message):
            load_shared_vectors(tmp_path)


@pytest.mark.parametrize("dim", [None, 0, "4", True])
def test_dim_that_is_none(tmp_path: Path, dim: object) -> None:
    save_shared_vectors(tmp_path, vectors_of(np.ones((2, 4), dtype=np.float32)))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"network": {"dim": dim}}))
    with pytest.raises(ModelError, match="dim must be a whole number from 1"):
        load_shared_vectors(tmp_path)


def test_forms_are_looked_up_as_written_then_normalised() -> None:
    vectors = SharedVectors.of(Embeddings(("Fox", "fox", "<number>"), np.eye(3, dtype=np.float32)))
    assert external_ids(vectors.rows, ["Fox", "FOX", "1990", "dog"]).tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("network", [None, [], "dim", 5])
def test_settings_that_are_no_table(tmp_path: Path, network: object) -> None:
    save_shared_vectors(tmp_path, vectors_of(np.ones((2, 4), dtype=np.float32)))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"network": network}))
    with pytest.raises(ModelError, match=r"config\.json: network must be an object"):
        load_shared_vectors(tmp_path)


def test_no_vectors_at_all() -> None:
    found = look_up(vectors_of(np.zeros((0, 4), dtype=np.float32)), ["fox", "dog"])
    assert found.shape == (2, 4)
    assert not found.any()


def test_damage_is_noticed(tmp_path: Path) -> None:
    vectors = vectors_of(np.ones((2, 4), dtype=np.float32))
    save_shared_vectors(tmp_path, vectors)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"network": {"dim": 5}}))
    with pytest.raises(ModelError, match="of different models"):
        load_shared_vectors(tmp_path)
    with pytest.raises(ModelError, match="there is no model"):
        load_shared_vectors(tmp_path / "nothing")
