"""Measure the speed of training, early and late, and profile it by phase.

    python -m bench.training --train train.conllu --dev dev.conllu --run my-model

Early: the first epoch from fresh weights. Late: one more epoch from the checkpoint of a finished run (``--run``, an
output directory of ``easyfirst train``). Reports words per CPU second with one thread, and the peak memory, for the
NumPy engine and for the compiled core, which explores if there is one. The engines take turns; figures are medians.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from bench import report
from easyfirst.model.parser_config import ParserConfig
from easyfirst.native.backend import ENGINE_VARIABLE
from easyfirst.native.library import find_core
from easyfirst.parsing.batch_exploration import NumpyExploration
from easyfirst.parsing.native_exploration import NativeExploration
from easyfirst.training import parser_loss
from easyfirst.training.checkpoint import load_checkpoint
from easyfirst.training.data import Job, TrainingData
from easyfirst.training.optimizer import Optimizer
from easyfirst.training.parser_task import ParserTask
from easyfirst.training.run_folders import FOLDER
from easyfirst.training.training_loop import Silent, TrainingLoop

PHASES = ("early", "late")
AUTHORS_WORDS_PER_SECOND = 110
"""The speed of the authors' implementation on this kind of machine and data."""


class Stopwatch:
    """CPU seconds by phase; the time of a nested phase is counted once."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inside = 0.0

    def wrap(self, owner: Any, name: str, part: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            outer, self._inside = self._inside, 0.0
            started = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.process_time() - started
                self.seconds[part] = self.seconds.get(part, 0.0) + spent - self._inside
                self._inside = outer + spent

        setattr(owner, name, timed)


def measure(train: Path, dev: Path, run: Path, *, is_late: bool) -> dict[str, Any]:
    """Train one epoch and time its phases."""
    torch.set_num_threads(1)
    config = ParserConfig.from_dict(load_checkpoint(run / FOLDER).facts["config"])
    job = Job(train=train, dev=dev, out=run)
    data = TrainingData.read(job, freeze_external=False).checked_for_parser(config.network.tag_kinds)
    loop = TrainingLoop(ParserTask(job, config, data), run / FOLDER, resume=is_late)
    watch = Stopwatch()
    watch.wrap(parser_loss, "encode_words", "words")
    for exploration in (NumpyExploration, NativeExploration):
        watch.wrap(exploration, "explore", "explore")
        watch.wrap(exploration, "weights_changed", "rebuild")
    watch.wrap(parser_loss, "hinge_losses", "replay")
    watch.wrap(torch.Tensor, "backward", "backward")
    watch.wrap(Optimizer, "step", "update")
    started = time.process_time()
    stats = loop.train_epoch(Silent(), len(loop.history) + 1)
    seconds = time.process_time() - started
    watch.seconds["other"] = seconds - sum(watch.seconds.values())
    return {
        "words": stats["words"],
        "cpu_seconds": round(seconds, 1),
        "words_per_cpu_second": round(stats["words"] / seconds),
        "updates": stats["updates"],
        "violations_per_sentence": round(stats["violations_per_sentence"], 3),
        "share": {part: round(spent / seconds, 3) for part, spent in watch.seconds.items()},
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def measure_apart(phase: str, engine: str) -> dict[str, Any]:
    """Measure in a process of its own, so that memory is measured separately."""
    command = [sys.executable, "-m", "bench.training", *sys.argv[1:], "--phase", phase]
    environment = {**os.environ, ENGINE_VARIABLE: engine}
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)


def summarize(rounds: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the round of median speed of each engine, with the speeds of all rounds; and the median ratio."""
    result: dict[str, Any] = {}
    for engine in rounds[0]:
        found = sorted((each[engine] for each in rounds), key=lambda one: one["words_per_cpu_second"])
        speeds = [each[engine]["words_per_cpu_second"] for each in rounds]
        result[engine] = {**found[len(found) // 2], "rounds": speeds}
    if len(result) == 2:
        ratios = [each["native"]["words_per_cpu_second"] / each["numpy"]["words_per_cpu_second"] for each in rounds]
        result["ratio"] = round(statistics.median(ratios), 3)
    return result


def row_of(phase: str, engine: str, found: Mapping[str, Any], ratio: float | None) -> tuple[object, ...]:
    return (
        phase,
        engine,
        f"{found['words_per_cpu_second']:,}",
        "" if ratio is None else f"{ratio:.2f}",
        f"{found['words_per_cpu_second'] / AUTHORS_WORDS_PER_SECOND:.1f}",
        found["violations_per_sentence"],
        ", ".join(f"{part} {share:.0%}" for part, share in found["share"].items()),
        found["peak_mb"],
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--train", type=Path, required=True)
    arguments.add_argument("--dev", type=Path, required=True)
    arguments.add_argument("--run", type=Path, required=True)
    arguments.add_argument("--name", default="training", help="the name of the files of the result")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--phase", choices=PHASES, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.phase:
        print(json.dumps(measure(options.train, options.dev, options.run, is_late=options.phase == "late")))
        return
    engines = ("numpy",) if find_core() is None else ("numpy", "native")
    phases = {
        phase: summarize(
            [{engine: measure_apart(phase, engine) for engine in engines} for _ in range(max(1, options.rounds))]
        )
        for phase in PHASES
    }
    result = {"train": options.train.name, "run": options.run.name, "authors": AUTHORS_WORDS_PER_SECOND, **phases}
    rows = [
        row_of(phase, engine, found[engine], found.get("ratio") if engine == "native" else None)
        for phase, found in phases.items()
        for engine in engines
    ]
    header = (
        "epoch",
        "engine",
        "words/CPU-s",
        "times NumPy",
        "times the authors'",
        "violations/sentence",
        "share of the time",
        "peak MB",
    )
    report.write(options.name, result, header, rows)


if __name__ == "__main__":
    main()
