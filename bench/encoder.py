"""Train parsers with a transformer in several ways, and one without, and compare accuracy and time.

    python -m bench.encoder --train train.conllu --dev dev.conllu --encoder DIR --work DIR --epochs 10 --ways none fed
    python -m bench.encoder ... --sentences 300 --epochs 2 --name encoder-small

No parser reads tags. --encoder is the directory of a Hugging Face model. Runs take turns, with one thread each, and are
measured in seconds of the CPU, without the evaluation. --work holds the models: a run that was interrupted resumes
after its last epoch, and one that is done is not repeated. What follows -- is passed on to 'easyfirst train'.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import report
from bench.processes import first_sentences
from easyfirst.training.run_folders import FOLDER
from easyfirst.training.training_loop import METRICS

HEADER = ("transformer", "dev LAS by epoch", "dev UAS", "dev LAS", "CPU seconds an epoch", "words per CPU second")
WAYS = {
    "none": ("none", []),
    "fed": ("its vectors are read by the BiLSTM", ["--encoder"]),
    "alone": ("it takes the place of the BiLSTM", ["--set", "network.bilstm_layers=0", "--encoder"]),
    "frozen": ("frozen, read by the BiLSTM", ["--freeze-encoder", "--encoder"]),
}


def run(given: argparse.Namespace, way: str) -> list[dict[str, Any]]:
    """Train, or continue; return the metrics of all epochs."""
    out = given.work / f"{way}-{given.seed}"
    _, options = WAYS[way]
    command = [sys.executable, "-m", "easyfirst", "train", given.train, "--dev", given.dev, "--out", str(out)]
    command += ["--preset", "strong", "--tags", "none", "--epochs", str(given.epochs), "--seed", str(given.seed)]
    command += ["--threads", "1", "--resume", *given.rest, *options, *([given.encoder] if options else [])]
    subprocess.run(command, check=True)
    return [json.loads(line) for line in (out / FOLDER / METRICS).read_text().splitlines()]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--train", required=True)
    options.add_argument("--dev", required=True)
    options.add_argument("--encoder", required=True)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--epochs", type=int, default=10)
    options.add_argument("--sentences", type=int, help="train on this many of the first sentences; default: on all")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--ways", choices=WAYS, nargs="+", default=list(WAYS))
    options.add_argument("--name", default="encoder", help="the name of the result")
    options.add_argument("rest", nargs="*", metavar="-- OPTIONS")
    given = options.parse_args()
    names = {
        "train": Path(given.train).name,
        "dev": Path(given.dev).name,
        "encoder": Path(given.encoder).resolve().name,
    }
    if given.sentences:
        given.train = first_sentences(given.train, given.sentences, given.work)
    found = {way: run(given, way) for way in given.ways}
    rows: list[list[object]] = []
    for way, epochs in found.items():
        scores = [epoch["dev"]["full"] for epoch in epochs]
        best = max(scores, key=lambda score: score["LAS"])
        seconds = sum(epoch["cpu_seconds"] for epoch in epochs)
        speed = sum(epoch["words"] for epoch in epochs) / seconds
        by_epoch = ", ".join(f"{score['LAS']:.1f}" for score in scores)
        figures = (f"{best['UAS']:.2f}", f"{best['LAS']:.2f}", f"{seconds / len(epochs):.0f}", f"{speed:.0f}")
        rows.append([WAYS[way][0], by_epoch, *figures])
    facts = {name: getattr(given, name) for name in ("epochs", "seed", "sentences", "rest")}
    report.write(given.name, {**names, **facts, "metrics": found}, HEADER, rows)


if __name__ == "__main__":
    main()
