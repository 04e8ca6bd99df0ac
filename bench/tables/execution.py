"""Execute one run: train, resume or build an ensemble with the ``easyfirst`` command, test the selected model once, and
record the result.

A run has a folder with ``model`` (the output of ``easyfirst train``, including checkpoints), ``log.txt``,
``starts.jsonl``, ``test.json`` and, for an ensemble, ``dev.json``. The code that runs is that of this checkout. A
process that works in a folder holds the lock on its file ``lock`` and the lock on one of the slots, which limit how
many trainings run at a time. The training process inherits both locks and holds them as long as it lives, even if the
runner that started it is killed.
"""

from __future__ import annotations

import datetime
import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import report
from bench.tables.experiments import FOLDER, Run
from bench.tables.records import Line, Results, append_line, is_done, read_lines
from easyfirst.errors import EasyFirstError

SOURCE = FOLDER.parents[1] / "src"
CONVENTIONS = ("conllx", "ud", "full")
CHECKPOINT = "checkpoint.safetensors"
METRICS = "metrics.jsonl"
CONFIG = "config.json"
TAGGER_SEED = "tagger.seed"
WAIT = 0.5
"""Seconds between two attempts to take a lock that another process holds."""


class RunError(EasyFirstError):
    """A run that failed; its log has the reason."""


class StoppedError(Exception):
    """A run that was cancelled because the runner is stopping."""


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of the treebanks, the word vectors and the runs."""

    data: Path
    vectors: Path
    out: Path

    def of(self, run: Run) -> Path:
        """Return the folder of a run, even if the row has been renamed since the folder was created."""
        return next(self.out.glob(f"*-{run.key}"), self.out / f"{run.name}-{run.key}")


def execute(run: Run, folders: Folders, results: Results, *, jobs: int, stopped: threading.Event) -> Line | None:
    """Do what remains of a run and return the recorded line, or None if the run was already complete. Raise
    :class:`StoppedError` if ``stopped`` is set before the run is complete."""
    folder = folders.of(run)
    folder.mkdir(parents=True, exist_ok=True)
    slots = [folders.out / f"slot-{number}.lock" for number in range(jobs)]
    with locked([folder / "lock"], stopped, f"waits  {run.name}: another process is working on it") as lock:
        if is_done(run, results.read()):
            return None
        with locked(slots, stopped, f"waits  {run.name}: all training slots are taken") as slot:
            print(f"begin  {run.name}", flush=True)
            execution = Execution(run, folders, (lock, slot), stopped)
            if run.members:
                execution.combine()
                line = execution.record_ensemble(execution.scores("dev"), results.read())
            else:
                execution.copy_tagger()
                execution.train()
                line = execution.record()
            line["test"] = execution.scores("test") if run.wants_test else None
        results.append(line)
    return line


@contextmanager
def locked(paths: Sequence[Path], stopped: threading.Event, message: str) -> Generator[int]:
    """Hold the lock on one of the files and yield its descriptor. Print the message if it has to wait."""
    has_printed = False
    while not stopped.is_set():
        for path in paths:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
            try:
                if _take(descriptor):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)
        if not has_printed:
            print(message, flush=True)
            has_printed = True
        stopped.wait(WAIT)
    raise StoppedError


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock."""
    if not path.exists():
        return False
    with path.open("rb") as stream:
        return not _take(stream.fileno())


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def train_command(run: Run, folders: Folders) -> list[str]:
    """Return the arguments of ``easyfirst``, without ``--resume``."""
    treebank = run.treebank
    command = ["train", str(folders.data / treebank.train), "--dev", str(folders.data / treebank.dev)]
    command += ["--out", str(folders.of(run) / "model"), "--seed", str(run.seed), "--licence", treebank.licence]
    for name, value in run.options.items():
        given = folders.vectors / run.vectors[value] if value in run.vectors else value
        command += [f"--{name}"] if given is True else [f"--{name}", str(given)]
    for name, value in run.settings.items():
        command += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return command


