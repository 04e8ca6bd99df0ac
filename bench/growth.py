"""Measure the cost per word as sentences and corpora grow, and the memory that a stream of sentences takes.

    python -m bench.growth --model my-model --treebank dev.conllu

Sentence length: the treebank's words are cut into sentences of 10 to 2,000 words and parsed. Every round visits all
lengths. The cost of a length is the median over rounds, relative to the cheapest length. In batches of three sentences
only the length differs. In batches of 256, long sentences come in smaller batches, because the number of words in a
batch is limited (2,000 words: three sentences), and cost what small batches cost. Corpus size: the treebank is repeated
through ``Parser.pipe``, each size in a separate process, which reports its peak memory.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import easyfirst
from bench import report
from easyfirst import Sentence

LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)
CORPUS_SIZES = (2_000, 8_000, 32_000)
WORDS_A_ROUND = 6_000
BATCH_SIZES = (3, 256)


def sentences_of_length(words: list[tuple[str, str, str]], length: int) -> list[Sentence]:
    """Return sentences of one length, about ``WORDS_A_ROUND`` words in total."""
    n = max(1, WORDS_A_ROUND // length)
    endless = itertools.cycle(words)
    parts = (list(itertools.islice(endless, length)) for _ in range(n))
    return [Sentence.from_words(*zip(*part, strict=True)) for part in parts]


def by_length(model: str, treebank: str, rounds: int) -> dict[int, dict[int, float]]:
    """Return the CPU microseconds per word for each batch size and length."""
    parser = easyfirst.load(model)
    words = [word for s in easyfirst.read_conllu(treebank) for word in zip(s.forms, s.upos, s.xpos, strict=True)]
    corpora = {length: sentences_of_length(words, length) for length in LENGTHS}
    costs: dict[int, dict[int, list[float]]] = {size: {length: [] for length in LENGTHS} for size in BATCH_SIZES}
    for _ in range(rounds):
        for length, sentences in corpora.items():
            for size in BATCH_SIZES:
                started = time.process_time()
                parser.parse(sentences, batch_size=size)
                costs[size][length].append((time.process_time() - started) / sum(map(len, sentences)) * 1e6)
    return {size: {n: statistics.median(values) for n, values in found.items()} for size, found in costs.items()}


def stream(model: str, treebank: str, n_sentences: int) -> dict[str, float]:
    """Parse a stream of sentences; return CPU microseconds per word and the peak memory of this process in MB."""
    parser = easyfirst.load(model)

    def endless() -> Iterator[Sentence]:
        while True:
            yield from easyfirst.read_conllu(treebank)

    n_words = 0
    started = time.process_time()
    for parse in parser.pipe(itertools.islice(endless(), n_sentences)):
        n_words += len(parse)
    cost = (time.process_time() - started) / n_words * 1e6
    return {"words": n_words, "cost": cost, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def by_corpus_size(model: str, treebank: str) -> dict[int, dict[str, float]]:
    """Measure each corpus size in a separate process."""
    command = [sys.executable, "-m", "bench.growth", "--model", model, "--treebank", treebank, "--stream"]
    results: dict[int, dict[str, float]] = {}
    for size in CORPUS_SIZES:
        output = subprocess.run([*command, str(size)], check=True, capture_output=True, text=True).stdout
        results[size] = json.loads(output)
    return results


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--treebank", required=True)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--stream", type=int, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.stream:
        print(json.dumps(stream(options.model, options.treebank, options.stream)))
        return
    sizes = by_corpus_size(options.model, options.treebank)  # first: the peak of a process includes its parent's memory
    lengths = by_length(options.model, options.treebank, options.rounds)
    least = {size: min(costs.values()) for size, costs in lengths.items()}
    least_size = min(result["cost"] for result in sizes.values())
    result = {
        "model": Path(options.model).name,
        "treebank": Path(options.treebank).name,
        "rounds": options.rounds,
        "by_length": {
            f"batch {size}": {
                n: {"us_per_word": round(cost, 1), "ratio": round(cost / least[size], 2)} for n, cost in costs.items()
            }
            for size, costs in lengths.items()
        },
        "by_corpus_size": {
            n: {
                "words": found["words"],
                "us_per_word": round(found["cost"], 1),
                "ratio": round(found["cost"] / least_size, 2),
                "peak_mb": round(found["peak_mb"]),
            }
            for n, found in sizes.items()
        },
    }
    rows = [
        (f"sentences of {n:,} words, batches of at most {size}", f"{cost:.0f}", f"{cost / least[size]:.2f}", "")
        for size, costs in lengths.items()
        for n, cost in costs.items()
    ]
    rows += [
        (f"stream of {n:,} sentences", f"{r['cost']:.0f}", f"{r['cost'] / least_size:.2f}", f"{r['peak_mb']:.0f}")
        for n, r in sizes.items()
    ]
    report.write("growth", result, ("input", "CPU us/word", "ratio to least", "peak MB"), rows)


if __name__ == "__main__":
    main()
