"""``easyfirst train`` on a directory that has been trained into, and after an interrupt."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst.parser import load
from tests.cli.tiny_training import TINY, TRAIN, Train
from tests.patience import PATIENCE


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def trained(train: Train, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model after one epoch."""
    path = tmp_path_factory.mktemp("trained") / "m"
    assert train(TRAIN, "-o", path, "--epochs", "1").code == 0
    return path


class TestAgain:
    """Training into a directory that has been trained into."""

    @pytest.fixture
    def out(self, trained: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(trained, tmp_path / "m"))

    def test_refused(self, train: Train, out: Path) -> None:
        before = contents(out)
        error = train(TRAIN, "-o", out, "--epochs", "1").error
        assert error == f"{out}: a training run is there; continue with --resume, or start again with --overwrite"
        assert contents(out) == before

    def test_a_directory_with_something_else(self, train: Train, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        assert "exists already; choose another --out, or use --overwrite" in train(TRAIN, "-o", tmp_path).error
        assert contents(tmp_path) == {"notes.txt": b"mine"}

    def test_overwrite(self, train: Train, out: Path) -> None:
        before = contents(out)
        assert "epoch 1/1" in train(TRAIN, "-o", out, "--epochs", "1", "--seed", "2", "--overwrite").stderr
        after = contents(out)
        assert after.keys() == before.keys()
        assert after["weights.safetensors"] != before["weights.safetensors"]
        assert len(after["training/metrics.jsonl"].splitlines()) == 1

    def test_resume_with_more_epochs(self, train: Train, out: Path) -> None:
        done = train(TRAIN, "-o", out, "--epochs", "2", "--resume")
        assert done.code == 0
        assert "epoch 2/2" in done.stderr
        assert "epoch 1/2" not in done.stderr
        assert len((out / "training" / "metrics.jsonl").read_text().splitlines()) == 2

    def test_resume_of_a_finished_run(self, train: Train, out: Path) -> None:
        before = contents(out)
        done = train(TRAIN, "-o", out, "--epochs", "1", "--resume")
        assert done.code == 0
        assert "already trained for 1 epoch; raise --epochs to continue\n" in done.stderr
        assert f"the model is in {out}\n" in done.stderr
        assert contents(out) == before

    def test_resume_with_something_else(self, train: Train, out: Path, dev: Path) -> None:
        before = contents(out)
        for arguments, message in (
            ([TRAIN, "--seed", "2"], "settings (training.seed was 1); resume with the same settings"),
            ([TRAIN, "--tags", "none"], "settings (network.tags was upos); resume with the same settings"),
            ([TRAIN, "--set", "network.window=1"], "settings (network.window was 2); resume with the same settings"),
            ([dev], "data (train, dev); resume with the same data"),
            ([TRAIN, "--dev", dev], "data (dev); resume with the same data"),
            ([TRAIN, "--no-dev"], "data (dev); resume with the same data"),
        ):
            error = train(*arguments, "-o", out, "--epochs", "2", "--resume").error
            assert error.startswith(f"{out / 'training'}: the run used different ")
            assert re.sub(r"\b[0-9a-f]{64}\b", "<sha>", error).endswith(message)
        assert contents(out) == before

    def test_nothing_to_resume(self, train: Train, tmp_path: Path) -> None:
        done = train(TRAIN, "-o", tmp_path / "m", "--resume", "--epochs", "1")
        assert done.code == 0
        assert f"there is no run to resume in {tmp_path / 'm'}; a new one begins\n" in done.stderr
        load(tmp_path / "m")


class TestInterrupt:
    @pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a single process on Windows")
    def test_as_a_process(self, tmp_path: Path) -> None:
        out = tmp_path / "m"
        command = [sys.executable, "-m", "easyfirst", "train", str(TRAIN), "-o", str(out), "--epochs", "1000", *TINY]
        with subprocess.Popen([*command, "--no-dev"], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("train: ")
            assert process.stderr.readline().startswith("crossing arcs: ")
            assert process.stderr.readline().startswith("epoch 1/1000")
            process.send_signal(signal.SIGINT)
            *_, last = process.stderr.read().splitlines()
            assert process.wait(PATIENCE) == 130
        assert last == f"stopped; continue with --resume (finished epochs are in {out})"
        load(out)
        assert not list(out.rglob("*.tmp"))

    def test_in_the_first_epoch(self, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("easyfirst.training.training_loop.TrainingLoop.epoch", interrupted)
        done = train(TRAIN, "-o", tmp_path / "m")
        assert done.code == 130
        assert done.stderr.endswith("\nstopped; no epoch was finished\n")
