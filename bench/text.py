"""Measure the start-up time, and the speed of the whole pipeline compared with the parser alone.

    python -m bench.text --model en --treebank test.conllu

Start-up is measured in CPU seconds of new processes: importing the package, and loading the model and parsing one
sentence with tokenizer, tagger and parser. Modules are compiled beforehand, as installing a package does. For the speed
of the pipeline, it parses the raw text of a treebank, and the parser alone parses the same sentences with gold tokens
and tags. Both take turns in one process, and the result is the ratio of the medians.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import easyfirst
from bench import report
from easyfirst.treebank.raw_text import raw_text, read_paragraphs

STARTS = {
    "python alone": "pass",
    "import easyfirst": "import easyfirst",
    "load and parse a first text": (
        "import easyfirst; easyfirst.load({model!r})('The black fox who really likes apples did not jump.')"
    ),
}
COMMAND = "the command: easyfirst parse --text"


def cpu_seconds(command: list[str], bytecode: str) -> float:
    """Return the CPU seconds of a process, including its start. ``bytecode`` is the folder for compiled modules."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starts(model: str, n_runs: int) -> dict[str, float]:
    """Return the median CPU seconds of each kind of start; they take turns."""
    commands = {name: [sys.executable, "-c", code.format(model=model)] for name, code in STARTS.items()}
    commands[COMMAND] = [sys.executable, "-m", "easyfirst", "parse", "--model", model, "--text", "The fox jumps."]
    found: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as bytecode:
        for command in commands.values():
            cpu_seconds(command, bytecode)  # compile the modules
        for _ in range(n_runs):
            for name, command in commands.items():
                found[name].append(cpu_seconds(command, bytecode))
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def speeds(model: str, treebank: Path, n_runs: int) -> dict[str, float]:
    """Return the median CPU seconds of the pipeline and of each stage."""
    nlp = easyfirst.load(model)
    assert nlp.tokenizer is not None
    assert nlp.tagger is not None
    gold = list(easyfirst.read_conllu(treebank))
    text = raw_text(read_paragraphs(gold))
    nothing = [sentence.with_tags(upos=["_"] * len(sentence), xpos=["_"] * len(sentence)) for sentence in gold]
    parser = easyfirst.Parser(nlp.model)
    works: dict[str, Callable[[], object]] = {
        "text to trees": lambda: nlp(text),
        "the parser alone": lambda: parser.parse(gold),
        "the tokenizer": lambda: nlp.tokenizer.tokenize(text),  # pyright: ignore[reportOptionalMemberAccess]
        "the tagger": lambda: nlp.tagger.tag(nothing),  # pyright: ignore[reportOptionalMemberAccess]
    }
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(n_runs):
        for name, work in works.items():
            seconds[name].append(timed(work))
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--runs", type=int, default=9)
    given = options.parse_args()
    found = starts(given.model, given.runs)
    seconds = speeds(given.model, given.treebank, given.runs)
    n_words = sum(len(sentence) for sentence in easyfirst.read_conllu(given.treebank))
    ratio = seconds["the parser alone"] / seconds["text to trees"]
    rows = [[name, f"{value:.3f} s of CPU time"] for name, value in found.items()]
    rows += [
        [name, f"{1e6 * value / n_words:.0f} microseconds/word, {n_words / value:,.0f} words/s"]
        for name, value in seconds.items()
    ]
    rows.append(["speed of the pipeline : speed of the parser alone", f"{ratio:.2f}"])
    result = {
        "model": given.model,
        "treebank": given.treebank.name,
        "words": n_words,
        "runs": given.runs,
        "starts_cpu_seconds": found,
        "cpu_seconds": seconds,
        "ratio": ratio,
    }
    report.write("text", result, ["what", f"median of {given.runs}"], rows)


if __name__ == "__main__":
    main()
