"""How fast a model parses, as a share of what its matrix products alone would take.

    python bench/engine.py --model my-model --treebank dev.conllu

For each batch size: words per second, ids to trees and all else included, one thread. The limit is the multiply-adds
the model needs a word (counted by :func:`multiply_adds`) over the rate of ``sgemm`` in the same process. Rounds of
parsing and of sgemm alternate and medians are compared, so other work on the machine slows both sides.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import report

import easyfirst
from easyfirst.model.parser_config import NetworkConfig
from easyfirst.nn.rnn import CELLS
from easyfirst.parsing.batch import BatchParser

BATCH_SIZES = (1, 16, 64, 256)
SGEMM_ROWS, SGEMM_INNER, SGEMM_COLUMNS = 256, 400, 800


def multiply_adds(config: NetworkConfig, lengths: Sequence[int], *, n_relations: int, external_dim: int) -> float:
    """What the model needs a word, if nothing is computed twice: v_i, two leaf states and their projections for each
    word; the modifier's encoding, one step of one RNN, the new half of the projections and the scores of the pairs
    around it for each attachment but a sentence's last; and the score of each first pair."""
    n_gates = CELLS[config.rnn].n_gates
    n_first_gates = n_gates - CELLS[config.rnn].n_idle_gates
    vector, tree, hidden = config.vector_dim, config.tree_dim, config.hidden_dim
    words = (config.word_dim + external_dim + config.tag_dim * len(config.tag_kinds)) * vector
    half = vector // 2
    for layer in range(config.bilstm_layers):
        words += 2 * ((vector if layer == 0 else half) + half) * n_gates * half
    score = hidden * 2 + hidden * 2 * n_relations
    if config.tree_layers == 0:
        leaf, attachment = vector * config.n_slots * 2 * hidden, 0
    else:
        inputs = [vector] + [tree] * (config.tree_layers - 1)
        leaf = sum(2 * dim * n_first_gates * tree for dim in inputs) + 2 * tree * config.n_slots * 2 * hidden
        attachment = 2 * tree * vector + sum((dim + tree) * n_gates * tree for dim in inputs)
        attachment += tree * config.n_slots * 2 * hidden
    attachment += config.n_slots * score
    n_first_pairs = sum(n - 1 for n in lengths)
    n_attachments = sum(max(n - 2, 0) for n in lengths)
    return words + leaf + (n_attachments * attachment + n_first_pairs * score) / sum(lengths)


def sgemm_rate(seconds: float) -> float:
    """Multiply-adds per second of one large product."""
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
    external = parser.model.arrays.get("words.external")
    needed = parser.config.members * multiply_adds(
        parser.config.network,
        [len(sentence) for sentence in sentences],
        n_relations=len(parser.model.vocabulary.relations),
        external_dim=0 if external is None else external.shape[1],
    )
    batch_parser = BatchParser.of(parser.model.arrays, parser.config, parser.model.vocabulary)
    speeds: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    rates: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    for _ in range(options.rounds):
        for size in BATCH_SIZES:
            part = sentences if size > 1 else sentences[:: max(1, len(sentences) // 250)]
            before = sgemm_rate(0.25)
            started = time.perf_counter()
            batch_parser.parse(part, batch_size=size)
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
