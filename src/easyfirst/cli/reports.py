"""The progress of training on stderr: a line for each epoch, and a progress bar on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from easyfirst.training.data import DataReport

FEW_VECTORS = 20.0
"""The share of words with a vector, in per cent, below which the vectors may be the wrong ones."""


class TrainingReport:
    """Shows the progress of a training, by one report for each part."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._progress: Progress | None = None
        self.has_trained_parser = False

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

    def part(self, name: str, n_epochs: int) -> PartReport:
        """Return the report of a part."""
        return ParserReport(self, n_epochs) if name == "parser" else PartReport(self, name, n_epochs)

    def ensemble_end(self, n_members: int, accuracy: Mapping[str, float]) -> None:
        """Show the accuracy of a tagger ensemble."""
        self.note(f"tagger: ensemble of {n_members}  dev {_shown(accuracy)}")

    def bar(self, description: str) -> TaskID | None:
        """Add a progress bar on a terminal."""
        return None if self._progress is None else self._progress.add_task(description, total=1.0, facts="")

    def move_bar(self, task: TaskID | None, completed: float, facts: str, description: str) -> None:
        """Update a progress bar."""
        if self._progress is not None and task is not None:
            self._progress.update(task, completed=completed, facts=facts, description=description)

    def remove_bar(self, task: TaskID | None) -> None:
        """Remove a progress bar."""
        if self._progress is not None and task is not None:
            self._progress.remove_task(task)

    def note(self, text: str) -> None:
        """Print a line."""
        if self._is_quiet:
            return
        if self._progress is not None:
            self._progress.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def data(self, report: DataReport) -> None:
        """Show statistics about the parser's data."""
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


class PartReport:
    """Shows the progress of a tokenizer or a tagger."""

    keeps_bar = False

    def __init__(self, report: TrainingReport, name: str, n_epochs: int) -> None:
        self._report = report
        self._name = name
        self._n_epochs = n_epochs
        self._task: TaskID | None = None

    def batch_end(self, epoch: int, done: float, stats: Mapping[str, Any]) -> None:
        """Move the progress bar."""
        if self._task is None:  # also after resuming in a later epoch
            self._task = self._report.bar(self._name)
        completed = (epoch - 1 + done) / self._n_epochs
        self._report.move_bar(self._task, completed, self._facts(stats), f"{self._name} {epoch}/{self._n_epochs}")
        if completed >= 1 and not self.keeps_bar:
            self._report.remove_bar(self._task)
            self._task = None

    def _facts(self, stats: Mapping[str, Any]) -> str:
        return f"loss {stats['loss']:.4f}"

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        """Print the line of an epoch."""
        scores = metrics["dev"]
        shown = "" if scores is None else f"  dev {_shown(scores)}{'  best so far' if is_best else ''}"
        fold = f"fold {metrics['fold']}, " if "fold" in metrics else ""
        self._report.note(
            f"{self._name}: {fold}epoch {metrics['epoch']}/{self._n_epochs}  loss {metrics['loss']:.4f}  "
            f"{metrics['cpu_seconds']:.0f} s{shown}"
        )

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        """Print the line of a jackknifing fold."""
        self._report.note(f"{self._name}: fold {fold}/{n_folds} tagged  {_shown(accuracy)}")


class ParserReport(PartReport):
    """Shows the progress of a parser, which is the last part."""

    keeps_bar = True

    def __init__(self, report: TrainingReport, n_epochs: int) -> None:
        super().__init__(report, "epoch", n_epochs)
        self._epoch, self._started = 0, time.monotonic()

    def batch_end(self, epoch: int, done: float, stats: Mapping[str, Any]) -> None:
        """Move the progress bar."""
        if epoch != self._epoch:
            self._epoch, self._started = epoch, time.monotonic()
        self._report.has_trained_parser = True
        super().batch_end(epoch, done, stats)

    def _facts(self, stats: Mapping[str, Any]) -> str:
        speed = stats["words"] / max(time.monotonic() - self._started, 1e-9)
        violations = stats["violations_per_sentence"]
        return f"loss {stats['loss']:.3f}  {violations:.2f} violations/sentence  {speed:,.0f} words/s"

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        """Print the line of an epoch."""
        scores = metrics["dev"]
        result = ""
        if scores is not None:
            result = (
                f"  dev UAS {scores['full']['UAS']:.2f} LAS {scores['full']['LAS']:.2f} "
                f"(UD LAS {scores['ud']['LAS']:.2f}){'  best so far' if is_best else ''}"
            )
        self._report.note(
            f"epoch {metrics['epoch']}/{self._n_epochs}  loss {metrics['loss']:.3f}  "
            f"{metrics['violations_per_sentence']:.2f} violations/sentence  "
            f"{metrics['words_per_second']:,.0f} words/s{result}"
        )


def _shown(scores: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {score:.2f}" for name, score in scores.items())
