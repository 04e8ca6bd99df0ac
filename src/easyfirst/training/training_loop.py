"""The training loop of all parts: epochs, updates, averaged weights, selection on dev, checkpoints and progress.

A part is a :class:`Task`. After each epoch the loop evaluates the averaged weights, saves the part if they are the best
so far, and writes ``metrics.jsonl`` and a checkpoint. A run resumed from a checkpoint continues bit for bit.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.directory import replace_file
from easyfirst.model.parser_config import TrainingConfig
from easyfirst.model.settings import TrainingSettings
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.training.checkpoint import FILE, Checkpoint, load_checkpoint, save_checkpoint
from easyfirst.training.fine_tuning import FineTuning
from easyfirst.training.optimizer import Average, Optimizer
from easyfirst.training.processes import ALONE, STOP, Group

METRICS = "metrics.jsonl"
MIN_PATIENCE = 3  # the epochs without a better dev score before training stops early, at least
SHORTEST = 1e-3  # the seconds that an epoch takes at least: a coarse clock may measure none


@dataclass(frozen=True, slots=True)
class Step:
    """The loss of one batch, and what the loop does with it."""

    loss: Tensor | None  # the loss summed over the batch's decisions; None: the batch has none
    n_decisions: int
    done: float  # the share of the epoch that is done after this batch
    rate_at: float  # the share of the epoch for which the learning rate is computed
    stats: Mapping[str, Any]  # the statistics of the epoch so far
    is_update: bool = True  # False: the weights stay, and the gradients are added to those of the next batch


class Task(Protocol):
    """A part to train, with its data."""

    arrays: dict[str, Floats]  # the weights, which training changes in place
    sparse: frozenset[str]  # the look-up tables among them, whose gradients have few rows
    frozen: frozenset[str]  # the arrays that are not trained
    auxiliary: frozenset[str]  # the arrays that only training uses: they are neither averaged nor saved with the part
    tuning: FineTuning | None  # the transformer that is trained too; its weights are among the arrays
    rng: np.random.Generator
    speeds: tuple[str, ...]  # the speeds in the metrics: a statistic, ``_per_``, and ``second`` or ``cpu_second``

    @property
    def settings(self) -> TrainingConfig | TrainingSettings:
        """The settings of epochs, optimizer and average."""
        ...

    def steps(self, parameters: Mapping[str, Tensor]) -> Iterator[Step]:
        """Yield one epoch of batches in random order. The parameters change between two steps."""
        ...

    def evaluate(self, arrays: Mapping[str, Floats]) -> dict[str, Any] | None:
        """Return the scores on the dev data; None without dev data."""

    def criterion(self, scores: Mapping[str, Any]) -> float:
        """Return the score that selects the best epoch. Of equal epochs, the first is the best."""
        ...

    def save(self, arrays: Mapping[str, Floats], epoch: int) -> None:
        """Write the part with these weights, from this epoch."""

    def facts(self) -> dict[str, Any]:
        """Return what a checkpoint must record besides weights and history: settings, data and state."""
        ...

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Restore the state from a checkpoint; raise :class:`ConfigError` if it is from a different run."""


class Progress(Protocol):
    """Progress callbacks."""

    def batch_end(self, epoch: int, done: float, stats: Mapping[str, Any]) -> None:
        """Report that this share of the epoch is done, with the statistics so far."""

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        """Report that an epoch has been evaluated and saved."""

    def stalled(self, best_epoch: int) -> None:
        """Report that training stops before the last epoch, because no epoch after this one was better."""


class Silent(Progress):
    """Ignores all progress."""


