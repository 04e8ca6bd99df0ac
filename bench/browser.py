"""Measure how fast easyfirst parses raw text under Pyodide, compared with NumPy and with the compiled core.

    python examples/pyodide/fetch.py pyodide
    python -m bench.browser --pyodide pyodide --treebank examples/toy/dev.conllu

Pyodide runs in Node, whose engine is that of Chromium, and in one thread. All figures are CPU seconds of whole
processes. A start is a process that parses one short text. The speed is the words of a text over the CPU seconds that a
process takes longer to parse the text once more.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import easyfirst
from bench import report
from easyfirst.treebank.raw_text import raw_text, read_paragraphs

ROOT = Path(__file__).resolve().parents[1]
RUNNER = ROOT / "tests" / "pyodide" / "run.mjs"
PROGRAM = """
import json
import sys

import easyfirst

def results(given):
    engine, texts = json.loads(given)
    nlp = easyfirst.load("en", engine=engine)
    return str(sum(len(parse) for text in texts for parse in nlp(text)))

if __name__ == "__main__":
    print(results(sys.stdin.read()))
"""
SHORT = "The fox likes apples."


def cpu_seconds(command: list[str], engine: str, texts: list[str]) -> float:
    """Return the CPU seconds of a process that parses these texts."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = json.dumps([engine, texts])
    subprocess.run(command, check=True, input=given, text=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def build_wheel(folder: str) -> Path:
    """Build the pure wheel of this source tree."""
    command = [sys.executable, str(ROOT / "examples" / "pyodide" / "build.py"), f"{folder}/site"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    [wheel] = Path(folder, "site").glob("easyfirst-*.whl")
    return wheel


def measure(pyodide: Path, text: str, n_runs: int) -> dict[str, tuple[float, float]]:
    """Return the medians of each way to run: CPU seconds of a start, and of parsing the text."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text(PROGRAM, encoding="utf-8")
        here = [sys.executable, str(program)]
        ways = {
            "Pyodide, NumPy": (["node", *map(str, (RUNNER, pyodide, build_wheel(folder), program))], "numpy"),
            "CPython, NumPy": (here, "numpy"),
            "CPython, compiled core": (here, "native"),
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(n_runs):
            for name, way in ways.items():
                start, once, twice = (cpu_seconds(*way, [SHORT, *[text] * n]) for n in range(3))
                found[name].append((start, twice - once))
    return {
        name: (statistics.median(start for start, _ in runs), statistics.median(seconds for _, seconds in runs))
        for name, runs in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--pyodide", type=Path, required=True, help="a copy of Pyodide, made by examples/pyodide/fetch.py"
    )
    parser.add_argument("--treebank", type=Path, required=True, help="the treebank whose raw text is parsed")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    sentences = list(easyfirst.read_conllu(given.treebank))
    n_words = sum(map(len, sentences))
    medians = measure(given.pyodide, raw_text(read_paragraphs(sentences)), given.runs)
    rows = [[name, f"{start:.1f}", f"{n_words / seconds:,.0f}"] for name, (start, seconds) in medians.items()]
    result = {
        "treebank": given.treebank.name,
        "words": n_words,
        "runs": given.runs,
        "pyodide": json.loads((given.pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["info"],
        "seconds": medians,
    }
    report.write("browser", result, ["Where", "CPU seconds of a start", "Words per CPU second"], rows)


if __name__ == "__main__":
    main()
