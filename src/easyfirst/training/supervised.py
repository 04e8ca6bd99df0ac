"""The one loop that trains what stands before the parser: tokenizer and tagger learn by cross-entropy, batch by batch.

After each epoch the averaged weights are evaluated on the dev data, the best are saved, and a checkpoint is written
from which the run goes on bit for bit.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.directory import replace_file
from easyfirst.model.settings import TrainingSettings
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.sequences import Drop
from easyfirst.training.average import Average
from easyfirst.training.checkpoint import Checkpoint, differences, load_checkpoint, save_checkpoint
from easyfirst.training.dropout import dropout
from easyfirst.training.optimizer import Optimizer

METRICS = "metrics.jsonl"
SHORTEST = 1e-9


class Task(Protocol):
    """A part to be trained, with its data."""

    arrays: dict[str, Floats]
    """The first weights; they change while the part learns."""
    sparse: frozenset[str]
    """The look-up tables among them, whose gradients have few rows."""
    frozen: frozenset[str]
    """The arrays that are not learnt."""

    def batches(self, rng: np.random.Generator) -> Iterable[Any]:
        """One epoch of the training data, in random order."""
        ...

    def loss(self, parameters: Mapping[str, Tensor], batch: Any, drop: Drop) -> tuple[Tensor, int]:
        """The summed loss of a batch, and of how many decisions."""
        ...

    def evaluate(self, arrays: Mapping[str, Floats]) -> dict[str, float] | None:
        """Scores on the dev data, of which the first decides between epochs; None without dev data."""
        ...

    def save(self, arrays: Mapping[str, Floats]) -> None:
        """Write the part with these weights."""
        ...


class Reporter(Protocol):
    """Hears how training goes."""

    def progress(self, epoch: int, share: float, loss: float) -> None:
        """This share of the epoch is done, at this mean loss."""

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        """An epoch is over and evaluated."""


class Silent:
    """A reporter that says nothing."""

    def progress(self, epoch: int, share: float, loss: float) -> None:
        pass

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        pass


def learn(
    task: Task,
    config: TrainingSettings,
    folder: Path,
    reporter: Reporter,
    *,
    resume: bool = False,
    fingerprint: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Train a part; the metrics of every epoch. ``folder`` gets the checkpoint and ``metrics.jsonl``.

    ``fingerprint``: what must be the same, besides the settings, for a run to be resumed, such as the data's checksum.
    """
    run = _Run(task, config, dict(fingerprint or {}))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"{folder} cannot be written: {error.strerror or error}") from error
    if resume:
        run.restore(folder)
    while len(run.history) < config.epochs:
        metrics = run.epoch(reporter)
        is_best = run.note(metrics)
        if is_best:
            task.save(run.average.arrays)
        lines = "".join(json.dumps(line) + "\n" for line in run.history)
        replace_file(folder / METRICS, lines.encode())
        save_checkpoint(folder, run.checkpoint())
        reporter.epoch_end(metrics, is_best=is_best)
    return run.history


class _Run:
    """A training run between two epochs."""

    def __init__(self, task: Task, config: TrainingSettings, fingerprint: dict[str, Any]) -> None:
        self.task, self.config, self.fingerprint = task, config, fingerprint
        self.rng = np.random.default_rng(config.seed)
        self.parameters = {name: torch.from_numpy(array) for name, array in task.arrays.items()}
        for name, tensor in self.parameters.items():
            tensor.requires_grad_(name not in task.frozen)
        self.optimizer = Optimizer(self.parameters, config, sparse=task.sparse)
        self.average = Average(self.parameters, config.averaging)
        self.history: list[dict[str, Any]] = []

    def epoch(self, reporter: Reporter) -> dict[str, Any]:
        """Learn from all batches once; the metrics."""
        number = len(self.history) + 1
        started, started_cpu = time.perf_counter(), time.process_time()
        batches = list(self.task.batches(self.rng))
        total, n_decisions = 0.0, 0
        for done, batch in enumerate(batches):
            past = (number - 1 + done / len(batches)) / self.config.epochs
            loss, n = self._update(batch, rate_share=1 - (1 - self.config.final_rate) * past)
            total, n_decisions = total + loss, n_decisions + n
            reporter.progress(number, (done + 1) / len(batches), total / max(n_decisions, 1))
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - started_cpu
        with overflow_is_fine():
            scores = self.task.evaluate(self.average.arrays)
        return {
            "epoch": number,
            "loss": round(total / max(n_decisions, 1), 6),
            "decisions": n_decisions,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu_seconds, 2),
            "decisions_per_cpu_second": round(n_decisions / max(cpu_seconds, SHORTEST), 1),
            "dev": scores,
        }

    def _update(self, batch: Any, *, rate_share: float) -> tuple[float, int]:
        drop = dropout(self.config.dropout, self.rng) or _nothing
        with overflow_is_fine():
            loss, n = self.task.loss(self.parameters, batch, drop)
            value = loss.item()
            if not math.isfinite(value):
                raise ConfigError(
                    f"epoch {len(self.history) + 1}: the loss is not a finite number; try a smaller learning_rate"
                )
            loss.backward()
        self.optimizer.step(n, rate_share=rate_share)
        self.average.update()
        return value, n

    def note(self, metrics: dict[str, Any]) -> bool:
        """Add an epoch to the history; whether it is the best so far (without dev data: always)."""
        scores = metrics["dev"]
        is_best = scores is None or all(_first(scores) > _first(past["dev"]) for past in self.history)
        self.history.append(metrics)
        return is_best

    def checkpoint(self) -> Checkpoint:
        """All that is needed to go on."""
        arrays: dict[str, Any] = {f"parameters/{name}": array for name, array in self.task.arrays.items()}
        arrays |= {f"optimizer/{name}": tensor.numpy() for name, tensor in self.optimizer.state().items()}
        arrays |= {f"average/{name}": array for name, array in self.average.state().items()}
        facts = {
            "config": dataclasses.asdict(self.config),
            "fingerprint": self.fingerprint,
            "history": self.history,
            "rng": self.rng.bit_generator.state,
            "n_averaged": self.average.n_updates,
        }
        return Checkpoint(facts, arrays)

    def restore(self, folder: Path) -> None:
        """Be where the run was that saved the folder's checkpoint."""
        checkpoint = load_checkpoint(folder)
        facts = checkpoint.facts
        if other := differences(facts["config"], dataclasses.asdict(self.config)):
            raise ConfigError(f"{folder}: was trained with other settings ({other}); resume with the same ones")
        if other := differences(facts["fingerprint"], self.fingerprint):
            raise ConfigError(f"{folder}: was trained with other data or settings ({other}); resume with the same ones")
        kinds: dict[str, dict[str, Any]] = {"parameters": {}, "optimizer": {}, "average": {}}
        for path, array in checkpoint.arrays.items():
            kind, name = path.split("/", 1)
            kinds[kind][name] = array
        for name, array in kinds["parameters"].items():
            self.task.arrays[name][...] = array
        self.optimizer.load_state({name: torch.from_numpy(array.copy()) for name, array in kinds["optimizer"].items()})
        self.average.load_state(kinds["average"], facts["n_averaged"])
        self.history = facts["history"]
        self.rng.bit_generator.state = facts["rng"]


def _first(scores: Mapping[str, float]) -> float:
    return next(iter(scores.values()))


def _nothing(x: Tensor) -> Tensor:
    return x
