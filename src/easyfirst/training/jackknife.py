"""Jackknifing: tag each training sentence with a tagger that was not trained on it.

A parser trained on these tags sees the kind of tagging errors that it will see when parsing. Each fold (``folds``) is
tagged by a tagger trained on the other folds for a fixed number of epochs, since no dev data may select one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.directory import from_json, replace_file
from easyfirst.model.part import TAGGER
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import load_tagger
from easyfirst.model.tagger_vocabulary import COLUMNS
from easyfirst.native.backend import Backend
from easyfirst.text.tagging import Tagger, Tags
from easyfirst.training.checkpoint import FILE, has_checkpoint
from easyfirst.training.child_processes import SECONDS_TO_END, follow_parent, one_thread_each
from easyfirst.training.folds import deal
from easyfirst.training.tagger_task import TaggerTask, accuracies
from easyfirst.training.training_loop import Progress, Silent, TrainingLoop
from easyfirst.treebank.sentence import Sentence


class FoldProgress(Progress, Protocol):
    """Progress callbacks of jackknifing. Batches and epochs are reported only if folds are trained one at a time."""

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        """Report that a fold, counted from 1, has been tagged with this accuracy."""


@dataclass(frozen=True, slots=True)
class Fold:
    """The sentences to tag, and those to train the tagger on."""

    number: int  # from 1
    held_out: Sequence[Sentence]
    others: Sequence[Sentence]
    config: TaggerConfig
    training: TaggerTraining
    vectors: SharedVectors | None
    folder: Path  # the place of ``fold-<number>.json``, the result, and of ``fold-<number>``, the training run
    fingerprint: str  # the checksum of all sentences and settings, by which results of other runs are refused

    @property
    def result(self) -> Path:
        return self.folder / f"fold-{self.number}.json"

    @property
    def run(self) -> Path:
        return self.folder / f"fold-{self.number}"


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The predicted tags of the held-out sentences, and their accuracy."""

    tags: Sequence[Tags]
    accuracy: Mapping[str, float]


def jackknife(
    sentences: Sequence[Sentence],
    n_folds: int,
    config: TaggerConfig,
    training: TaggerTraining,
    *,
    vectors: SharedVectors | None,
    folder: Path,
    progress: FoldProgress,
    seed: int,
    jobs: int = 1,
    resume: bool = False,
) -> list[Sentence]:
    """Return the sentences in their order, with all tags replaced by predicted ones.

    ``jobs``: the number of folds that are trained in parallel, in processes of their own if there are several.
    ``resume``: continue the run in ``folder`` instead of starting again.
    """
    check_folds(n_folds, len(sentences))
    if jobs < 1:
        raise ConfigError(f"jobs is {jobs}; it must be at least 1")
    fold_of = deal(sentences, n_folds, seed)
    settings = [[n_folds, seed, asdict(config), asdict(training)], vectors.sha256 if vectors else None]
    content = json.dumps(settings).encode() + b"".join(sentence.to_bytes() for sentence in sentences)
    fingerprint = hashlib.sha256(content).hexdigest()
    folds: list[Fold] = []
    for number in range(1, n_folds + 1):
        held_out = [sentence for sentence, fold in zip(sentences, fold_of, strict=True) if fold == number]
        others = [sentence for sentence, fold in zip(sentences, fold_of, strict=True) if fold != number]
        folds.append(Fold(number, held_out, others, config, training, vectors, folder, fingerprint))
    for path in () if resume else fold_files(folder):
        path.unlink()
    results: dict[int, Iterator[Tags]] = {}
    for fold, result in _run_all(folds, progress, jobs):
        progress.fold_end(fold.number, n_folds, result.accuracy)
        results[fold.number] = iter(result.tags)
    return [_retagged(sentence, next(results[fold])) for sentence, fold in zip(sentences, fold_of, strict=True)]


def check_folds(n_folds: int, n_sentences: int) -> None:
    """Raise :class:`ConfigError` if the sentences cannot be split into so many folds."""
    if not 2 <= n_folds <= n_sentences:
        raise ConfigError(f"{n_folds} folds of {n_sentences} sentences; choose --folds from 2 to {n_sentences}")


