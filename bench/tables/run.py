"""Train and test what the tables declare: as many runs at a time as --jobs says, each with one thread.

    python bench/tables/run.py --list
    python bench/tables/run.py --data DIR --vectors DIR --out DIR --jobs 2 --render
    python bench/tables/run.py --data DIR --vectors DIR --out DIR --only 'rows.*.en.*'

DIRs: the folder with the treebanks' folders, the one with the files of word vectors, and one for the runs. It may be
stopped or killed at any moment: the same command goes on. What is recorded in the file of the results is never trained
or tested again; to do all of it yourself, name another file as --results; to have more seeds, name them in the row.
Needs Python 3.11 and a POSIX system.
"""

from __future__ import annotations

import argparse
import errno
import fnmatch
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

import render
from experiments import Run, read_plan
from options import VECTORS
from results import Line, Results, is_done, read_lines
from work import METRICS, Folders, RunError, checksums, execute, is_locked, require_models

from easyfirst.errors import EasyFirstError


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chosen(runs: Sequence[Run], patterns: Sequence[str]) -> list[Run]:
    """The runs with a name that has one of the patterns in it, or, if that has wildcards, is like it, and the members
    of those; without patterns all."""
    if not patterns:
        return list(runs)
    like = [pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*" for pattern in patterns]
    found = [run for run in runs if any(fnmatch.fnmatchcase(name, one) for name in run.places for one in like)]
    keys = {run.key for run in found} | {member.key for run in found for member in run.members}
    return [run for run in runs if run.key in keys]


def estimate(run: Run, recorded: dict[str, Line]) -> float:
    """Minutes of the CPU: measured if a run with another seed is recorded, else guessed."""
    known = [line["cpu_seconds"] / 60 for line in recorded.values() if line["family"] == run.family]
    return sum(known) / len(known) if known else run.minutes


def show(runs: Sequence[Run], recorded: dict[str, Line], out: Path | None, jobs: int) -> None:
    """What is done, under way and to do."""
    left = 0.0
    for run in runs:
        state, detail = _state(run, recorded, out)
        left += 0 if state == "done" else estimate(run, recorded)
        also = f"  (also {', '.join(run.places[1:])})" if len(run.places) > 1 else ""
        print(f"{state:8} {run.name:28} {detail}{also}")
    print(f"about {left / 60:.1f} hours of CPU left, {left / 60 / jobs:.1f} with {jobs} at a time")
    if left and out is None:
        print("(with --out this tells which are running or stopped half-way, too)")


def _state(run: Run, recorded: dict[str, Line], out: Path | None) -> tuple[str, str]:
    if is_done(run, recorded):
        return "done", _scores(recorded[run.key])
    minutes = f"about {estimate(run, recorded):.0f} min"
    if out is None:
        return "to do", minutes
    folder = Folders(Path(), Path(), out).of(run)
    n_epochs = len(read_lines(folder / "model" / "training" / METRICS))
    epochs = f"{n_epochs} epoch{'s' * (n_epochs != 1)} done, {minutes} in all"
    if is_locked(folder / "lock"):
        return "running", epochs
    return ("stopped", epochs) if n_epochs else ("to do", minutes)


def _scores(line: Line) -> str:
    parts = [(part, line[part]["conllx"]) for part in ("dev", "test") if line.get(part)]
    shown = [f"{part} {scores['UAS']:.2f}/{scores['LAS']:.2f}" for part, scores in parts]
    selected = f"epoch {line['best_epoch']} of {line['epochs']}" if line["epochs"] else "put together"
    return f"{', '.join(shown)} (conllx), {selected}"


def work_off(runs: Sequence[Run], folders: Folders, results: Results, jobs: int, after_each: Callable[[], None]) -> int:
    """Execute all of some runs that are not done; how many failed."""
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
                    except (EasyFirstError, OSError, ValueError, KeyError) as error:  # the last two: of damaged files
                        failed += 1
                        _tell_failure(error if isinstance(error, RunError) else f"{run.name}: {_said(error)}")
                        continue
                    if line is not None:
                        print(f"done   {run.name}: {_scores(line)}", flush=True)
                        after_each()
        except KeyboardInterrupt:
            is_stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            print("stopped; the same command goes on", file=sys.stderr, flush=True)
            raise
    for run in to_do:
        _tell_failure(f"{run.name}: not all of its members have been trained")
    return failed + len(to_do)


def _is_possible(run: Run, folders: Folders, recorded: dict[str, Line]) -> bool:
    """Not, and that is told, if a run is to be put together of models that are recorded but not here."""
    try:
        require_models(run, [member for member in run.members if is_done(member, recorded)], folders)
    except RunError as error:
        _tell_failure(error)
        return False
    return True


def _tell_failure(what: object) -> None:
    print(f"FAILED {what}", file=sys.stderr, flush=True)


def _said(error: Exception) -> str:
    """An error in words."""
    if isinstance(error, OSError):
        name = error.filename or "a file of the run"
        return f"{name}: {error.strerror or error}"
    return str(error) if isinstance(error, EasyFirstError) else repr(error)


def _next(to_do: list[Run], results: Results) -> Run | None:
    """Take out what is to be done next: what can be put together before what is to be trained."""
    recorded = results.read()
    for run in sorted(to_do, key=lambda run: not run.members):
        if all(is_done(member, recorded) for member in run.members):
            to_do.remove(run)
            return run
    return None


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    render.add_arguments(parser)
    parser.add_argument("--data", type=Path, help="the folder of the treebanks")
    parser.add_argument("--vectors", type=Path, help="the folder of the word vectors")
    parser.add_argument("--out", type=Path, help="the folder for models, checkpoints and logs")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time; at most one a core")
    only = "the runs whose table.row.language.seed is like this; may be given more than once"
    parser.add_argument("--only", metavar="PATTERN", action="append", default=[], help=only)
    parser.add_argument("--list", action="store_true", help="say what is done, running and to do, and do nothing")
    parser.add_argument("--render", action="store_true", help="write the page after every result")
    return parser


def check_places(runs: Sequence[Run], folders: Folders, results: Results) -> None:
    """Say now what a run would fail with when it is trained: an :class:`OSError`, or a :class:`RunError`."""
    recorded = results.read()
    for run in runs:
        _require_files(run, folders)
        found, line = checksums(run, folders), recorded.get(run.key)
        for name, digest in found.items():
            if line is not None and line["data"].get(name, digest) != digest:
                raise RunError(
                    f"{run.name} is recorded in {results.path} with another {name}; for yours, give another --results"
                )
    folders.out.mkdir(parents=True, exist_ok=True)
    if not os.access(folders.out, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folders.out))
    results.check_writable()


