"""One run: train it with the command a user has, or go on with it, or put others together; test the selected model
once; record both.

A run has a folder: ``model`` (what ``easyfirst train`` writes, checkpoint included), ``log.txt``, ``starts.jsonl`` and
``test.json``, and if it was put together ``dev.json``. What runs is the code of this checkout. Whoever works in a
folder holds a lock on its file ``lock``, and another on one of the slots, of which there are as many as trainings may
run at a time. The training process inherits both locks, so they are held for as long as it lives, even if the runner
that started it was killed.
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

from experiments import FOLDER, Run
from results import Line, Results, append_line, is_done, read_lines

sys.path.append(str(FOLDER.parent))

import report

from easyfirst.errors import EasyFirstError

SOURCE = FOLDER.parents[1] / "src"
CONVENTIONS = ("conllx", "ud", "full")
CHECKPOINT = "checkpoint.safetensors"
METRICS = "metrics.jsonl"
CONFIG = "config.json"
TAGGER_SEED = "tagger.seed"
WAIT = 0.5
"""Seconds between two looks at a lock that another process holds."""


class RunError(EasyFirstError):
    """A run that did not succeed; its log says why."""


class StoppedError(Exception):
    """A run that was not begun, because nothing is to be begun any more."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where things are."""

    data: Path
    vectors: Path
    out: Path

    def of(self, run: Run) -> Path:
        """A run's own folder, also if the row has been renamed since it was made."""
        return next(self.out.glob(f"*-{run.key}"), self.out / f"{run.name}-{run.key}")


def execute(run: Run, folders: Folders, results: Results, *, jobs: int, stopped: threading.Event) -> Line | None:
    """Do all that is still to be done; what was recorded, or None if that was everything already. Raises
    :class:`StoppedError` if ``stopped`` is set before it is done."""
    folder = folders.of(run)
    folder.mkdir(parents=True, exist_ok=True)
    slots = [folders.out / f"slot-{number}.lock" for number in range(jobs)]
    with locked([folder / "lock"], stopped, f"waits  {run.name}: another process is at it") as lock:
        if is_done(run, results.read()):
            return None
        with locked(slots, stopped, f"waits  {run.name}: as many trainings are running as there may be") as slot:
            print(f"begin  {run.name}", flush=True)
            work = Work(run, folders, (lock, slot), stopped)
            if run.members:
                work.combine()
                line = work.record_combined(work.scores("dev"), results.read())
            else:
                work.take_tagger()
                work.train()
                line = work.record()
            line["test"] = work.scores("test") if run.wants_test else None
        results.append(line)
    return line


@contextmanager
def locked(paths: Sequence[Path], stopped: threading.Event, message: str) -> Generator[int]:
    """Hold the lock on one of some files; its descriptor. If it has to be waited for, the message is printed."""
    is_told = False
    while not stopped.is_set():
        for path in paths:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
            try:
                if _take(descriptor):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)
        if not is_told:
            print(message, flush=True)
            is_told = True
        stopped.wait(WAIT)
    raise StoppedError


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock."""
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
    """The command of a user, but for ``--resume``."""
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
class Work:
    """What is done in a run's folder by whoever holds the locks."""

    run: Run
    folders: Folders
    locks: tuple[int, ...]
    """Descriptors, which processes that are started inherit."""
    stopped: threading.Event

    @property
    def folder(self) -> Path:
        return self.folders.of(self.run)

    def take_tagger(self) -> None:
        """If the tagger has a seed of its own, it is the same in all seeds of the row, with the tags that it predicted
        by jackknifing: take them from one that has them, which gives what training them again would give. What it cost
        is counted there."""
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
        """The models of the same run with other seeds whose parsers have learnt for an epoch, and so have the rest."""
        for path in sorted(self.folders.out.glob("*-*")):
            name, _, key = path.name.rpartition("-")
            seed = name.rpartition(".")[2]
            is_sibling = seed.isdecimal() and replace(self.run, seed=int(seed)).key == key
            if is_sibling and (path / "model" / "training" / METRICS).exists():
                yield path / "model"

    def train(self) -> None:
        """Train, or go on after the last epoch that was saved."""
        is_resumed = any((self.folder / "model" / "training").rglob(CHECKPOINT))
        self._note_start(is_resumed=is_resumed)
        self._easyfirst([*train_command(self.run, self.folders), "--resume" if is_resumed else "--overwrite"])

    def combine(self) -> None:
        """Put the models of a run's members together, unless the result has been scored."""
        if self._scores_path("dev").exists():
            return
        require_models(self.run, self.run.members, self.folders)
        self._note_start(is_resumed=False)
        models = [str(self.folders.of(member) / "model") for member in self.run.members]
        self._easyfirst(["combine", *models, "--out", str(self.folder / "model"), "--overwrite"])

    def _note_start(self, *, is_resumed: bool) -> None:
        """A model that is made anew has not been scored."""
        append_line(self.folder / "starts.jsonl", {"date": _now(), "commit": commit(), "resumed": is_resumed})
        if not is_resumed:
            for part in ("dev", "test"):
                self._scores_path(part).unlink(missing_ok=True)

    def _easyfirst(self, arguments: Sequence[str], printed: Path | None = None) -> None:
        """Call the command with the code of this checkout. What it says goes to the log, and there is a file for what
        it prints, if that is wanted. (Nothing goes through a pipe, which would break if this process were killed.)"""
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
            said = f"'easyfirst {arguments[0]}' ended with code {process.returncode}: {_last_line(log_path)}"
            raise RunError(f"{self.run.name}: {said} (without the folder {self.folder} it begins anew)")

    def scores(self, part: str) -> dict[str, Any]:
        """The scores of the selected model on dev or test; they are kept, so that they are never taken twice."""
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
        """What is worth keeping of a finished training; the epoch that was selected is the first with the best LAS."""
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

    def record_combined(self, dev: dict[str, Any], recorded: dict[str, Line]) -> Line:
        """The same of models put together, which took the time of all."""
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
    """Raise :class:`RunError` if some of those that a run is put together of have been trained, but not here."""
    for member in members:
        if not (folders.of(member) / "model").is_dir():
            raise RunError(
                f"{run.name}: the model of {member.name} is not in {folders.out}: trained elsewhere, or gone; "
                "to train it here, take its line out of the results, or give another file as --results"
            )


def checksums(run: Run, folders: Folders) -> dict[str, str]:
    """Of the files a run is made from, by their names."""
    treebank = run.treebank
    paths = {name: folders.data / name for name in (treebank.train, treebank.dev, treebank.test)}
    paths |= {name: folders.vectors / name for name in run.vectors.values()}
    return {name: _sha256(path) for name, path in paths.items()}


def facts(run: Run, folders: Folders) -> Line:
    """What a run is, and where and when it was done."""
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
    """All settings of a model but the seed, those of its preset included, which may change from version to version."""
    found = json.loads((folder / "model" / CONFIG).read_bytes())
    training = {name: value for name, value in found["training"].items() if name != "seed"}
    return {"network": found["network"], "training": training}


def commit() -> str:
    """Of the checkout this file is in; with a plus if the package's source has changed since."""
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
    return lines[-1] if lines else "nothing in the log"