class TrainingLoop:
    """A training run: the parameters of a task, their optimizer and average, and the metrics of past epochs."""

    def __init__(self, task: Task, folder: Path, *, resume: bool = False, group: Group = ALONE) -> None:
        """``folder`` holds the checkpoint and ``metrics.jsonl``; ``resume``: continue from its checkpoint; ``group``:
        the processes that train together, as the task knows them too."""
        self.task, self.folder, self._group = task, folder, group
        self.parameters = {name: torch.from_numpy(array) for name, array in task.arrays.items()}
        tuning = task.tuning
        if tuning is not None:
            self.parameters |= {name: self.parameters[name].to(tuning.device) for name in sorted(tuning.names)}
        for name, tensor in self.parameters.items():
            tensor.requires_grad_(name not in task.frozen)
        tuned, of_tuned = (frozenset[str](), None) if tuning is None else (tuning.names, tuning.config)
        self.optimizer = Optimizer(self.parameters, task.settings, sparse=task.sparse, tuned=tuned, tuning=of_tuned)
        self._gradients = group.gradients(self.optimizer.dense, self.optimizer.tables)
        kept = {name: tensor for name, tensor in self.parameters.items() if name not in task.auxiliary}
        self.average = Average(kept, task.settings.averaging)
        self.history: list[dict[str, Any]] = []
        self._is_new = not resume
        if resume:
            self._restore(load_checkpoint(folder))

    def run(self, progress: Progress) -> list[dict[str, Any]]:
        """Train the remaining epochs; return the metrics of all epochs."""
        self._prepare_folder()
        while len(self.history) < self.task.settings.epochs and not self._has_stalled():
            self._group.next_epoch(len(self.history) + 1)
            metrics = self.epoch(progress)
            is_best = self._is_best(metrics["dev"])
            self.history.append(metrics)
            lines = "".join(json.dumps(line) + "\n" for line in self.history)
            replace_file(self.folder / METRICS, lines.encode())  # before the part, so that its run can be recognised
            if is_best:
                self.task.save(self.average.arrays, metrics["epoch"])
            save_checkpoint(self.folder, self._checkpoint())
            progress.epoch_end(metrics, is_best=is_best)
            if len(self.history) < self.task.settings.epochs and self._has_stalled():
                progress.stalled(self._best_epoch())
        self._group.next_epoch(STOP)
        return self.history

    def follow(self) -> None:
        """Train the epochs that the first process of the group trains."""
        while (number := self._group.next_epoch()) != STOP:
            self.train_epoch(Silent(), number)

    def epoch(self, progress: Progress) -> dict[str, Any]:
        """Train and evaluate one epoch; return its metrics."""
        started, started_cpu = time.perf_counter(), time.process_time()
        stats = self.train_epoch(progress, len(self.history) + 1)
        spent = {"second": time.perf_counter() - started, "cpu_second": time.process_time() - started_cpu}
        metrics = {"epoch": len(self.history) + 1, **stats}
        metrics |= {f"{unit}s": round(seconds, 2) for unit, seconds in spent.items()}
        for speed in self.task.speeds:
            counted, _, unit = speed.partition("_per_")
            metrics[speed] = round(stats[counted] / max(spent[unit], SHORTEST), 1)
        return metrics | {"dev": self.task.evaluate(self.average.arrays)}

    def train_epoch(self, progress: Progress, number: int) -> Mapping[str, Any]:
        """Train one epoch, the first of which has the number 1; return its statistics."""
        stats: Mapping[str, Any] = {}
        n_waiting = 0
        with overflow_is_fine():
            for step in self.task.steps(self.parameters):
                if step.loss is not None and not math.isfinite(step.loss.item()):
                    raise ConfigError(f"epoch {number}: the loss is not a finite number; try a smaller learning_rate")
                if step.loss is not None:
                    step.loss.backward()
                n_waiting += step.n_decisions
                if step.is_update and n_waiting:
                    self._update(n_waiting, number - 1 + step.rate_at)
                    n_waiting = 0
                stats = step.stats
                progress.batch_end(number, step.done, stats)
        return stats

    def _update(self, n_decisions: int, epochs_done: float) -> None:
        """Take an optimizer step by the mean loss of the decisions, with a linearly decaying learning rate."""
        settings = self.task.settings
        past = min(epochs_done / settings.epochs, 1)
        if self._gradients is not None:
            self._gradients.add_up(self._group.wait)
        self.optimizer.step(n_decisions, rate_share=1 - (1 - settings.final_rate) * past, past=past)
        self.average.update()

    def _is_best(self, scores: Mapping[str, Any] | None) -> bool:
        """Return whether an epoch beats all past ones. Without dev data, the last epoch is the best."""
        criterion = self.task.criterion
        return scores is None or all(criterion(scores) > criterion(past["dev"]) for past in self.history)

    def _has_stalled(self) -> bool:
        """Return whether the dev score has not improved for too long."""
        settings = self.task.settings
        if not settings.patience or not self.history or self.history[-1]["dev"] is None:
            return False
        return len(self.history) - self._best_epoch() >= max(settings.patience * settings.epochs, MIN_PATIENCE)

    def _best_epoch(self) -> int:
        scores = [self.task.criterion(past["dev"]) for past in self.history]
        return 1 + scores.index(max(scores))

    def _prepare_folder(self) -> None:
        """Create the folder. A new run deletes the files of an old one."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self._is_new:
                (self.folder / FILE).unlink(missing_ok=True)
            if self._is_new and (self.folder / METRICS).exists():
                replace_file(self.folder / METRICS, b"")
        except OSError as error:
            raise ModelError(f"{self.folder} cannot be written: {error.strerror or error}") from error

    def _checkpoint(self) -> Checkpoint:
        parameters = {name: tensor.detach().cpu().numpy() for name, tensor in self.parameters.items()}
        arrays: dict[str, Any] = {f"parameters/{name}": array for name, array in parameters.items()}
        arrays |= {f"optimizer/{name}": tensor.numpy() for name, tensor in self.optimizer.state().items()}
        arrays |= {f"average/{name}": array for name, array in self.average.state().items()}
        rng_state, n_averaged = self.task.rng.bit_generator.state, self.average.n_updates
        state = {"history": self.history, "rng": rng_state, "n_averaged": n_averaged}
        return Checkpoint(self.task.facts() | state, arrays)

    def _restore(self, checkpoint: Checkpoint) -> None:
        facts = checkpoint.facts
        try:
            self.task.restore(facts)
        except ConfigError as error:
            raise ConfigError(f"{self.folder}: {error}") from None
        for name, array in checkpoint.group("parameters").items():
            self.parameters[name].data.copy_(torch.from_numpy(array))
        optimizer = checkpoint.group("optimizer")
        self.optimizer.load_state({name: torch.from_numpy(array.copy()) for name, array in optimizer.items()})
        self.average.load_state(checkpoint.group("average"), facts.get("n_averaged", 0))
        self.history = facts["history"]
        self.task.rng.bit_generator.state = facts["rng"]
