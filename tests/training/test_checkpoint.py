"""The checkpoint as a file: what goes in comes out, bit for bit, and a bad one is explained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from easyfirst.errors import ModelError
from easyfirst.training.checkpoint import FILE, Checkpoint, has_checkpoint, load_checkpoint, save_checkpoint


@pytest.fixture
def checkpoint() -> Checkpoint:
    rng = np.random.default_rng(3)
    rng.normal(size=5)
    arrays: dict[str, Any] = {
        "parameters/words.embedding": rng.normal(size=(4, 3)).astype(np.float32),
        "optimizer/words.embedding/step": np.array(7, dtype=np.int64),
        "optimizer/tree.bias/exp_avg": np.zeros((0, 2), dtype=np.float32),
    }
    history = [{"epoch": 1, "loss": 0.1 + 0.2, "dev": None}, {"epoch": 2, "loss": 1 / 3, "dev": {"LAS": 1e-300}}]
    return Checkpoint({"history": history, "rng": rng.bit_generator.state, "violation_rate": 0.7 / 3}, arrays)


def assert_same(one: Checkpoint, other: Checkpoint) -> None:
    assert one.facts == other.facts
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        assert (array.shape, array.dtype) == (other.arrays[name].shape, other.arrays[name].dtype)
        assert array.tobytes() == other.arrays[name].tobytes()


def test_what_is_saved_is_loaded(tmp_path: Path, checkpoint: Checkpoint) -> None:
    assert not has_checkpoint(tmp_path)
    save_checkpoint(tmp_path, checkpoint)
    assert has_checkpoint(tmp_path)
    assert_same(load_checkpoint(tmp_path), checkpoint)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_random_generator_goes_on_where_it_was(tmp_path: Path, checkpoint: Checkpoint) -> None:
    save_checkpoint(tmp_path, checkpoint)
    one, other = np.random.default_rng(), np.random.default_rng()
    one.bit_generator.state = checkpoint.facts["rng"]
    other.bit_generator.state = load_checkpoint(tmp_path).facts["rng"]
    assert one.random(10).tolist() == other.random(10).tolist()


def test_saving_again_replaces(tmp_path: Path, checkpoint: Checkpoint) -> None:
    save_checkpoint(tmp_path, Checkpoint({"history": []}, {}))
    save_checkpoint(tmp_path, checkpoint)
    assert_same(load_checkpoint(tmp_path), checkpoint)


def test_a_half_written_one_does_no_harm(tmp_path: Path, checkpoint: Checkpoint) -> None:
    (tmp_path / f"{FILE}.tmp").write_bytes(b"half")
    assert not has_checkpoint(tmp_path)
    save_checkpoint(tmp_path, checkpoint)
    (tmp_path / f"{FILE}.tmp").write_bytes((tmp_path / FILE).read_bytes()[:100])
    assert_same(load_checkpoint(tmp_path), checkpoint)


def test_what_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(tmp_path, checkpoint)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ModelError, match=rf"{FILE} cannot be written: No space left on device"):
        save_checkpoint(tmp_path, Checkpoint({"history": []}, {}))
    assert_same(load_checkpoint(tmp_path), checkpoint)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


class TestRefused:
    def test_none_there(self, tmp_path: Path) -> None:
        for directory in (tmp_path, tmp_path / "missing"):
            with pytest.raises(ModelError, match="no checkpoint to resume from; start without --resume"):
                load_checkpoint(directory)

    @pytest.mark.parametrize("n_bytes", [0, 4, 100, -1])
    def test_cut_short(self, tmp_path: Path, checkpoint: Checkpoint, n_bytes: int) -> None:
        save_checkpoint(tmp_path, checkpoint)
        (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:n_bytes])
        with pytest.raises(ModelError, match=r"this checkpoint is damaged .* start again with --overwrite"):
            load_checkpoint(tmp_path)

    @pytest.mark.parametrize("metadata", [None, {"other": "x"}, {"facts": "{"}, {"facts": "[1]"}])
    def test_not_a_checkpoint(self, tmp_path: Path, metadata: dict[str, str] | None) -> None:
        (tmp_path / FILE).write_bytes(safetensors.numpy.save({"a": np.zeros(2)}, metadata=metadata))
        with pytest.raises(ModelError, match="this checkpoint is damaged"):
            load_checkpoint(tmp_path)

    @pytest.mark.parametrize("version", [0, 2, None])
    def test_another_version(self, tmp_path: Path, version: int | None) -> None:
        facts = json.dumps({"format_version": version, "history": []})
        (tmp_path / FILE).write_bytes(safetensors.numpy.save({"a": np.zeros(2)}, metadata={"facts": facts}))
        with pytest.raises(ModelError, match="another version of easyfirst wrote this checkpoint"):
            load_checkpoint(tmp_path)

    def test_unreadable(self, tmp_path: Path, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        save_checkpoint(tmp_path, checkpoint)
        monkeypatch.setattr("easyfirst.training.checkpoint.open_tensors", refuse)
        with pytest.raises(ModelError, match=rf"{FILE} cannot be read: Permission denied"):
            load_checkpoint(tmp_path)
