"""Measure the accuracy of the preset ``paper`` on the dev set of a treebank, with gold UPOS and with gold XPOS.

    python -m bench.accuracy --train train.conllu --dev dev.conllu --runs runs

Trains ``runs/upos`` and ``runs/xpos`` one after the other, or resumes them, and writes the dev scores of every epoch.
The parser uses no other data, and no test set is involved.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import report

TAGS = ("upos", "xpos")
SHOWN = (1, 2, 3)
"""The epochs shown in addition to the best."""


def train(options: argparse.Namespace, tags: str) -> list[dict[str, Any]]:
    """Train or resume, and return the metrics of every epoch."""
    out = options.runs / tags
    command = [sys.executable, "-m", "easyfirst", "train", str(options.train), "--dev", str(options.dev)]
    command += ["--out", str(out), "--tags", tags, "--licence", options.licence]
    if (out / "training" / "checkpoint.safetensors").exists():
        command.append("--resume")
    subprocess.run(command, check=True)
    metrics = out / "training" / "metrics.jsonl"
    shutil.copy(metrics, report.RESULTS / f"accuracy-{tags}.jsonl")
    return [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--train", type=Path, required=True)
    arguments.add_argument("--dev", type=Path, required=True)
    arguments.add_argument("--runs", type=Path, required=True)
    arguments.add_argument("--licence", default="CC BY-SA 4.0")
    options = arguments.parse_args()
    report.RESULTS.mkdir(exist_ok=True)
    result: dict[str, Any] = {"train": options.train.name, "dev": options.dev.name, "preset": "paper", "seed": 1}
    rows: list[tuple[object, ...]] = []
    for tags in TAGS:
        epochs = train(options, tags)
        best = max(epochs, key=lambda epoch: epoch["dev"]["full"]["LAS"])
        shown = [epoch for epoch in epochs if epoch["epoch"] in SHOWN]
        result[tags] = {"epochs": len(epochs), "best": best, "shown": shown}
        for epoch in [*shown, best]:
            scores = epoch["dev"]
            name = f"{epoch['epoch']} (best of {len(epochs)})" if epoch is best else epoch["epoch"]
            cells = [f"{scores[kind][score]:.2f}" for kind in ("full", "ud", "conllx") for score in ("UAS", "LAS")]
            rows.append((tags.upper(), name, *cells))
    conventions = [f"{name} {score}" for name in ("full", "UD", "CoNLL-X") for score in ("UAS", "LAS")]
    report.write("accuracy", result, ("gold tags", "epoch", *conventions), rows)


if __name__ == "__main__":
    main()