def fold_files(folder: Path) -> list[Path]:
    """Return the results and checkpoints from which a run can be resumed."""
    return [*folder.glob("fold-*.json"), *folder.glob(f"fold-*/{FILE}")]


def _run_all(folds: Sequence[Fold], progress: Progress, jobs: int) -> Iterator[tuple[Fold, FoldResult]]:
    """Yield each fold when it is done."""
    waiting: list[Fold] = []
    for fold in folds:
        if (result := _read_result(fold)) is not None:
            yield fold, result
        else:
            waiting.append(fold)
    if jobs == 1 or len(waiting) <= 1:
        for fold in waiting:
            yield fold, run_fold(fold, _WithFold(progress, fold.number))
    else:
        yield from _run_in_processes(waiting, jobs)


def _run_in_processes(folds: Sequence[Fold], jobs: int) -> Iterator[tuple[Fold, FoldResult]]:
    """Yield each fold when it is done. An error or an interrupt stops all of them at once."""
    pool = ProcessPoolExecutor(min(jobs, len(folds)), mp_context=get_context("spawn"), initializer=follow_parent)
    try:
        with one_thread_each():
            running = {pool.submit(run_fold, fold): fold for fold in folds}
        for done in as_completed(running):
            yield running[done], done.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise ModelError("a process that trained a fold was killed; continue with --resume and fewer --jobs") from None
    finally:  # end the processes that are left, also when the generator is closed; their checkpoints are kept
        processes: list[BaseProcess] = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(SECONDS_TO_END)


class _WithFold:
    """Progress callbacks that add the number of the fold to the metrics."""

    def __init__(self, progress: Progress, number: int) -> None:
        self._progress, self._number = progress, number

    def batch_end(self, epoch: int, done: float, stats: Mapping[str, Any]) -> None:
        self._progress.batch_end(epoch, done, stats)

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        self._progress.epoch_end({**metrics, "fold": self._number}, is_best=is_best)

    def stalled(self, best_epoch: int) -> None:
        self._progress.stalled(best_epoch)


def run_fold(fold: Fold, progress: Progress | None = None) -> FoldResult:
    """Train on the other folds, resuming an interrupted run, and tag this one."""
    out, same = fold.run / TAGGER, {"jackknife": fold.fingerprint}
    task = TaggerTask(fold.others, fold.config, fold.training, vectors=fold.vectors, out=out, fingerprint=same)
    TrainingLoop(task, fold.run, resume=has_checkpoint(fold.run)).run(progress or Silent())
    tagger = Tagger(load_tagger(out, fold.vectors), Backend.exact())
    predicted = tagger.predict([sentence.forms for sentence in fold.held_out])
    accuracy = accuracies(fold.held_out, predicted)
    content = {"fingerprint": fold.fingerprint, "tags": list(predicted), "accuracy": accuracy}
    replace_file(fold.result, json.dumps(content, ensure_ascii=False).encode())
    (fold.run / FILE).unlink()
    return FoldResult(predicted, accuracy)


def _read_result(fold: Fold) -> FoldResult | None:
    """Return the result of a finished fold; None if it is not finished."""
    if not fold.result.is_file():
        return None
    values = from_json(fold.result.read_bytes(), fold.result)
    if values.get("fingerprint") != fold.fingerprint:
        raise ConfigError(
            f"{fold.result} was made with other sentences or settings; resume with the same ones, or start again with "
            "--overwrite"
        )
    tags = [{kind: tuple(column) for kind, column in tags.items()} for tags in values["tags"]]
    return FoldResult(tags, values["accuracy"])


def _retagged(sentence: Sentence, tags: Tags) -> Sentence:
    """Replace what taggers predict. A column that this tagger does not predict is emptied."""
    empty = ("_",) * len(sentence)
    return sentence.with_tags(**{kind: tags.get(kind, empty) for kind in COLUMNS})
