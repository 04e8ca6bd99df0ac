"""``easyfirst train``: a treebank in, a model directory out."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easyfirst.cli.threads import set_threads
from easyfirst.errors import ConfigError, EasyFirstError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from easyfirst.training.data import DataReport
    from easyfirst.training.epoch import EpochStats


def train(
    treebank: Annotated[Path, typer.Argument(metavar="TRAIN", help="The treebank to learn from, in CoNLL-U.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the model goes.")],
    dev: Annotated[
        Path | None, typer.Option("--dev", metavar="FILE", help="Evaluate on this after each epoch and keep the best.")
    ] = None,
    preset: Annotated[
        str, typer.Option(metavar="NAME", help="A row of the paper's tables: bottom-up, htlstm or paper.")
    ] = "paper",
    tags: Annotated[str | None, typer.Option(help="The tags to read: upos (default), xpos, both or none.")] = None,
    embeddings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Word vectors: word2vec or GloVe text, .gz, or .npz.")
    ] = None,
    freeze_embeddings: Annotated[bool, typer.Option("--freeze-embeddings", help="Do not train these further.")] = False,
    no_dynamic_oracle: Annotated[
        bool, typer.Option("--no-dynamic-oracle", help="Follow correct actions only while training.")
    ] = False,
    epochs: Annotated[int | None, typer.Option(help="Passes over the treebank (default 20).")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same model (default 1).")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any other setting, e.g. network.tree_dim=100. Repeatable."),
    ] = None,
    licence: Annotated[str | None, typer.Option(help="The model's licence, for its card.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in DIR where it stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in DIR.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute with; default (and best): 1, or OMP_NUM_THREADS.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no report.")] = False,
) -> None:
    """Train a parser on a treebank.

    \b
      easyfirst train train.conllu --dev dev.conllu --out my-model
      easyfirst train train.conllu --dev dev.conllu --out my-model --resume
      easyfirst train train.conllu --dev dev.conllu --out small --set network.tree_dim=100

    DIR can be used as a model after the first epoch. DIR/training/metrics.jsonl has a line for each epoch.
    """
    set_threads(threads)
    _require_torch()
    from easyfirst.model.config import preset as make_config

    network, training = _split_settings(setting or [])
    training |= {"use_dynamic_oracle": False} if no_dynamic_oracle else {}
    training |= {"freeze_external": True} if freeze_embeddings else {}
    training |= {name: value for name, value in (("epochs", epochs), ("seed", seed)) if value is not None}
    network |= {"tags": tags} if tags is not None else {}
    if freeze_embeddings and embeddings is None:
        raise ConfigError("--freeze-embeddings needs --embeddings")
    if resume and overwrite:
        raise ConfigError("--resume goes on with a run and --overwrite replaces it; choose one of them")
    config = make_config(preset, network=network, training=training)

    from easyfirst.training.checkpoint import has_checkpoint  # not before the settings are right: PyTorch starts slowly
    from easyfirst.training.trainer import FOLDER, Job
    from easyfirst.training.trainer import train as run

    job = Job(train=treebank, out=out, dev=dev, vectors=embeddings, licence=licence)
    with _Report(config.training.epochs, is_quiet=quiet) as report:
        try:
            history = run(job, config, report, resume=resume, overwrite=overwrite)
        except KeyboardInterrupt:
            can_resume = has_checkpoint(out / FOLDER)
            hint = f"go on with --resume (finished epochs are in {out})" if can_resume else "no epoch was finished"
            report.note(f"stopped; {hint}")
            raise
        if not report.has_learnt:
            report.note(f"nothing to do after epoch {len(history)}; ask for more with --epochs")
        report.note(f"the model is in {out}")


def _require_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        raise EasyFirstError('training needs PyTorch; install it with: pip install "easyfirst[train]"')


def _split_settings(settings: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """``network.x=1`` and ``training.y=0.5`` as two tables."""
    tables: dict[str, dict[str, Any]] = {"network": {}, "training": {}}
    for setting in settings:
        key, equals, text = setting.partition("=")
        table, dot, name = key.partition(".")
        if not (equals and dot and table in tables):
            raise ConfigError(f"--set {setting}: write it as network.KEY=VALUE or training.KEY=VALUE")
        try:
            tables[table][name] = json.loads(text)
        except ValueError:
            tables[table][name] = text
    return tables["network"], tables["training"]


class _Report:
    """Shows on stderr how training goes: a progress bar on a terminal, a line for each epoch anywhere."""

    def __init__(self, n_epochs: int, *, is_quiet: bool) -> None:
        self._n_epochs = n_epochs
        self._is_quiet = is_quiet
        self._n_sentences = 0
        self._epoch = 0
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> _Report:
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

    def note(self, text: str) -> None:
        """One line."""
        if self._is_quiet:
            return
        if self._progress is not None:
            self._progress.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def data(self, report: DataReport) -> None:
        self._n_sentences = report.train_sentences - report.non_projective
        self.note(
            f"train: {report.train_sentences:,} sentences, {report.train_words:,} words, {report.relations} relations; "
            f"{report.non_projective:,} non-projective sentences ({report.non_projective_percent:.1f} %) skipped"
        )
        if report.dev is not None:
            self.note(
                f"dev: {report.dev_sentences:,} sentences, {report.dev_words:,} words, "
                f"{report.dev_unknown_percent:.1f} % not seen in training"
            )

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
