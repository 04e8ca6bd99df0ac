"""Measure the speed of training, early and late, and profile it by phase.

    python -m bench.training --train train.conllu --dev dev.conllu --run my-model

Early: the first epoch from fresh weights. Late: one more epoch from the checkpoint of a finished run (``--run``, an
output directory of ``easyfirst train``). Reports words per CPU second with one thread, and the peak memory.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from bench import report
from easyfirst.model.parser_config import ParserConfig
from easyfirst.parsing.loop import Loop
from easyfirst.training import parser_loss
from easyfirst.training.checkpoint import load_checkpoint
from easyfirst.training.data import Job, TrainingData
from easyfirst.training.optimizer import Optimizer
from easyfirst.training.parser_task import ParserTask
from easyfirst.training.pipeline import FOLDER
from easyfirst.training.training_loop import Silent, TrainingLoop

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
    watch.wrap(Loop, "run", "explore")
    watch.wrap(parser_loss, "hinge_losses", "replay")
    watch.wrap(torch.Tensor, "backward", "backward")
    watch.wrap(Optimizer, "step", "update")
    started = time.process_time()
    stats = loop.train_epoch(Silent())
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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--train", type=Path, required=True)
    arguments.add_argument("--dev", type=Path, required=True)
    arguments.add_argument("--run", type=Path, required=True)
    arguments.add_argument("--phase", choices=("early", "late"), help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.phase:
        print(json.dumps(measure(options.train, options.dev, options.run, is_late=options.phase == "late")))
        return
    phases: dict[str, Any] = {}
    for phase in ("early", "late"):  # separate processes, to measure memory separately
        command = [sys.executable, "-m", "bench.training", *sys.argv[1:], "--phase", phase]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        phases[phase] = json.loads(output)
    result = {"train": options.train.name, "run": options.run.name, "authors": AUTHORS_WORDS_PER_SECOND, **phases}
    rows = [
        (
            phase,
            f"{found['words_per_cpu_second']:,}",
            f"{found['words_per_cpu_second'] / AUTHORS_WORDS_PER_SECOND:.1f}",
            found["violations_per_sentence"],
            ", ".join(f"{part} {share:.0%}" for part, share in found["share"].items()),
            found["peak_mb"],
        )
        for phase, found in phases.items()
    ]
    header = ("epoch", "words/CPU-s", "times the authors'", "violations/sentence", "share of the time", "peak MB")
    report.write("training", result, header, rows)


if __name__ == "__main__":
    main()
