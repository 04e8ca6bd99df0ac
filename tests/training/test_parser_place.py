"""Where a model may be written, and errors that leave the directory as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from easyfirst.errors import ConfigError, DataError, EasyFirstError, ModelError
from easyfirst.parser import load
from easyfirst.training.data import Job
from easyfirst.training.run_folders import FOLDER
from easyfirst.training.training_loop import METRICS
from tests.training.parser_runs import (
    CHECKPOINT,
    DATA,
    TOY,
    Listener,
    StopHere,
    arrays_of,
    config_of,
    contents,
    interrupt_in,
    metrics_in,
    train,
)


def test_members_are_trained_one_by_one(tmp_path: Path, dev: Path) -> None:
    config = replace(config_of(), members=2)
    with pytest.raises(ConfigError, match="one at a time, then join them by 'easyfirst combine'"):
        train(Job(dev, tmp_path / "m"), config, Listener())
    assert not (tmp_path / "m").exists()


class TestPlace:
    """Where the model goes, and what may be there already."""

    def refuse(self, out: Path, message: str, *, kind: type[EasyFirstError] = ModelError, **options: bool) -> None:
        before = contents(out) if out.is_dir() else None
        listener = Listener()
        with pytest.raises(kind, match=message):
            train(Job(train=TOY, out=out), config_of(), listener, **options)
        assert not listener.seen
        assert before == (contents(out) if out.is_dir() else None)

    def test_a_run_is_there(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        self.refuse(tmp_path / "m", "a training run is there; continue with --resume, or start again with --overwrite")

    def test_something_else_is_there(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        self.refuse(tmp_path, "exists already; choose another --out, or use --overwrite")
        train(Job(train=TOY, out=tmp_path), config_of(), Listener(), overwrite=True)
        assert (tmp_path / "notes.txt").read_text() == "mine"
        load(tmp_path)

    def test_the_model_of_something_else_is_never_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text("{}")
        self.refuse(tmp_path, "holds files of something else", overwrite=True)

    def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for overwrite in (False, True):
            self.refuse(tmp_path / "file", "is a file, but a model is a directory", overwrite=overwrite)
            self.refuse(tmp_path / "file" / "m", "cannot be written", overwrite=overwrite)
        (tmp_path / "m").mkdir()
        (tmp_path / "m" / FOLDER).write_text("")
        self.refuse(tmp_path / "m", rf"{FOLDER} cannot be written", overwrite=True)

    def test_an_empty_directory_will_do_and_so_do_missing_parents(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for out in (tmp_path / "empty", tmp_path / "a" / "b" / "c"):
            train(Job(train=TOY, out=out), config_of(), Listener())
            load(out)

    def test_what_a_first_epoch_leaves_behind_is_no_hindrance(self, tmp_path: Path) -> None:
        job = Job(train=TOY, out=tmp_path / "m")
        with pytest.raises(StopHere):
            train(job, config_of(), interrupt_in(1))
        assert contents(job.out) == {}
        (job.out / f"{CHECKPOINT}.tmp").write_bytes(b"half")
        train(job, config_of(), Listener())
        load(job.out)

    def test_overwriting_starts_anew(self, tmp_path: Path) -> None:
        for out, seeds in ((tmp_path / "fresh", [2]), (tmp_path / "over", [1, 2])):
            for seed in seeds:
                config = config_of(epochs=3 - seed, seed=seed, network={"tree_dim": 4 + seed})
                history = train(Job(train=TOY, out=out), config, Listener(), overwrite=True)
            assert len(history) == len(metrics_in(out)) == 1
        fresh, over = contents(tmp_path / "fresh"), contents(tmp_path / "over")
        assert fresh.keys() == over.keys()
        for name in ("config.json", "vocab.json", "weights.safetensors"):
            assert fresh[name] == over[name]
        assert arrays_of(tmp_path / "fresh", CHECKPOINT) == arrays_of(tmp_path / "over", CHECKPOINT)

    def test_overwriting_takes_the_old_run_away_at_once(self, tmp_path: Path) -> None:
        """Else a new run that is killed early would be resumed as the old one. The old model stays until there is a
        new one."""
        job = Job(train=TOY, out=tmp_path / "m")
        train(job, config_of(), Listener())
        before = contents(job.out)
        with pytest.raises(StopHere):
            train(job, config_of(seed=2), interrupt_in(1), overwrite=True)
        kept = {k: v for k, v in before.items() if not k.startswith(FOLDER)}
        assert contents(job.out) == {**kept, f"{FOLDER}/{METRICS}": b""}
        load(job.out)
        listener = Listener()
        train(job, config_of(seed=2), listener, resume=True)
        assert listener.notes == [f"there is no run to resume in {job.out}; a new one begins"]
        assert load(job.out).config.training.seed == 2


class TestTrouble:
    @pytest.mark.parametrize("overwrite", [False, True])
    def test_bad_data_leaves_no_directory(self, tmp_path: Path, overwrite: bool) -> None:
        cases = ((DATA / "scripts.conllu", None, "xpos"), (TOY, tmp_path / "missing", "upos"), (TOY, tmp_path, "none"))
        for train_file, dev_file, tags in cases:
            job = Job(train=train_file, out=tmp_path / "m", dev=dev_file)
            with pytest.raises(DataError):
                train(job, config_of(network={"tags": tags}), Listener(), overwrite=overwrite)
        assert not (tmp_path / "m").exists()

    def test_dev_without_the_tags_that_train_has(self, tmp_path: Path) -> None:
        job = Job(train=TOY, out=tmp_path / "m", dev=DATA / "scripts.conllu")
        with pytest.raises(DataError, match=r"scripts\.conllu: this treebank has no XPOS"):
            train(job, config_of(network={"tags": "both"}), Listener())

    def test_a_loss_that_is_no_number(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def not_a_number(*_: object, **__: object) -> torch.Tensor:
            return torch.full((3,), torch.nan)

        job = Job(train=TOY, out=tmp_path / "m")
        train(job, config_of(), Listener())
        before = contents(job.out)
        monkeypatch.setattr("easyfirst.training.parser_loss.hinge_losses", not_a_number)
        with pytest.raises(ConfigError, match="epoch 2: the loss is not a finite number; try a smaller"):
            train(job, config_of(epochs=2), Listener(), resume=True)
        assert contents(job.out) == before

    def test_a_clock_that_stands_still(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("time.process_time", lambda: 5.0)
        monkeypatch.setattr("time.perf_counter", lambda: 5.0)
        [line] = train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        assert line["seconds"] == line["cpu_seconds"] == 0
        assert line["words_per_second"] > 0
