"""Schedule runs: choose them, list their state, check their inputs and execute them, several at a time."""

from __future__ import annotations

import errno
import fnmatch
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from bench.tables.execution import METRICS, Folders, RunError, checksums, execute, is_locked, require_models
from bench.tables.experiments import Run
from bench.tables.options import VECTORS
from bench.tables.records import Line, Results, is_done, read_lines
from easyfirst.errors import EasyFirstError


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chosen(runs: Sequence[Run], patterns: Sequence[str]) -> list[Run]:
    """Return the runs whose name matches a pattern, with the members of ensembles; without patterns all runs. A
    pattern without wildcards matches any name that contains it."""
    if not patterns:
        return list(runs)
    like = [pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*" for pattern in patterns]
    found = [run for run in runs if any(fnmatch.fnmatchcase(name, one) for name in run.places for one in like)]
    keys = {run.key for run in found} | {member.key for run in found for member in run.members}
    return [run for run in runs if run.key in keys]


def estimate(run: Run, recorded: dict[str, Line]) -> float:
    """Return the CPU minutes of a run: those of other recorded seeds if there are any, else the declared estimate."""
    known = [line["cpu_seconds"] / 60 for line in recorded.values() if line["family"] == run.family]
    return sum(known) / len(known) if known else run.minutes


def show(runs: Sequence[Run], recorded: dict[str, Line], out: Path | None, jobs: int) -> None:
    """List the runs that are done, running and to do."""
    left = 0.0
    for run in runs:
        state, detail = _state(run, recorded, out)
        left += 0 if state == "done" else estimate(run, recorded)
        also = f"  (also {', '.join(run.places[1:])})" if len(run.places) > 1 else ""
        print(f"{state:8} {run.name:28} {detail}{also}")
    print(f"about {left / 60:.1f} CPU hours left, {left / 60 / jobs:.1f} hours with --jobs {jobs}")
    if left and out is None:
        print("(with --out the list also shows which runs are running or stopped)")


def _state(run: Run, recorded: dict[str, Line], out: Path | None) -> tuple[str, str]:
    if is_done(run, recorded):
        return "done", _scores(recorded[run.key])
    minutes = f"about {estimate(run, recorded):.0f} min"
    if out is None:
        return "to do", minutes
    folder = Folders(Path(), Path(), out).of(run)
    n_epochs = len(read_lines(folder / "model" / "training" / METRICS))
    epochs = f"{n_epochs} epoch{'s' * (n_epochs != 1)} done, {minutes} in total"
    if is_locked(folder / "lock"):
        return "running", epochs
    return ("stopped", epochs) if n_epochs else ("to do", minutes)


def _scores(line: Line) -> str:
    parts = [(part, line[part]["conllx"]) for part in ("dev", "test") if line.get(part)]
    shown = [f"{part} {scores['UAS']:.2f}/{scores['LAS']:.2f}" for part, scores in parts]
    selected = f"epoch {line['best_epoch']} of {line['epochs']}" if line["epochs"] else "ensemble"
    return f"{', '.join(shown)} (conllx), {selected}"


def work_off(runs: Sequence[Run], folders: Folders, results: Results, jobs: int, after_each: Callable[[], None]) -> int:
    """Execute the runs and return how many failed."""
    is_stopped = threading.Event()
    recorded = results.read()
    to_do = [run for run in runs if _is_possible(run, folders, recorded)]
    failed = len(runs) - len(to_do)

    def one(run: Run) -> Line | None:
        return execute(run, folders, results, jobs=jobs, stopped=is_stopped)

    running: dict[Future[Line | None], Run] = {}
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while True:
                while len(running) < jobs and (run := _next(to_do, results)) is not None:
                    running[pool.submit(one, run)] = run
                if not running:
                    break
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    run = running.pop(done)
                    try:
                        line = done.result()
                    except (EasyFirstError, OSError, ValueError, KeyError) as error:  # damaged files raise the last two
                        failed += 1
                        _report_failure(error if isinstance(error, RunError) else f"{run.name}: {in_words(error)}")
                        continue
                    if line is not None:
                        print(f"done   {run.name}: {_scores(line)}", flush=True)
                        after_each()
        except KeyboardInterrupt:
            is_stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            print("stopped; run the same command to resume", file=sys.stderr, flush=True)
            raise
    for run in to_do:
        _report_failure(f"{run.name}: some members of the ensemble are not trained")
    return failed + len(to_do)


def _is_possible(run: Run, folders: Folders, recorded: dict[str, Line]) -> bool:
    """Report a failure and return False if the run is an ensemble of recorded models that are not here."""
    try:
        require_models(run, [member for member in run.members if is_done(member, recorded)], folders)
    except RunError as error:
        _report_failure(error)
        return False
    return True


def _report_failure(what: object) -> None:
    print(f"FAILED {what}", file=sys.stderr, flush=True)


def in_words(error: Exception) -> str:
    """Return the message of an error."""
    if isinstance(error, OSError):
        name = error.filename or "a file of the run"
        return f"{name}: {error.strerror or error}"
    return str(error) if isinstance(error, EasyFirstError) else repr(error)


def _next(to_do: list[Run], results: Results) -> Run | None:
    """Remove and return the next run that can start; ensembles come first."""
    recorded = results.read()
    for run in sorted(to_do, key=lambda run: not run.members):
        if all(is_done(member, recorded) for member in run.members):
            to_do.remove(run)
            return run
    return None


def check_inputs(runs: Sequence[Run], folders: Folders, results: Results) -> None:
    """Raise :class:`RunError` or :class:`OSError` if an input is missing or changed, or a folder is not writable."""
    recorded = results.read()
    for run in runs:
        _require_files(run, folders)
        found, line = checksums(run, folders), recorded.get(run.key)
        for name, digest in found.items():
            if line is not None and line["data"].get(name, digest) != digest:
                raise RunError(
                    f"{run.name} is recorded in {results.path} with a different {name}; give another --results"
                )
    folders.out.mkdir(parents=True, exist_ok=True)
    if not os.access(folders.out, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folders.out))
    results.check_writable()


def _require_files(run: Run, folders: Folders) -> None:
    treebank = run.treebank
    named = [("train", treebank.train, "data"), ("dev", treebank.dev, "data"), ("test", treebank.test, "data")]
    named += [(VECTORS[placeholder], name, "vectors") for placeholder, name in run.vectors.items()]
    for key, name, option in named:
        path = getattr(folders, option) / name
        if not path.is_file():
            raise RunError(
                f"{path}: no such file, but {run.name} needs it; check --{option}, and {key} of "
                f"[{treebank.language}] in the treebanks' TOML file"
            )
