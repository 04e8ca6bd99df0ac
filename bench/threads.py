"""Measure how much faster several threads parse a treebank: its sentences with gold tags, and its raw text.

    python -m bench.threads --model en --treebank test.conllu

The numbers of threads take turns, and the result is the median wall-clock time and the median of the ratios to one
thread in the same round. Needs an idle machine: the load before and after is part of the result.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from easyfirst.cli.loading import n_cores
from easyfirst.treebank.raw_text import raw_text, read_paragraphs

Work = Callable[[int], int]


def numbers_of_threads(most: int) -> list[int]:
    """Return 1, 2, 4 and so on, and the maximum itself."""
    return sorted({most, *(2**k for k in range(most.bit_length()))})


def works(model: str, treebank: Path) -> dict[str, Work]:
    """Return the kinds of input, each as a function that parses it with a number of threads and counts the words."""
    nlp = easyfirst.load(model)
    gold = list(easyfirst.read_conllu(treebank))
    texts = raw_text(read_paragraphs(gold)).split("\n\n")
    parser = easyfirst.Parser(nlp.model)  # without its tagger: the tags are given
    found: dict[str, Work] = {
        "sentences with tags": lambda threads: sum(map(len, parser.pipe(gold, threads=threads))),
    }
    if nlp.tokenizer is not None:
        found["raw text"] = lambda threads: sum(
            len(parse) for document in nlp.read(texts, threads=threads) for parse in document
        )
    return found


def measure(work: Work, threads: Sequence[int], n_runs: int) -> tuple[int, dict[int, list[float]]]:
    """Return the number of words, and the seconds of each run by number of threads."""
    n_words = work(1)
    seconds: dict[int, list[float]] = {number: [] for number in threads}
    for _ in range(n_runs):
        for number in threads:
            begin = time.perf_counter()
            work(number)
            seconds[number].append(time.perf_counter() - begin)
    return n_words, seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--runs", type=int, default=9)
    options.add_argument("--threads", type=int, default=n_cores(), help="the maximum; default: all cores")
    given = options.parse_args()
    threads, load = numbers_of_threads(given.threads), os.getloadavg()[0]
    rows: list[list[str]] = []
    found: dict[str, Any] = {}
    for name, work in works(given.model, given.treebank).items():
        n_words, seconds = measure(work, threads, given.runs)
        found[name] = {"words": n_words, "seconds": seconds}
        for number in threads:
            rate = n_words / statistics.median(seconds[number])
            ratio = statistics.median(one / many for one, many in zip(seconds[1], seconds[number], strict=True))
            rows.append([name, str(number), f"{rate:,.0f}", f"{ratio:.2f}"])
    result = {
        "model": given.model,
        "treebank": given.treebank.name,
        "runs": given.runs,
        "cores": n_cores(),
        "load_before": load,
        "load_after": os.getloadavg()[0],  # includes this benchmark
        "inputs": found,
    }
    rows.append(["load of the machine before", "", f"{load:.2f}", ""])
    report.write("threads", result, ["input", "threads", f"words/s (median of {given.runs})", "speed-up"], rows)


if __name__ == "__main__":
    main()
