"""The base of tagger and tokenizer training: cross-entropy, with one update for each batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from torch import Tensor

from easyfirst.model.settings import TrainingSettings
from easyfirst.nn.arrays import Floats
from easyfirst.nn.sequences import Drop
from easyfirst.training.checkpoint import require_same
from easyfirst.training.fine_tuning import FineTuning
from easyfirst.training.torch_namespace import dropout
from easyfirst.training.training_loop import Step


class SupervisedTask(ABC):
    """A :class:`~easyfirst.training.training_loop.Task` whose batches and losses do not depend on earlier decisions."""

    sparse: frozenset[str]
    frozen: frozenset[str] = frozenset()
    auxiliary: frozenset[str] = frozenset()
    tuning: FineTuning | None = None
    speeds: tuple[str, ...] = ("decisions_per_cpu_second",)

    def __init__(
        self, arrays: dict[str, Floats], settings: TrainingSettings, fingerprint: Mapping[str, Any] | None
    ) -> None:
        """``fingerprint``: what must be unchanged, besides the settings, to resume a run, such as data checksums."""
        self.arrays, self.settings = arrays, settings
        self.rng = np.random.default_rng(settings.seed)
        self._fingerprint = dict(fingerprint or {})

    @abstractmethod
    def batches(self, rng: np.random.Generator) -> Iterable[Any]:
        """Return one epoch of the training data in random order."""

    @abstractmethod
    def loss(self, parameters: Mapping[str, Tensor], batch: Any, drop: Drop | None) -> tuple[Tensor, int]:
        """Return the summed loss of a batch, and the number of its decisions."""

    def steps(self, parameters: Mapping[str, Tensor]) -> Iterator[Step]:
        """Yield one epoch of losses."""
        batches = list(self.batches(self.rng))
        total, n_decisions = 0.0, 0
        for number, batch in enumerate(batches):
            loss, n = self.loss(parameters, batch, dropout(self.settings.dropout, self.rng))
            total, n_decisions = total + loss.item(), n_decisions + n
            stats = {"loss": round(total / max(n_decisions, 1), 6), "decisions": n_decisions}
            yield Step(loss, n, done=(number + 1) / len(batches), rate_at=number / len(batches), stats=stats)

    def criterion(self, scores: Mapping[str, float]) -> float:
        """Return the first score: the mean of the others."""
        return next(iter(scores.values()))

    def facts(self) -> dict[str, Any]:
        """Return the settings and the fingerprint."""
        return {"config": asdict(self.settings), "fingerprint": self._fingerprint}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Check that the checkpoint is from the same run."""
        require_same("settings", facts["config"], asdict(self.settings))
        require_same("data or settings", facts["fingerprint"], self._fingerprint)
