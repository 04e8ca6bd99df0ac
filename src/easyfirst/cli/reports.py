"""How training is shown on stderr: a progress bar on a terminal, and a line for each epoch anywhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from easyfirst.training.data import DataReport
    from easyfirst.training.epoch import EpochStats

FEW_VECTORS = 20.0
"""Per cent of a treebank's words; if fewer have a vector, something may be wrong."""


class TrainingReport:
    """Shows how the parser's training goes, and gives a report to each other part."""

    def __init__(self, n_epochs: int, *, is_quiet: bool) -> None:
        self._n_epochs = n_epochs
        self._is_quiet = is_quiet
        self._n_sentences = 0
        self._epoch = 0
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> TrainingReport:
        if not self._is_quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[facts]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    @property
    def has_learnt(self) -> bool:
        return self._epoch > 0

    def part(self, name: str, n_epochs: int) -> PartReport:
        """Another part begins."""
        return PartReport(self, name, n_epochs)

    def members_joined(self, n_members: int, accuracy: Mapping[str, float]) -> None:
        self.note(f"tagger: all {n_members} together  dev {_shown(accuracy)}")

    def bar(self, description: str) -> TaskID | None:
        """A new progress bar, if there are any."""
        return None if self._progress is None else self._progress.add_task(description, total=1.0, facts="")

    def move_bar(self, task: TaskID | None, completed: float, facts: str, description: str) -> None:
        if self._progress is not None and task is not None:
            self._progress.update(task, completed=completed, facts=facts, description=description)
            if completed >= 1:
                self._progress.remove_task(task)

    def note(self, text: str) -> None:
        """One line."""
        if self._is_quiet:
            return
        if self._progress is not None:
            self._progress.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def data(self, report: DataReport) -> None:
        self._n_sentences = report.train_sentences - report.non_projective - report.nothing_known
        self.note(
            f"train: {report.train_sentences:,} sentences, {report.train_words:,} words, {report.relations} relations; "
            f"{report.non_projective:,} non-projective sentences ({report.non_projective_percent:.1f} %) skipped"
        )
        if report.unknown_heads or report.nothing_known:
            self.note(
                f"in part: {report.unknown_heads:,} words have no head and cost nothing; {report.nothing_known:,} "
                "sentences without any head skipped"
            )
        if report.dev is not None:
            self.note(
                f"dev: {report.dev_sentences:,} sentences, {report.dev_words:,} words, "
                f"{report.dev_unknown_percent:.1f} % not seen in training"
            )
        if report.vectors is not None:
            self.note(
                f"vectors: {report.vectors:,} words; {report.vectors_percent:.1f} % of the words of train have one"
            )
            if report.vectors_percent < FEW_VECTORS:
                self.note("warning: hardly any word has a vector; are they of the same language, script and spelling?")

    def progress(self, epoch: int, stats: EpochStats) -> None:
        if epoch != self._epoch:
            self._epoch, self._started = epoch, time.monotonic()
            if self._progress is not None and self._task is None:
                n = self._n_sentences
                self._task = self._progress.add_task("", total=self._n_epochs * n, completed=(epoch - 1) * n, facts="")
        if self._progress is not None and self._task is not None:
            speed = stats.words / max(time.monotonic() - self._started, 1e-9)
            facts = (
                f"loss {stats.loss / max(stats.violations, 1):.3f}  "
                f"{stats.violations / stats.sentences:.2f} violations/sentence  {speed:,.0f} words/s"
            )
            self._progress.update(
                self._task,
                description=f"epoch {epoch}/{self._n_epochs}",
                completed=(epoch - 1) * self._n_sentences + stats.sentences,
                facts=facts,
            )

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        scores = metrics["dev"]
        result = ""
        if scores is not None:
            result = (
                f"  dev UAS {scores['full']['UAS']:.2f} LAS {scores['full']['LAS']:.2f} "
                f"(UD LAS {scores['ud']['LAS']:.2f}){'  best so far' if is_best else ''}"
            )
        self.note(
            f"epoch {metrics['epoch']}/{self._n_epochs}  loss {metrics['loss']:.3f}  "
            f"{metrics['violations_per_sentence']:.2f} violations/sentence  "
            f"{metrics['words_per_second']:,.0f} words/s{result}"
        )


class PartReport:
    """Shows how the training of a tokenizer or a tagger goes."""

    def __init__(self, report: TrainingReport, name: str, n_epochs: int) -> None:
        self._report = report
        self._name = name
        self._n_epochs = n_epochs
        self._task: TaskID | None = None

    def progress(self, epoch: int, share: float, loss: float) -> None:
        if self._task is None:  # also of a run that is resumed in a later epoch
            self._task = self._report.bar(self._name)
        done = (epoch - 1 + share) / self._n_epochs
        description = f"{self._name} {epoch}/{self._n_epochs}"
        self._report.move_bar(self._task, done, f"loss {loss:.4f}", description)
        if done >= 1:
            self._task = None

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        scores = metrics["dev"]
        shown = "" if scores is None else f"  dev {_shown(scores)}{'  best so far' if is_best else ''}"
        fold = f"fold {metrics['fold']}, " if "fold" in metrics else ""
        self._report.note(
            f"{self._name}: {fold}epoch {metrics['epoch']}/{self._n_epochs}  loss {metrics['loss']:.4f}  "
            f"{metrics['cpu_seconds']:.0f} s{shown}"
        )

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        self._report.note(f"{self._name}: fold {fold}/{n_folds} tagged  {_shown(accuracy)}")


def _shown(scores: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {score:.2f}" for name, score in scores.items())
