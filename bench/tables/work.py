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
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import FOLDER, VECTORS, Run
from results import Line, Results, append_line, is_done, read_lines

sys.path.append(str(FOLDER.parent))

import report

SOURCE = FOLDER.parents[1] / "src"
CONVENTIONS = ("conllx", "ud", "full")
CHECKPOINT = "checkpoint.safetensors"
METRICS = "metrics.jsonl"
CONFIG = "config.json"
WAIT = 0.5
"""Seconds between two looks at a lock that another process holds."""


class RunError(Exception):
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
    :class:`StoppedError` if ``stopped`` is set before it has begun."""
    folder = folders.of(run)
    folder.mkdir(parents=True, exist_ok=True)
    with locked([folder / "lock"], stopped) as lock:
        if is_done(run, results.read()):
            return None
        with locked([folders.out / f"slot-{number}.lock" for number in range(jobs)], stopped) as held:
            if run.members:
                combine(run, folders, keep=(lock, held))
                dev = scores(run, folders, "dev", keep=(lock, held))
                line = record_combined(run, folders, dev, results.read())
            else:
                train(run, folders, keep=(lock, held))
                line = record(run, folders)
            line["test"] = scores(run, folders, "test", keep=(lock, held)) if run.wants_test else None
        results.append(line)
    return line


@contextmanager
def locked(paths: Sequence[Path], stopped: threading.Event) -> Generator[int]:
    """Wait for the lock on one of some files, and hold it; the file's descriptor."""
    while not stopped.is_set():
        for path in paths:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
            try:
                if _take(descriptor):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)
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
        given = folders.vectors / treebank.vectors if value == VECTORS else value
        command += [f"--{name}"] if given is True else [f"--{name}", str(given)]
    for name, value in run.settings.items():
        command += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return command


def train(run: Run, folders: Folders, *, keep: Sequence[int]) -> None:
    """Train, or go on after the last epoch that was saved."""
    folder = folders.of(run)
    is_resumed = any((folder / "model" / "training").rglob(CHECKPOINT))
    _note_start(folder, is_resumed=is_resumed)
    command = [*train_command(run, folders), "--resume" if is_resumed else "--overwrite"]
    _easyfirst(run, folder, command, keep)


def combine(run: Run, folders: Folders, *, keep: Sequence[int]) -> None:
    """Put the models of a run's members together."""
    folder = folders.of(run)
    _note_start(folder, is_resumed=False)
    models = [folders.of(member) / "model" for member in run.members]
    for model, member in zip(models, run.members, strict=True):
        if not model.is_dir():
            raise RunError(f"{run.name}: the model of {member.name} is not in {model}; it was trained elsewhere")
    _easyfirst(run, folder, ["combine", *map(str, models), "--out", str(folder / "model"), "--overwrite"], keep)


def _note_start(folder: Path, *, is_resumed: bool) -> None:
    """A model that is made anew has not been scored."""
    append_line(folder / "starts.jsonl", {"date": _now(), "commit": commit(), "resumed": is_resumed})
    if not is_resumed:
        for part in ("dev", "test"):
            _scores_path(folder, part).unlink(missing_ok=True)


def _easyfirst(
    run: Run, folder: Path, arguments: Sequence[str], keep: Sequence[int], *, answers: bool = False
) -> bytes:
    """Call the command with the code of this checkout. What it says goes to the log; if it ``answers``, what it prints
    is given back. (A training must not be heard through a pipe: it would break if this process were killed.)"""
    paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    with (folder / "log.txt").open("ab") as log:
        done = subprocess.run(
            [sys.executable, "-m", "easyfirst", *arguments, "--threads", "1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if answers else log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            pass_fds=keep,
            check=False,
        )
    if done.returncode:
        said = _last_line(folder / "log.txt")
        raise RunError(f"{run.name}: 'easyfirst {arguments[0]}' ended with code {done.returncode}: {said}")
    return done.stdout or b""


def scores(run: Run, folders: Folders, part: str, *, keep: Sequence[int]) -> dict[str, Any]:
    """The scores of the selected model on dev or test; they are kept, so that they are never taken twice."""
    folder = folders.of(run)
    path = _scores_path(folder, part)
    if not path.exists():
        treebank = run.treebank.test if part == "test" else run.treebank.dev
        command = ["evaluate", str(folders.data / treebank), "--model", str(folder / "model"), "--json"]
        found = _easyfirst(run, folder, command + ["--predicted-tags"] * run.predicted_tags, keep, answers=True)
        unfinished = path.with_suffix(".tmp")
        unfinished.write_bytes(found)
        unfinished.replace(path)
    return _rounded(json.loads(path.read_bytes()))


def _scores_path(folder: Path, part: str) -> Path:
    return folder / f"{part}.json"


def record(run: Run, folders: Folders) -> Line:
    """What is worth keeping of a finished training; the epoch that was selected is the first with the best LAS."""
    folder = folders.of(run)
    epochs = read_lines(folder / "model" / "training" / METRICS)
    best = max(epochs, key=lambda epoch: epoch["dev"]["full"]["LAS"])
    every = [line for path in (folder / "model" / "training").rglob(METRICS) for line in read_lines(path)]
    return facts(run, folders) | {
        "epochs": len(epochs),
        "best_epoch": best["epoch"],
        "cpu_seconds": round(sum(line["cpu_seconds"] for line in every), 1),
        "dev": _rounded(best["dev"]),
        "dev_by_epoch": [[epoch["dev"]["full"]["UAS"], epoch["dev"]["full"]["LAS"]] for epoch in epochs],
    }


def record_combined(run: Run, folders: Folders, dev: dict[str, Any], recorded: dict[str, Line]) -> Line:
    """The same of models put together, which took the time of all."""
    seconds = sum(recorded[member.key]["cpu_seconds"] for member in run.members)
    return facts(run, folders) | {
        "seed": [member.seed for member in run.members],
        "members": [member.key for member in run.members],
        "epochs": 0,
        "best_epoch": 0,
        "cpu_seconds": round(seconds, 1),
        "dev": dev,
        "dev_by_epoch": [],
    }


def facts(run: Run, folders: Folders) -> Line:
    """What a run is, and where and when it was done."""
    starts = read_lines(folders.of(run) / "starts.jsonl")
    table, row, *_ = run.name.split(".")
    files = [run.treebank.train, run.treebank.dev, run.treebank.test]
    sha256 = {name: _sha256(folders.data / name) for name in files}
    if VECTORS in run.options.values():
        sha256[run.treebank.vectors] = _sha256(folders.vectors / run.treebank.vectors)
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
        "data": sha256,
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


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing in the log"
