"""Tags by jackknifing: each training sentence tagged by a tagger that has not seen it.

The parser learns from these, so that it meets in training the kind of mistakes that it will meet in parsing. Documents
are dealt out to folds by chance, since what a document repeats is easy for a tagger that has seen the rest of it, and a
new text is never so easy; without documents, sentences are. Each fold is tagged by a tagger trained on the others,
for a fixed number of epochs, as no dev data may decide.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.directory import from_json, replace_file
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import load_tagger
from easyfirst.nn.parser_network import TAG_KINDS
from easyfirst.text.tagging import Tagger, Tags
from easyfirst.training import checkpoint, supervised
from easyfirst.training.tagger_task import TaggerTask, accuracies
from easyfirst.treebank.raw_text import is_new_document
from easyfirst.treebank.sentence import Sentence

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SECONDS_TO_END = 5.0
DOCUMENTS_A_FOLD = 5
"""With fewer of them than this, folds are made of sentences."""


class FoldReporter(supervised.Reporter, Protocol):
    """Hears how jackknifing goes; of the epochs only if folds are trained one at a time."""

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        """A fold, counted from 1, has been tagged, this well."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Sentences to tag, and those to learn from."""

    number: int
    """From 1."""
    held_out: Sequence[Sentence]
    others: Sequence[Sentence]
    config: TaggerConfig
    learning: TaggerTraining
    vectors: SharedVectors | None
    folder: Path
    """Gets ``fold-<number>.json`` when the fold is done, and its training run until then."""
    fingerprint: str
    """Of all sentences and settings: a result with another one is of another run."""

    @property
    def result(self) -> Path:
        return self.folder / f"fold-{self.number}.json"

    @property
    def run(self) -> Path:
        return self.folder / f"fold-{self.number}"


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The tags of the held-out sentences, and how many of them are right."""

    tags: Sequence[Tags]
    accuracy: Mapping[str, float]


def jackknife(
    sentences: Sequence[Sentence],
    n_folds: int,
    config: TaggerConfig,
    learning: TaggerTraining,
    *,
    vectors: SharedVectors | None,
    folder: Path,
    reporter: FoldReporter,
    seed: int,
    jobs: int = 1,
    resume: bool = False,
) -> list[Sentence]:
    """The sentences in their order, with predicted tags in place of all that were given.

    ``jobs``: how many folds are trained at a time; more than one are processes of their own. What is in ``folder`` is
    done anew, unless ``resume`` says to go on.
    """
    check_folds(n_folds, len(sentences))
    if jobs < 1:
        raise ConfigError(f"jobs is {jobs}; it must be at least 1")
    fold_of = _deal(_documents(sentences, n_folds), n_folds, seed)
    fingerprint = _fingerprint(sentences, [n_folds, seed, asdict(config), asdict(learning)], vectors)
    folds = [
        Fold(
            number=number,
            held_out=[sentence for sentence, fold in zip(sentences, fold_of, strict=True) if fold == number],
            others=[sentence for sentence, fold in zip(sentences, fold_of, strict=True) if fold != number],
            config=config,
            learning=learning,
            vectors=vectors,
            folder=folder,
            fingerprint=fingerprint,
        )
        for number in range(1, n_folds + 1)
    ]
    _prepare(folds, is_new=not resume)
    results: dict[int, Iterator[Tags]] = {}
    for fold, result in _run_all(folds, reporter, jobs):
        reporter.fold_end(fold.number, n_folds, result.accuracy)
        results[fold.number] = iter(result.tags)
    return [_retagged(sentence, next(results[fold])) for sentence, fold in zip(sentences, fold_of, strict=True)]


def check_folds(n_folds: int, n_sentences: int) -> None:
    """Raise :class:`ConfigError` if so many sentences cannot be dealt out to so many folds."""
    if not 2 <= n_folds <= n_sentences:
        raise ConfigError(f"{n_folds} folds of {n_sentences} sentences; there must be from 2 to as many as sentences")


def has_folds(folder: Path) -> bool:
    """Whether there is anything of a run to go on with."""
    return bool(_files(folder))


def forget_folds(folder: Path) -> None:
    """Do away with the results of an old run, and with what it had not finished."""
    for path in _files(folder):
        path.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    return [*folder.glob("fold-*.json"), *folder.glob(f"fold-*/{checkpoint.FILE}")]


def _documents(sentences: Sequence[Sentence], n_folds: int) -> list[int]:
    """How many sentences each document has; if there are few documents, each sentence counts as one."""
    starts = [n for n, sentence in enumerate(sentences) if n == 0 or is_new_document(sentence)]
    if len(starts) < DOCUMENTS_A_FOLD * n_folds:
        return [1] * len(sentences)
    return np.diff([*starts, len(sentences)]).tolist()


def _deal(documents: Sequence[int], n_folds: int, seed: int) -> list[int]:
    """The fold of each sentence, from 1: documents, given by their lengths, go in random order each to the fold that
    is the smallest so far."""
    sizes = [0] * n_folds
    folds = [0] * len(documents)
    for document in np.random.default_rng(seed).permutation(len(documents)).tolist():
        smallest = sizes.index(min(sizes))
        sizes[smallest] += documents[document]
        folds[document] = smallest + 1
    return np.repeat(folds, documents).tolist()


def _fingerprint(sentences: Sequence[Sentence], settings: object, vectors: SharedVectors | None) -> str:
    digest = hashlib.sha256(json.dumps([settings, vectors.sha256 if vectors else None]).encode())
    for sentence in sentences:
        digest.update(sentence.to_bytes())
    return digest.hexdigest()


def _prepare(folds: Sequence[Fold], *, is_new: bool) -> None:
    """Make the folder; a new run does away with an old one."""
    try:
        if is_new:
            forget_folds(folds[0].folder)
        for fold in folds:
            fold.run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"{folds[0].folder} cannot be written: {error.strerror or error}") from error


def _run_all(folds: Sequence[Fold], reporter: FoldReporter, jobs: int) -> Iterator[tuple[Fold, FoldResult]]:
    """Each fold when it is done."""
    waiting: list[Fold] = []
    for fold in folds:
        if (result := _read_result(fold)) is not None:
            yield fold, result
        else:
            waiting.append(fold)
    if jobs == 1 or len(waiting) <= 1:
        for fold in waiting:
            yield fold, run_fold(fold, _OfFold(reporter, fold.number))
        return
    yield from _run_in_processes(waiting, jobs)


def _run_in_processes(folds: Sequence[Fold], jobs: int) -> Iterator[tuple[Fold, FoldResult]]:
    """Each fold when it is done; whatever goes wrong, or an interrupt, stops all of them at once."""
    pool = ProcessPoolExecutor(min(jobs, len(folds)), mp_context=get_context("spawn"), initializer=_follow_parent)
    try:
        with _one_thread_each():
            running = {pool.submit(run_fold, fold): fold for fold in folds}
        for done in as_completed(running):
            yield running[done], done.result()
    except BrokenProcessPool:
        _stop(pool)
        raise ModelError("a process that trained a fold was killed; go on with --resume, and fewer at a time") from None
    except BaseException:  # also when nobody asks for the next fold any more
        _stop(pool)
        raise
    pool.shutdown()


def _follow_parent() -> None:
    """In a process that trains folds: leave interrupts to the parent, and end when that has been killed, so that none
    is still at work when the run is gone on with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the pool's processes in the middle of their work, of which their checkpoints keep the finished epochs."""
    processes: list[BaseProcess] = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(SECONDS_TO_END)


