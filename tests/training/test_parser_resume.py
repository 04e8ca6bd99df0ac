"""Interrupted parser training continues bit for bit, and only with the same settings and data."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from easyfirst.errors import ConfigError
from easyfirst.model.parser_store import load_parser
from easyfirst.training.checkpoint import load_checkpoint
from easyfirst.training.data import Job
from easyfirst.training.run_folders import FOLDER
from tests.training.parser_runs import (
    CHECKPOINT,
    TOY,
    Listener,
    StopHere,
    arrays_of,
    config_of,
    contents,
    interrupt_in,
    metrics_in,
    train,
    without_times,
)


class TestResume:
    """Interrupted by an exception; tests/training/test_resume.py kills real processes."""

    def test_as_if_never_interrupted(self, tmp_path: Path, dev: Path, vectors: Path) -> None:
        """With everything that has a state: tables of words, of two kinds of tags, and of external vectors."""
        config = config_of(epochs=3, network={"rnn": "gru", "tags": "both"}, learning_rate=0.01, word_dropout=1.0)
        whole, parts = (Job(train=TOY, out=tmp_path / name, dev=dev, vectors=vectors) for name in ("whole", "parts"))
        history = train(whole, config, Listener())
        for epoch in (2, 3):
            with pytest.raises(StopHere):
                train(parts, config, interrupt_in(epoch), resume=(parts.out / CHECKPOINT).exists())
            assert len(metrics_in(parts.out)) == epoch - 1
        listener = Listener()
        resumed = train(parts, config, listener, resume=True)
        assert [metrics["epoch"] for metrics in listener.metrics] == [3]
        assert without_times(resumed) == without_times(history)
        assert without_times(metrics_in(parts.out)) == without_times(history)
        assert resumed == metrics_in(parts.out)
        one, other = contents(whole.out), contents(parts.out)
        assert one.keys() == other.keys()
        for name in ("config.json", "vocab.json", "weights.safetensors"):
            assert one[name] == other[name]
        assert arrays_of(whole.out, CHECKPOINT) == arrays_of(parts.out, CHECKPOINT)
        states = [load_checkpoint(out / FOLDER).facts for out in (whole.out, parts.out)]
        assert states[0]["rng"] == states[1]["rng"]
        assert states[0]["violation_rate"] == states[1]["violation_rate"]

    def test_more_epochs(self, tmp_path: Path, dev: Path) -> None:
        for name, steps in (("whole", [3]), ("parts", [1, 2, 3])):
            for epochs in steps:
                job = Job(train=TOY, out=tmp_path / name, dev=dev)
                listener = Listener()
                assert len(train(job, config_of(epochs=epochs), listener, resume=epochs != steps[0])) == epochs
        assert [metrics["epoch"] for metrics in listener.metrics] == [3]
        assert arrays_of(tmp_path / "whole", CHECKPOINT) == arrays_of(tmp_path / "parts", CHECKPOINT)
        assert arrays_of(tmp_path / "whole") == arrays_of(tmp_path / "parts")

    def test_more_epochs_than_an_early_end(self, tmp_path: Path, dev: Path) -> None:
        job = Job(train=TOY, out=tmp_path / "m", dev=dev)
        history = train(job, config_of(epochs=9, patience=0.1, min_updates=1, learning_rate=1e-9), Listener())
        assert len(history) < 9
        assert len(train(job, config_of(epochs=9, learning_rate=1e-9), Listener(), resume=True)) == 9

    @pytest.mark.parametrize("epochs", [1, 2])
    def test_a_finished_run(self, tmp_path: Path, epochs: int) -> None:
        history = train(Job(train=TOY, out=tmp_path / "m"), config_of(epochs=2), Listener())
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "m").rglob("*")}
        listener = Listener()
        assert train(Job(train=TOY, out=tmp_path / "m"), config_of(epochs=epochs), listener, resume=True) == history
        assert listener.calls == ["data"]
        assert {path: path.stat().st_mtime_ns for path in (tmp_path / "m").rglob("*")} == before

    @pytest.mark.parametrize(
        ("changes", "name"),
        [
            ({"seed": 2}, "training.seed was 1"),
            ({"learning_rate": 0.5}, "training.learning_rate was 0.001"),
            ({"network": {"tree_dim": 6}}, "network.tree_dim was 5"),
            ({"network": {"tags": "none"}}, "network.tags was upos"),
            ({"network": {"tags": "xpos"}}, "network.tags was upos"),
            ({"name": "htlstm", "network": {"bilstm_layers": 0}}, "preset was paper, network.bilstm_layers was 1"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_other_settings(self, tmp_path: Path, changes: dict[str, Any], name: str) -> None:
        job = Job(train=TOY, out=tmp_path / "m")
        train(job, config_of(), Listener())
        before = contents(tmp_path / "m")
        with pytest.raises(ConfigError, match=rf"the run used different settings \({name}\); resume with the same"):
            train(job, config_of(**{"epochs": 2} | changes), Listener(), resume=True)
        assert contents(tmp_path / "m") == before

    def test_other_data(self, tmp_path: Path, dev: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m", dev=dev), config_of(), Listener())
        before = contents(tmp_path / "m")
        other = tmp_path / "other.conllu"
        other.write_bytes(TOY.read_bytes().replace(b"bread", b"cakes"))
        for train_file, dev_file, name in ((other, dev, "train"), (TOY, other, "dev"), (TOY, None, "dev")):
            job = Job(train=train_file, out=tmp_path / "m", dev=dev_file)
            with pytest.raises(ConfigError, match=rf"the run used different data \({name}\); resume with the same"):
                train(job, config_of(epochs=2), Listener(), resume=True)
        assert contents(tmp_path / "m") == before

    def test_the_licence_is_remembered(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m", licence="CC0"), config_of(), Listener())
        for epochs, licence in ((2, None), (3, "CC BY 4.0")):
            job = Job(train=TOY, out=tmp_path / "m", licence=licence)
            train(job, config_of(epochs=epochs), Listener(), resume=True)
            assert f"- Licence: {licence or 'CC0'}\n" in load_parser(tmp_path / "m").card

    def test_vectors_where_there_were_none(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        (tmp_path / "vectors.txt").write_text("the 1 2\ndog 2 1\n")
        job = Job(train=TOY, out=tmp_path / "m", vectors=tmp_path / "vectors.txt")
        with pytest.raises(ConfigError, match=r"the run used different data \(vectors was None\)"):
            train(job, config_of(epochs=2), Listener(), resume=True)

    def test_the_same_data_elsewhere(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        moved = tmp_path / "moved.conllu.gz"
        moved.write_bytes(gzip.compress(TOY.read_bytes()))
        assert len(train(Job(train=moved, out=tmp_path / "m"), config_of(epochs=2), Listener(), resume=True)) == 2

    def test_nothing_to_resume(self, tmp_path: Path) -> None:
        listener = Listener()
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), listener, resume=True)
        assert listener.notes == [f"there is no run to resume in {tmp_path / 'm'}; a new one begins"]
        assert (tmp_path / "m" / "config.json").is_file()
