"""Train a parser with one process and with several, and compare speed and accuracy.

    python -m bench.processes --train train.conllu --dev dev.conllu --work DIR
    python -m bench.processes --train train.conllu --dev dev.conllu --work DIR --epochs 12 --seeds 1 2 3
    python -m bench.processes --train train.conllu --dev dev.conllu --work DIR --epochs 4 --sentences 4000

Runs take turns. Each has one thread per process, and needs as many idle cores as it has processes: words per second
are measured by the clock, without the evaluation. DIR holds the models; a run that is there already is not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from easyfirst.training.run_folders import FOLDER
from easyfirst.training.training_loop import METRICS

HEADER = ("processes", "words/s", "times one process", "seconds an epoch", "dev LAS by seed", "mean dev LAS")


def run(given: argparse.Namespace, n_processes: int, seed: int) -> list[dict[str, Any]]:
    """Train, unless it was done before; return the metrics of all epochs."""
    out = given.work / f"{n_processes}-{seed}"
    metrics = out / FOLDER / METRICS
    if not metrics.is_file() or len(metrics.read_text().splitlines()) < given.epochs:
        command = [sys.executable, "-m", "easyfirst", "train", given.train, "--dev", given.dev, "--out", str(out)]
        command += ["--preset", given.preset, "--tags", given.tags, "--epochs", str(given.epochs), "--seed", str(seed)]
        command += ["--processes", str(n_processes), "--threads", "1", "--overwrite"]
        print(f"load before: {os.getloadavg()[0]:.2f}; {' '.join(command[2:])}", flush=True)
        subprocess.run(command, check=True)
    return [json.loads(line) for line in metrics.read_text().splitlines()]


def first_sentences(treebank: str, n: int, work: Path) -> str:
    """Write the first sentences of a treebank to a file, and return its name."""
    work.mkdir(parents=True, exist_ok=True)
    path = work / f"first-{n}.conllu"
    path.write_bytes(b"".join(sentence.to_bytes() for sentence in islice(easyfirst.read_conllu(treebank), n)))
    return str(path)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--train", required=True)
    options.add_argument("--dev", required=True)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--preset", default="strong")
    options.add_argument("--tags", default="both")
    options.add_argument("--epochs", type=int, default=10)
    options.add_argument("--sentences", type=int, help="train on this many of the first sentences; default: on all")
    options.add_argument("--seeds", type=int, nargs="+", default=[1])
    options.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    given = options.parse_args()
    files = {"train": Path(given.train).name, "dev": Path(given.dev).name}
    if given.sentences:
        given.train = first_sentences(given.train, given.sentences, given.work)
    found: dict[int, list[list[dict[str, Any]]]] = {n: [] for n in given.processes}
    for seed in given.seeds:
        for n in given.processes:
            found[n].append(run(given, n, seed))
    speeds = {
        n: statistics.median(e["words_per_second"] for epochs in runs for e in epochs) for n, runs in found.items()
    }
    scores = {n: [max(e["dev"]["full"]["LAS"] for e in epochs) for epochs in runs] for n, runs in found.items()}
    rows = [
        [
            n,
            f"{speeds[n]:,.0f}",
            f"{speeds[n] / speeds[given.processes[0]]:.2f}",
            f"{statistics.median(e['seconds'] for epochs in runs for e in epochs):.0f}",
            ", ".join(f"{score:.2f}" for score in scores[n]),
            f"{statistics.mean(scores[n]):.2f}",
        ]
        for n, runs in found.items()
    ]
    facts = {name: getattr(given, name) for name in ("preset", "tags", "epochs", "seeds", "sentences")}
    epochs = {
        n: [[{"seconds": e["seconds"], "LAS": e["dev"]["full"]["LAS"]} for e in run] for run in runs]
        for n, runs in found.items()
    }
    result = {**files, **facts, "words_per_second": speeds, "las": scores, "epochs_by_processes": epochs}
    report.write("processes", result, HEADER, rows)


if __name__ == "__main__":
    main()