class _OfFold:
    """A reporter that is told of which fold an epoch is: as ``fold`` among its metrics."""

    def __init__(self, reporter: supervised.Reporter, number: int) -> None:
        self._reporter, self._number = reporter, number

    def progress(self, epoch: int, share: float, loss: float) -> None:
        self._reporter.progress(epoch, share, loss)

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        self._reporter.epoch_end({**metrics, "fold": self._number}, is_best=is_best)


def run_fold(fold: Fold, reporter: supervised.Reporter | None = None) -> FoldResult:
    """Train on the others and tag the fold; a run that was interrupted goes on."""
    tagger_path = fold.run / "tagger"
    task = TaggerTask(fold.others, fold.config, fold.learning, vectors=fold.vectors, out=tagger_path)
    supervised.learn(
        task,
        fold.learning,
        fold.run,
        reporter or supervised.Silent(),
        resume=checkpoint.has_checkpoint(fold.run),
        fingerprint={"jackknife": fold.fingerprint},
    )
    tagger = Tagger(load_tagger(tagger_path, fold.vectors))
    predicted = tagger.predict([sentence.forms for sentence in fold.held_out])
    result = FoldResult(predicted, accuracies(fold.held_out, predicted))
    content = {"fingerprint": fold.fingerprint, "tags": list(predicted), "accuracy": dict(result.accuracy)}
    replace_file(fold.result, json.dumps(content, ensure_ascii=False).encode())
    (fold.run / checkpoint.FILE).unlink()
    return result


def _read_result(fold: Fold) -> FoldResult | None:
    """Of a fold that is done."""
    if not fold.result.is_file():
        return None
    values = from_json(fold.result.read_bytes(), fold.result)
    if values.get("fingerprint") != fold.fingerprint:
        raise ConfigError(f"{fold.result} is of other sentences or settings; resume with the same ones, or start anew")
    return FoldResult(
        [{kind: tuple(column) for kind, column in tags.items()} for tags in values["tags"]], values["accuracy"]
    )


def _retagged(sentence: Sentence, tags: Tags) -> Sentence:
    """With these tags only: a column that the tagger does not know is emptied."""
    columns = {kind: tags.get(kind, ("_",) * len(sentence)) for kind in TAG_KINDS}
    return sentence.with_tags(upos=columns["upos"], xpos=columns["xpos"])


@contextmanager
def _one_thread_each() -> Generator[None]:
    """Processes started here use one thread each: they read it from the environment."""
    kept = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