@dataclass(frozen=True, slots=True)
class Execution:
    """The execution of a run in its folder, by the process that holds the locks."""

    run: Run
    folders: Folders
    locks: tuple[int, ...]
    """File descriptors that child processes inherit."""
    stopped: threading.Event

    @property
    def folder(self) -> Path:
        return self.folders.of(self.run)

    def copy_tagger(self) -> None:
        """Copy the tagger and its jackknifed tags from another seed of the row, if there is one.

        A tagger with a fixed seed is the same for all seeds of the row, so the copy equals what training would give.
        Its CPU time is counted only in the run that trained it.
        """
        model = self.folder / "model"
        if TAGGER_SEED not in self.run.settings or model.exists():
            return
        for other in self._siblings():
            unfinished = self.folder / "model.tmp"
            shutil.rmtree(unfinished, ignore_errors=True)
            for name in ("vectors", "tagger", "training/tagger", "training/jackknife"):
                if (other / name).is_dir():
                    shutil.copytree(other / name, unfinished / name, ignore=shutil.ignore_patterns(METRICS))
            unfinished.replace(model)
            return

    def _siblings(self) -> Iterator[Path]:
        """Yield the models of the row's other seeds that have trained their tagger and one epoch of the parser."""
        for path in sorted(self.folders.out.glob("*-*")):
            name, _, key = path.name.rpartition("-")
            seed = name.rpartition(".")[2]
            is_sibling = seed.isdecimal() and replace(self.run, seed=int(seed)).key == key
            if is_sibling and (path / "model" / "training" / METRICS).exists():
                yield path / "model"

    def train(self) -> None:
        """Train, or resume from the last checkpoint."""
        is_resumed = any((self.folder / "model" / "training").rglob(CHECKPOINT))
        self._note_start(is_resumed=is_resumed)
        self._easyfirst([*train_command(self.run, self.folders), "--resume" if is_resumed else "--overwrite"])

    def combine(self) -> None:
        """Build the ensemble of the run's members, unless it has been scored already."""
        if self._scores_path("dev").exists():
            return
        require_models(self.run, self.run.members, self.folders)
        self._note_start(is_resumed=False)
        models = [str(self.folders.of(member) / "model") for member in self.run.members]
        self._easyfirst(["combine", *models, "--out", str(self.folder / "model"), "--overwrite"])

    def _note_start(self, *, is_resumed: bool) -> None:
        """Record the start; scores of an earlier model are deleted if training starts from scratch."""
        append_line(self.folder / "starts.jsonl", {"date": _now(), "commit": commit(), "resumed": is_resumed})
        if not is_resumed:
            for part in ("dev", "test"):
                self._scores_path(part).unlink(missing_ok=True)

    def _easyfirst(self, arguments: Sequence[str], printed: Path | None = None) -> None:
        """Run ``easyfirst`` with the code of this checkout. Messages go to the log, and so does the output unless
        ``printed`` is given. (A pipe would break if this process were killed.)"""
        paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
        log_path = self.folder / "log.txt"
        with log_path.open("ab") as log, (printed or log_path).open("wb" if printed else "ab") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "easyfirst", *arguments, "--threads", "1"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                pass_fds=self.locks,
            )
            while process.poll() is None:
                if self.stopped.wait(WAIT):
                    process.terminate()
                    process.wait()
        if self.stopped.is_set():
            raise StoppedError
        if process.returncode:
            reason = f"'easyfirst {arguments[0]}' exited with code {process.returncode}: {_last_line(log_path)}"
            raise RunError(f"{self.run.name}: {reason} (to start over, delete {self.folder})")

    def scores(self, part: str) -> dict[str, Any]:
        """Return the scores of the selected model on dev or test. They are stored, so a model is scored only once."""
        path = self._scores_path(part)
        if not path.exists():
            treebank = self.run.treebank.test if part == "test" else self.run.treebank.dev
            command = ["evaluate", str(self.folders.data / treebank), "--model", str(self.folder / "model"), "--json"]
            unfinished = path.with_suffix(".tmp")
            self._easyfirst(command + ["--predicted-tags"] * self.run.predicted_tags, unfinished)
            unfinished.replace(path)
        return _rounded(json.loads(path.read_bytes()))

    def _scores_path(self, part: str) -> Path:
        return self.folder / f"{part}.json"

    def record(self) -> Line:
        """Return the result of a finished training. The selected epoch is the first with the best LAS on dev."""
        folder = self.folder / "model" / "training"
        epochs = read_lines(folder / METRICS)
        best = max(epochs, key=lambda epoch: epoch["dev"]["full"]["LAS"])
        every = [line for path in folder.rglob(METRICS) for line in read_lines(path)]
        return facts(self.run, self.folders) | {
            "epochs": len(epochs),
            "best_epoch": best["epoch"],
            "cpu_seconds": round(sum(line["cpu_seconds"] for line in every), 1),
            "dev": _rounded(best["dev"]),
            "dev_by_epoch": [[epoch["dev"]["full"]["UAS"], epoch["dev"]["full"]["LAS"]] for epoch in epochs],
        }

    def record_ensemble(self, dev: dict[str, Any], recorded: dict[str, Line]) -> Line:
        """Return the result of an ensemble, whose CPU time is that of all its members."""
        members = self.run.members
        return facts(self.run, self.folders) | {
            "seed": [member.seed for member in members],
            "members": [member.key for member in members],
            "epochs": 0,
            "best_epoch": 0,
            "cpu_seconds": round(sum(recorded[member.key]["cpu_seconds"] for member in members), 1),
            "dev": dev,
            "dev_by_epoch": [],
        }


