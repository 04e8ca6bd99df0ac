"""Measure the speed of parsing, also as a share of the speed of its matrix products alone.

    python -m bench.engine --model my-model --treebank dev.conllu

For each batch size: words per second from sentences to trees, with one thread. The limit is the rate of ``sgemm`` in
the same process, divided by the multiply-adds that the model needs per word (:mod:`bench.multiply_adds`). Rounds of
parsing and of sgemm alternate and medians are compared, so other load on the machine slows down both.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

import easyfirst
from bench import report
from bench.multiply_adds import multiply_adds
from easyfirst.nn.parser_network import networks_of
from easyfirst.parsing.engine import NumpyEngine

BATCH_SIZES = (1, 16, 64, 256)
SGEMM_ROWS, SGEMM_INNER, SGEMM_COLUMNS = 256, 400, 800


def sgemm_rate(seconds: float) -> float:
    """Return the multiply-adds per second of a large matrix product."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((SGEMM_ROWS, SGEMM_INNER), dtype=np.float32)
    b = rng.standard_normal((SGEMM_INNER, SGEMM_COLUMNS), dtype=np.float32)
    out = np.empty((SGEMM_ROWS, SGEMM_COLUMNS), dtype=np.float32)
    n_products, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        np.matmul(a, b, out=out)
        n_products += 1
    return n_products * a.size * SGEMM_COLUMNS / (time.perf_counter() - started)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--treebank", required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    options = arguments.parse_args()
    parser = easyfirst.load(options.model)
    sentences = list(easyfirst.read_conllu(options.treebank))
    n_words = sum(map(len, sentences))
    networks = networks_of(parser.model.arrays, parser.config.members, rnn=parser.config.network.rnn)
    lengths, spelling = [len(sentence) for sentence in sentences], parser.model.vocabulary.encode(sentences).spelling
    form_lengths = spelling.lengths.tolist() if spelling else []
    needed = sum(multiply_adds(network, lengths, form_lengths) for network in networks) / n_words
    engine = NumpyEngine.of(parser.model.arrays, parser.config, parser.model.vocabulary)
    speeds: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    rates: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    for _ in range(options.rounds):
        for size in BATCH_SIZES:
            part = sentences if size > 1 else sentences[:: max(1, len(sentences) // 250)]
            before = sgemm_rate(0.25)
            started = time.perf_counter()
            engine.derive(part, batch_size=size)
            speeds[size].append(sum(map(len, part)) / (time.perf_counter() - started))
            rates[size].append((before + sgemm_rate(0.25)) / 2)
    speed = {size: statistics.median(speeds[size]) for size in BATCH_SIZES}
    limit = {size: statistics.median(rates[size]) / needed for size in BATCH_SIZES}
    share = {
        size: statistics.median(s * needed / r for s, r in zip(speeds[size], rates[size], strict=True))
        for size in BATCH_SIZES
    }
    result = {
        "model": Path(options.model).name,
        "treebank": Path(options.treebank).name,
        "words": n_words,
        "rounds": options.rounds,
        "multiply_adds_per_word": round(needed),
        "sgemm": f"({SGEMM_ROWS} x {SGEMM_INNER}) x ({SGEMM_INNER} x {SGEMM_COLUMNS})",
        "batches": {
            size: {
                "words_per_second": round(speed[size]),
                "limit_words_per_second": round(limit[size]),
                "share_of_limit": round(share[size], 3),
                "share_of_batch_256": round(speed[size] / speed[256], 3),
            }
            for size in BATCH_SIZES
        },
    }
    rows = [
        (size, f"{speed[size]:,.0f}", f"{limit[size]:,.0f}", f"{share[size]:.0%}", f"{speed[size] / speed[256]:.2f}")
        for size in BATCH_SIZES
    ]
    report.write("engine", result, ("batch", "words/s", "sgemm limit", "share of limit", "of batch 256"), rows)


if __name__ == "__main__":
    main()
