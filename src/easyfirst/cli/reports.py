"""Progress on stderr: a bar on a terminal, and in training a line for each epoch."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from easyfirst.cli.messages import printable, say
from easyfirst.counting import count

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from easyfirst.training.data import DataReport

FEW_VECTORS = 20.0  # the per cent of words with a vector, below which the vectors may be the wrong ones

Report: TypeAlias = Callable[[int, int], None]
"""A function that reports the words and bytes of the input that were processed."""


@contextmanager
def reporting(n_bytes: int | None, *, visible: bool) -> Generator[Report, None, None]:
    """Show a progress bar on stderr if it is ``visible``."""
    if not visible:
        yield lambda n_words, n_bytes: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    total, begin = 0, time.perf_counter()
    counts = TextColumn("{task.fields[words]:,} words"), TextColumn("{task.fields[rate]:,.0f} words/s")
    columns = BarColumn(), *counts, TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=n_bytes, words=0, rate=0.0)

        def report(n_words: int, n_bytes: int) -> None:
            nonlocal total
            total += n_words
            progress.update(task, advance=n_bytes, words=total, rate=total / (time.perf_counter() - begin))

        yield report


class TrainingReport:
    """Shows the progress of a training, by one report for each part."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self.progress: Progress | None = None
        self.has_trained_parser = False

    def __enter__(self) -> TrainingReport:
        if not self._is_quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[facts]}")
            self.progress = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
            self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.progress is not None:
            self.progress.stop()

    def part(self, name: str, n_epochs: int) -> PartReport:
        """Return the report of a part."""
        return ParserReport(self, n_epochs) if name == "parser" else PartReport(self, name, n_epochs)

    def ensemble_end(self, n_members: int, accuracy: Mapping[str, float]) -> None:
        """Show the accuracy of a tagger ensemble."""
        self.note(f"tagger: ensemble of {n_members}  dev {_shown(accuracy)}")

    def note(self, text: str) -> None:
        """Print a line."""
        if self._is_quiet:
            return
        if self.progress is not None:
            self.progress.console.print(printable(text), highlight=False, markup=False)
        else:
            say(text)

    def data(self, report: DataReport) -> None:
        """Show statistics about the parser's data."""
        size = f"{count(report.train_sentences, 'sentence')}, {count(report.train_words, 'word')}"
        crossing = count(report.non_projective, "non-projective sentence")
        self.note(
            f"train: {size}, {count(report.relations, 'relation')}; "
            f"{crossing} ({report.non_projective_percent:.1f} %)"
            f"{'' if report.lifted_arcs or not report.non_projective else ' skipped'}"
        )
        if report.lifted_arcs:
            how = "none can be restored: each kind is too rare"
            if report.crossing is not None:
                relations = f"{count(report.marked_relations, 'marked relation')} (scheme {report.crossing})"
                how = f"{report.restorable_arcs:,} of them can be restored, by {relations}"
            self.note(f"crossing arcs: {report.lifted_arcs:,} lifted; {how}")
        if report.unknown_heads or report.nothing_known:
            self.note(
                f"in part: {count(report.unknown_heads, 'word')} without a head, which cost nothing; "
                f"{count(report.nothing_known, 'sentence')} without any head skipped"
            )
        if report.dev is not None:
            self.note(
                f"dev: {count(report.dev_sentences, 'sentence')}, {count(report.dev_words, 'word')}, "
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
        self._report, self._name, self._n_epochs = report, name, n_epochs
        self._task: TaskID | None = None

    def batch_end(self, epoch: int, done: float, stats: Mapping[str, Any]) -> None:
        """Move the progress bar."""
        progress = self._report.progress
        if progress is None:
            return
        if self._task is None:  # also after resuming in a later epoch
            self._task = progress.add_task(self._name, total=1.0, facts="")
        completed, description = (epoch - 1 + done) / self._n_epochs, f"{self._name} {epoch}/{self._n_epochs}"
        progress.update(self._task, completed=completed, facts=self._facts(stats), description=description)
        if completed >= 1 and not self.keeps_bar:
            progress.remove_task(self._task)
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

    def stalled(self, best_epoch: int) -> None:
        """Say why there are no more epochs."""
        self._report.note(f"stopped early: no epoch since {best_epoch} was better on dev")

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
        result = ""
        if metrics["dev"] is not None:
            full, ud = metrics["dev"]["full"], metrics["dev"]["ud"]
            result = f"  dev UAS {full['UAS']:.2f} LAS {full['LAS']:.2f} (UD LAS {ud['LAS']:.2f})"
            if (phrases := metrics["dev"].get("constituents")) is not None:
                result = f"  dev UAS {full['UAS']:.2f} LAS {full['LAS']:.2f} F1 {phrases['F1']:.2f}"
            result += "  best so far" if is_best else ""
        self._report.note(
            f"epoch {metrics['epoch']}/{self._n_epochs}  loss {metrics['loss']:.3f}  "
            f"{metrics['violations_per_sentence']:.2f} violations/sentence  "
            f"{metrics['words_per_second']:,.0f} words/s{result}"
        )


def _shown(scores: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {score:.2f}" for name, score in scores.items())