def require_models(run: Run, members: Iterable[Run], folders: Folders) -> None:
    """Raise :class:`RunError` if the model of a member is not in the folder of the runs."""
    for member in members:
        if not (folders.of(member) / "model").is_dir():
            raise RunError(
                f"{run.name}: the model of {member.name} is recorded but not in {folders.out}; "
                "to train it here, remove its line from the results or give another --results"
            )


def checksums(run: Run, folders: Folders) -> dict[str, str]:
    """Return the checksums of a run's input files by name."""
    treebank = run.treebank
    paths = {name: folders.data / name for name in (treebank.train, treebank.dev, treebank.test)}
    paths |= {name: folders.vectors / name for name in run.vectors.values()}
    return {name: _sha256(path) for name, path in paths.items()}


def facts(run: Run, folders: Folders) -> Line:
    """Describe a run, and when and where it was executed."""
    starts = read_lines(folders.of(run) / "starts.jsonl")
    table, row, *_ = run.name.split(".")
    return {
        "key": run.key,
        "experiment": run.name,
        "table": table,
        "row": row,
        "language": run.treebank.language,
        "treebank": run.treebank.name,
        "seed": run.seed,
        "options": dict(run.options),
        "settings": dict(run.settings),
        "config": config(folders.of(run)),
        "commit": ", ".join(dict.fromkeys(start["commit"] for start in starts)),
        **report.conditions(),
        "starts": len(starts),
        "family": run.family,
        "data": checksums(run, folders),
    }


def config(folder: Path) -> Line:
    """Return all settings of a model except the seed, including those of its preset, which may change."""
    found = json.loads((folder / "model" / CONFIG).read_bytes())
    training = {name: value for name, value in found["training"].items() if name != "seed"}
    return {"network": found["network"], "training": training}


def commit() -> str:
    """Return the commit of this checkout, with a plus if the source of the package has uncommitted changes."""
    git = ["git", "--no-optional-locks", "-C", str(FOLDER)]
    try:
        head, changed = (
            subprocess.run([*git, *command], capture_output=True, text=True, check=True).stdout.strip()
            for command in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--", ":/src"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def _rounded(scores: dict[str, Any]) -> dict[str, dict[str, float]]:
    return {name: {score: round(scores[name][score], 3) for score in ("UAS", "LAS")} for name in CONVENTIONS}


@functools.cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "the log is empty"
