"""The training loop, on a task small enough to check by eye: logistic regression."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.settings import TrainingSettings
from easyfirst.nn.sequences import Drop
from easyfirst.training.checkpoint import differences
from easyfirst.training.optimizer import Optimizer
from easyfirst.training.supervised import SupervisedTask
from easyfirst.training.training_loop import Progress, Silent, Step, TrainingLoop

CONFIG = TrainingSettings(epochs=4, learning_rate=0.05, averaging=0.9, dropout=0.1)
TIMES = {"seconds", "cpu_seconds", "decisions_per_cpu_second"}


class Signs(SupervisedTask):
    """Learn the sign of a sum of numbers, some of which are looked up in a table."""

    sparse = frozenset({"table"})
    frozen = frozenset({"offset"})

    def __init__(
        self,
        settings: TrainingSettings = CONFIG,
        *,
        has_dev: bool = True,
        fingerprint: Mapping[str, str] | None = None,
    ) -> None:
        arrays: dict[str, Any] = {
            "w": np.zeros(3, dtype=np.float32),
            "table": np.zeros((4, 1), dtype=np.float32),
            "offset": np.ones(1, dtype=np.float32),
        }
        super().__init__(arrays, settings, fingerprint)
        rng = np.random.default_rng(3)
        self.x = rng.normal(size=(200, 3)).astype(np.float32)
        self.y = (self.x.sum(axis=1) > 0).astype(np.float32)
        self.has_dev = has_dev
        self.saved: list[dict[str, Any]] = []

    def batches(self, rng: np.random.Generator) -> Iterable[Any]:
        return np.array_split(rng.permutation(200), 10)

    def loss(self, parameters: Mapping[str, torch.Tensor], batch: Any, drop: Drop | None) -> tuple[torch.Tensor, int]:
        assert drop is not None
        x = drop(torch.from_numpy(self.x[batch]))
        rows = torch.nn.functional.embedding(torch.from_numpy(batch % 4), parameters["table"], sparse=True)
        z = x @ parameters["w"] + rows[:, 0] + 0 * parameters["offset"]
        gold = torch.from_numpy(self.y[batch])
        return torch.nn.functional.binary_cross_entropy_with_logits(z, gold, reduction="sum"), len(batch)

    def evaluate(self, arrays: Mapping[str, Any]) -> dict[str, float] | None:
        if not self.has_dev:
            return None
        right = ((self.x @ arrays["w"] > 0) == (self.y > 0)).mean()
        return {"accuracy": round(100 * float(right), 3)}

    def save(self, arrays: Mapping[str, Any], epoch: int) -> None:
        self.saved.append({name: array.copy() for name, array in arrays.items()})


def learn(task: Signs, folder: Path, progress: Progress | None = None, *, resume: bool = False) -> list[dict[str, Any]]:
    return TrainingLoop(task, folder, resume=resume).run(progress or Silent())


def without_times(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name not in TIMES} for line in history]


def test_it_learns_and_keeps_the_best(tmp_path: Path) -> None:
    task = Signs()
    history = learn(task, tmp_path / "run")
    scores = [line["dev"]["accuracy"] for line in history]
    assert max(scores) > 95
    assert len(task.saved) == len({max(scores[: n + 1]) for n in range(len(scores))})
    assert task.evaluate(task.saved[-1]) == {"accuracy": max(scores)}
    assert history[-1]["loss"] < history[0]["loss"]
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == history
    np.testing.assert_array_equal(task.arrays["offset"], 1)


def test_without_dev_data_the_last_is_kept(tmp_path: Path) -> None:
    task = Signs(has_dev=False)
    learn(task, tmp_path)
    assert len(task.saved) == CONFIG.epochs


def test_what_is_saved_is_the_average(tmp_path: Path) -> None:
    task = Signs(has_dev=False)
    learn(task, tmp_path / "mean")
    plain = Signs(replace(CONFIG, averaging=0.0), has_dev=False)
    learn(plain, tmp_path / "plain")
    np.testing.assert_array_equal(task.arrays["w"], plain.arrays["w"])
    np.testing.assert_array_equal(plain.saved[-1]["w"], plain.arrays["w"])
    assert not np.array_equal(task.saved[-1]["w"], plain.saved[-1]["w"])


class StoppedError(Exception):
    pass


class StopAfter(Silent):
    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        if metrics["epoch"] == self.epoch:
            raise StoppedError


def test_a_resumed_run_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    whole, first, second = Signs(), Signs(), Signs()
    expected = learn(whole, tmp_path / "whole")
    with pytest.raises(StoppedError):
        learn(first, tmp_path / "parts", StopAfter(2))
    history = learn(second, tmp_path / "parts", resume=True)
    assert without_times(history) == without_times(expected)
    for name, array in whole.arrays.items():
        assert array.tobytes() == second.arrays[name].tobytes()


def test_another_run_is_not_resumed(tmp_path: Path) -> None:
    learn(Signs(fingerprint={"train": "a"}), tmp_path)
    with pytest.raises(ConfigError, match=r"different settings \(dropout was 0\.1\); resume with the same settings"):
        learn(Signs(replace(CONFIG, dropout=0.2), fingerprint={"train": "a"}), tmp_path, resume=True)
    for other, difference in (
        ({"train": "b"}, "train was a"),
        ({"train": "a", "dev": "b"}, "dev was None"),
        ({}, "train was a"),
    ):
        with pytest.raises(
            ConfigError, match=rf"{tmp_path}: the run used different data or settings \({difference}\);"
        ):
            learn(Signs(fingerprint=other), tmp_path, resume=True)


def test_what_differs_is_named_without_checksums() -> None:
    network = {"word_dim": 4, "rnn": "lstm"}
    saved = {"train": "0" * 64, "dev": None, "network": network}
    assert differences(saved, dict(saved)) == ""
    other = {"train": "1" * 64, "dev": None, "network": {**network, "word_dim": 5}}
    assert differences(saved, other) == "train, network.word_dim was 4"


def test_a_loss_that_is_no_number_says_what_to_do(tmp_path: Path) -> None:
    task = Signs()
    task.x[:] = np.inf
    with pytest.raises(ConfigError, match="epoch 1: the loss is not a finite number; try a smaller learning_rate"):
        learn(task, tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="cannot be written"):
        learn(Signs(), tmp_path / "file" / "run")


class Waiting(Signs):
    """Updates after every third batch, and has a batch without a loss."""

    def steps(self, parameters: Mapping[str, torch.Tensor]) -> Iterator[Step]:
        for number, step in enumerate(super().steps(parameters), 1):
            has_loss = number != 5
            yield replace(step, is_update=number % 3 == 0, **{} if has_loss else {"loss": None, "n_decisions": 0})


def test_gradients_add_up_until_an_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    updates: list[tuple[int, float]] = []
    monkeypatch.setattr(Optimizer, "step", lambda _, n, *, rate_share, past: updates.append((n, rate_share)))
    learn(Waiting(replace(CONFIG, epochs=1, final_rate=0.5)), tmp_path)
    assert [n for n, _ in updates] == [60, 40, 60]
    assert [share for _, share in updates] == pytest.approx([1 - 0.5 * done for done in (0.2, 0.5, 0.8)])
