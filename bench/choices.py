"""Measure the design choices of decisions.md: each compares a slower alternative with the implemented one.

    python -m bench.choices

Needs no data: it uses the paper's sizes with random weights and sentences. The two alternatives take turns in one
process, and the result is the median of their ratios. Numbers of threads are compared in separate processes, because
NumPy reads the number only once.
"""

from __future__ import annotations

import os

os.environ |= {
    name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
}

import argparse
import dataclasses
import functools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

from bench import report
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_store import Sizes, initial_parser
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.lstm import LstmStack, PlainStack, Stack
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.rnn import CELLS
from easyfirst.nn.sequences import Packing, run_layer
from easyfirst.nn.trees import LEFT
from easyfirst.nn.words import WordIds, encode_words
from easyfirst.parsing.actions import easiest
from easyfirst.parsing.loop import Loop
from easyfirst.parsing.oracle import Gold

SIZES = Sizes(words=1000, tags={"upos": 18}, relations=50)
SENTENCES, LENGTH = 8, 16
SEED = 1
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def ratio(slower: Callable[[], object], faster: Callable[[], object], rounds: int) -> float:
    """Return how many times as long the first function takes as the second."""
    ratios: list[float] = []
    for _ in range(rounds + 1):
        seconds: list[float] = []
        for way in (slower, faster):
            started = time.perf_counter()
            way()
            seconds.append(time.perf_counter() - started)
        ratios.append(seconds[0] / seconds[1])
    return statistics.median(ratios[1:])


def tanh_against_exp(rounds: int) -> float:
    x = np.random.default_rng(SEED).standard_normal(100_000).astype(np.float32)
    out = np.empty_like(x)
    return ratio(lambda: np.tanh(x, out=out), lambda: np.exp(x, out=out), rounds)


def rows_against_gates(rounds: int) -> float:
    """Compare an operation on one gate of 128 rows: interleaved with the other gates, or contiguous."""
    z = np.random.default_rng(SEED).random((128, 4 * 200), dtype=np.float32)
    beside, apart = z[:, 200:400], z.reshape(4, 128, 200)[1]

    def many(gate: np.ndarray) -> None:
        for _ in range(100):
            np.multiply(gate, gate, out=gate)

    return ratio(lambda: many(beside), lambda: many(apart), rounds)


def trees_by_definition_against_kernel(n_rows: int, rounds: int) -> float:
    """Compare leaf states and one attachment each, by definition and by the NumPy kernel."""
    arrays = initial_parser(ParserConfig().network, SIZES, np.random.default_rng(SEED))
    weights = network_of(arrays, rnn="lstm").trees
    x = np.random.default_rng(SEED).standard_normal((n_rows, 200)).astype(np.float32)

    plain, kernel = PlainStack(weights), LstmStack(weights.layers)  # made once for given weights, so not timed

    def attach(stack: Stack) -> None:
        stack.advance([part[LEFT] for part in stack.start(x)], x, side=LEFT)

    return ratio(lambda: attach(plain), lambda: attach(kernel), rounds)


def plain_against_written_derivatives(rounds: int) -> float:
    """Compare exploring and learning from a batch, by automatic differentiation and by the kernels."""
    import torch

    from easyfirst.training import parser_loss
    from easyfirst.training.corpus import ParserBatch
    from easyfirst.training.torch_namespace import TORCH
    from easyfirst.training.tree_encoder import TreeEncoder

    rng = np.random.default_rng(SEED)
    arrays = initial_parser(ParserConfig().network, SIZES, rng)
    parameters = {name: torch.from_numpy(array).requires_grad_() for name, array in arrays.items()}
    batch_loss = parser_loss.ParserLoss(parameters, ParserConfig(), rng)
    n_words = SENTENCES * LENGTH
    heads = [[0, *[1] * (LENGTH - 1)]] * SENTENCES
    gold = Gold.of(heads, [[0] * LENGTH] * SENTENCES)
    ids = WordIds(rng.integers(0, 1000, n_words), None, (rng.integers(0, 18, n_words),))
    batch = ParserBatch(np.full(SENTENCES, LENGTH), ids, gold)

    def learn() -> None:
        with overflow_is_fine():
            loss = batch_loss.of(batch).loss
            assert loss is not None
            loss.backward()
        for tensor in parameters.values():
            tensor.grad = None

    plain = dataclasses.replace(TORCH, lstm_layer=functools.partial(run_layer, TORCH, CELLS["lstm"]))

    def learn_plainly() -> None:
        climb = TreeEncoder._climb  # pyright: ignore[reportPrivateUsage]
        with mock.patch.object(parser_loss, "TORCH", plain), mock.patch.object(TreeEncoder, "_climb_fast", climb):
            learn()

    return ratio(learn_plainly, learn, rounds)


def parse_random_sentences() -> float:
    """Return the seconds to parse a batch, with the number of threads set in the environment."""
    rng = np.random.default_rng(SEED)
    network = network_of(initial_parser(ParserConfig().network, SIZES, rng), rnn="lstm")
    loop, lengths = Loop(network), [LENGTH] * SENTENCES
    n_words = SENTENCES * LENGTH
    ids = WordIds(rng.integers(0, 1000, n_words), None, (rng.integers(0, 18, n_words),))
    seconds: list[float] = []
    with overflow_is_fine():
        for _ in range(21):
            started = time.perf_counter()
            loop.run(encode_words(NUMPY, network.words, ids, Packing.of(lengths)), lengths, easiest)
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


def two_threads_against_one(rounds: int) -> float:
    def seconds(n_threads: int) -> float:
        environment = os.environ | dict.fromkeys(THREADS, str(n_threads))
        command = [sys.executable, "-m", "bench.choices", "--parse"]
        return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)

    return statistics.median(seconds(2) / seconds(1) for _ in range(rounds))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--parse", action="store_true", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.parse:
        print(parse_random_sentences())
        return
    found = {
        "np.tanh vs. np.exp": tanh_against_exp(options.rounds),
        "an operation on one gate: interleaved vs. contiguous": rows_against_gates(options.rounds),
        **{
            f"leaves and attachments, {n} at a time: definition vs. kernel": trees_by_definition_against_kernel(
                n, options.rounds
            )
            for n in (1, 16, 128)
        },
        "learning from a batch: automatic differentiation vs. kernels": plain_against_written_derivatives(
            options.rounds
        ),
        "parsing 8 sentences: two threads vs. one": two_threads_against_one(max(3, options.rounds // 5)),
    }
    result = {
        "seed": SEED,
        "rounds": options.rounds,
        "ratios": {name: round(value, 2) for name, value in found.items()},
    }
    report.write("choices", result, ("", "times as long"), [(name, f"{value:.2f}") for name, value in found.items()])


if __name__ == "__main__":
    main()
