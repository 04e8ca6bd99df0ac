"""Compare the speed of the engines: the compiled core in each precision, and NumPy.

    python -m bench.engine --model en --treebank dev.conllu

Words per CPU second with one thread, one sentence at a time and in bulk: from tagged sentences to trees (the parser
alone) and, if the model reads raw text, from text to trees. All engines take turns in one process, and a ratio is the
median of the ratios to NumPy in the same round, so other load on the machine slows down both. ``--name`` names the
files of the result.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from bench.multiply_adds import multiply_adds
from easyfirst import Parser, Sentence
from easyfirst.native.library import PRECISIONS, find_core
from easyfirst.nn.parser_network import networks_of
from easyfirst.treebank.raw_text import raw_text, read_paragraphs

NUMPY = "numpy"
ONE_BY_ONE = 250
"""About how many sentences are parsed one at a time."""


def load_all(model: str) -> dict[str, Parser]:
    """Load a model once for each engine."""
    parsers = {NUMPY: easyfirst.load(model, engine=NUMPY)}
    if find_core() is not None:
        parsers |= {name: easyfirst.load(model, engine="native", precision=name) for name in PRECISIONS}
    return parsers


def tasks(parser: Parser, sentences: list[Sentence]) -> dict[str, tuple[int, Callable[[], object]]]:
    """Return what is timed: the number of words, and a function."""
    alone = Parser(parser.model, engine=parser._engine)  # pyright: ignore[reportPrivateUsage]
    some = sentences[:: max(1, len(sentences) // ONE_BY_ONE)]
    n_words, n_some = sum(map(len, sentences)), sum(map(len, some))
    found: dict[str, tuple[int, Callable[[], object]]] = {
        "parser, one at a time": (n_some, lambda: [alone.parse([sentence]) for sentence in some]),
        "parser, in bulk": (n_words, lambda: alone.parse(sentences)),
    }
    if parser.tokenizer is not None and not parser.needs_tags:
        text = raw_text(read_paragraphs(sentences))
        texts = [raw_text(read_paragraphs([sentence])).strip() for sentence in some]
        found["text to trees, one at a time"] = n_some, lambda: [parser(each) for each in texts]
        found["text to trees, in bulk"] = n_words, lambda: parser(text)
    return found


def speed_of(n_words: int, work: Callable[[], object]) -> float:
    """Return words per CPU second."""
    begin = time.process_time()
    work()
    return n_words / (time.process_time() - begin)


def measure(model: str, sentences: list[Sentence], rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Return the speed of each task and engine, and its ratio to NumPy's."""
    works = {name: tasks(parser, sentences) for name, parser in load_all(model).items()}
    speeds: dict[str, dict[str, list[float]]] = {
        task: {engine: [] for engine in works} for task in next(iter(works.values()))
    }
    for task, of_task in speeds.items():
        for number in range(rounds + 1):
            for engine, found in of_task.items():
                speed = speed_of(*works[engine][task])
                if number:  # the first round warms up
                    found.append(speed)
    return {
        task: {
            engine: {
                "words_per_cpu_second": round(statistics.median(found)),
                "ratio": round(statistics.median(a / b for a, b in zip(found, of_task[NUMPY], strict=True)), 2),
            }
            for engine, found in of_task.items()
        }
        for task, of_task in speeds.items()
    }


def multiply_adds_per_word(model: str, sentences: list[Sentence]) -> int:
    """Return the multiply-adds that the parser alone needs by its definition."""
    parser = easyfirst.load(model, engine=NUMPY).model
    networks = networks_of(parser.arrays, parser.config.members, rnn=parser.config.network.rnn)
    lengths, spelling = [len(sentence) for sentence in sentences], parser.vocabulary.encode(sentences).spelling
    form_lengths = spelling.lengths.tolist() if spelling else []
    return round(sum(multiply_adds(network, lengths, form_lengths) for network in networks) / sum(lengths))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", default="en")
    arguments.add_argument("--treebank", required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--name", default="engine")
    options = arguments.parse_args()
    sentences = list(easyfirst.read_conllu(options.treebank))
    found = measure(options.model, sentences, options.rounds)
    core = find_core()
    result: dict[str, Any] = {
        "model": Path(options.model).name,
        "treebank": Path(options.treebank).name,
        "words": sum(map(len, sentences)),
        "rounds": options.rounds,
        "instruction_set": None if core is None else core.isa,
        "multiply_adds_per_word": multiply_adds_per_word(options.model, sentences),
        "speed": found,
    }
    rows = [
        (task, engine, f"{values['words_per_cpu_second']:,}", f"{values['ratio']:.2f}")
        for task, of_task in found.items()
        for engine, values in of_task.items()
    ]
    report.write(options.name, result, ("task", "engine", "words/CPU-s", "times NumPy"), rows)


if __name__ == "__main__":
    main()