def _require_files(run: Run, folders: Folders) -> None:
    treebank = run.treebank
    named = [("train", treebank.train, "data"), ("dev", treebank.dev, "data"), ("test", treebank.test, "data")]
    named += [(VECTORS[sign], name, "vectors") for sign, name in run.vectors.items()]
    for key, name, option in named:
        path = getattr(folders, option) / name
        if not path.is_file():
            raise RunError(
                f"{path}: there is no such file, which {run.name} needs; --{option} names the folder, and {key} of "
                f"[{treebank.language}] in the treebanks' TOML file the file in it"
            )


def main() -> None:
    parser = arguments()
    options = parser.parse_args()
    if not 1 <= options.jobs <= cores():
        parser.error(f"--jobs: at least 1, and at most one training a core, of which there are {cores()}")
    try:
        plan = read_plan(options.files, options.treebanks)
        page, findings = render.places(options) if options.render else (None, None)
        runs, results = chosen(plan.runs(), options.only), Results(options.results)
        recorded = results.read()
        if not runs:
            asked = f"is like {' or '.join(options.only)}; --list names all" if options.only else "is declared"
            raise RunError(f"no run {asked}")
        if options.list:
            show(runs, recorded, options.out, options.jobs)
            sys.stdout.flush()
            return
        if None in (options.data, options.out):
            raise RunError("--data and --out are needed to train")
        render.check_results(options)
        if options.vectors is None and (reading := [run.name for run in runs if run.vectors]):
            raise RunError(f"--vectors is needed to train {reading[0]}")
        folders = Folders(options.data, options.vectors or Path(), options.out)
        check_places(runs, folders, results)
        if page is not None:
            render.write(page, plan, results, findings)
    except BrokenPipeError:  # whoever reads the list has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    except (EasyFirstError, OSError) as error:
        parser.exit(2, f"error: {_said(error)}\n")

    def after_each() -> None:
        if page is not None:
            try:
                render.write(page, plan, results, findings)
            except (EasyFirstError, OSError) as error:  # what has been run is recorded all the same
                print(f"the page was not written: {error}", file=sys.stderr, flush=True)

    to_do = [run for run in runs if not is_done(run, recorded)]
    if not to_do:
        print(f"nothing to do: all {len(runs)} are recorded in {results.path}; to do them anew, give another --results")
    try:
        failed = work_off(to_do, folders, results, options.jobs, after_each)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
