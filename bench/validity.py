"""Count the errors that the official validator finds in CoNLL-U made from raw text, with and without ``--valid``.

    python -m bench.validity --model en --treebank dev.conllu
    python -m bench.validity --model en --treebank test.conllu --name validity_test

It writes the raw text of a treebank to a file, parses it with ``easyfirst parse --from text``, and validates the output
at levels 2 and 3 (the package ``udtools``). The scores are those of the CoNLL 2018 shared task. The speed is that of
parsing the text in one thread, in CPU time; both ways take turns. Use a test set only after all choices were made.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from udtools.validator import Validator  # pyright: ignore[reportMissingTypeStubs]

import easyfirst
from bench import report
from easyfirst.treebank.raw_text import raw_text, read_paragraphs
from easyfirst.treebank.text_scores import score_text

WAYS = {"--no-valid": False, "--valid": True}
METRICS = ("UPOS", "UAS", "LAS")


def errors_in(path: Path, level: int) -> Counter[str]:
    """Return the tests of one level that a file fails, with the number of errors."""
    validator: Any = Validator(lang="ud", level=level, output=None)
    found = validator.validate_files([str(path)]).error_tracker
    return Counter(incident.testid for incident in found if incident.is_error() and incident.level == level)


def parsed(model: str, text: Path, option: str) -> Path:
    """Parse a text on the command line; return the file that was written."""
    out = text.with_name(f"out{option}.conllu")
    command = [sys.executable, "-m", "easyfirst", "parse", "--model", model, "--from", "text", str(text)]
    subprocess.run([*command, option, "--to", "conllu", "--quiet", "--output", str(out)], check=True)
    return out


def cpu_seconds(model: str, text: str, n_runs: int) -> dict[str, float]:
    """Return the median CPU time of parsing a text in each way."""
    parsers = {option: easyfirst.load(model, valid=valid) for option, valid in WAYS.items()}
    seconds: dict[str, list[float]] = {option: [] for option in parsers}
    for _ in range(n_runs):
        for option, nlp in parsers.items():
            begin = time.process_time()
            nlp(text)
            seconds[option].append(time.process_time() - begin)
    return {option: statistics.median(values) for option, values in seconds.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--runs", type=int, default=9)
    options.add_argument("--name", default="validity", help="the name of the result")
    given = options.parse_args()
    gold = list(easyfirst.read_conllu(given.treebank))
    whole = raw_text(read_paragraphs(gold))
    result: dict[str, Any] = {"model": given.model, "treebank": given.treebank.name, "runs": given.runs, "ways": {}}
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text(whole, encoding="utf-8", newline="\n")
        for option in WAYS:
            path = parsed(given.model, text, option)
            metrics = score_text(gold, list(easyfirst.read_conllu(path))).metrics
            result["ways"][option] = {
                "level_2": dict(errors_in(path, 2)),
                "level_3": dict(errors_in(path, 3).most_common()),
                "scores": {name: round(metrics[name].f1, 3) for name in METRICS},
            }
    result["cpu_seconds"] = cpu_seconds(given.model, whole, given.runs)
    result["ratio"] = result["cpu_seconds"]["--valid"] / result["cpu_seconds"]["--no-valid"]
    report.write(given.name, result, ["", *WAYS], table(result))


def table(result: dict[str, Any]) -> list[list[object]]:
    """Return the rows of the report."""
    ways = result["ways"].values()
    rows: list[list[object]] = []
    for level in ("level_2", "level_3"):
        rows.append([f"errors at {level.replace('_', ' ')}", *(sum(way[level].values()) for way in ways)])
        names = dict.fromkeys(name for way in ways for name in way[level])
        rows.extend([f"– {name}", *(way[level].get(name, 0) for way in ways)] for name in names)
    rows.extend([name, *(f"{way['scores'][name]:.2f}" for way in ways)] for name in METRICS)
    rows.append(["CPU time, relative", "1", f"{result['ratio']:.3f}"])
    return rows


if __name__ == "__main__":
    main()
