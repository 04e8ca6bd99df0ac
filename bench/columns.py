"""Measure what predicting lemmas and features costs, from raw text and from tokens to trees.

    python -m bench.columns --model en --treebank dev.conllu
    python -m bench.columns --model en --treebank dev.conllu --base ../other-checkout/src

A model is compared with a copy of itself whose tagger has no lemmas and features, and whose parser reads no features:
what it reads of a word without features becomes part of its bias. With ``--base`` it is also compared with the code of
another checkout, which must have its own compiled core. Every side is a process of its own with one thread. The sides
take turns, in changing order, and times are CPU times. A ratio is the median of those of the rounds; beside it are the
quartiles.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import easyfirst
from bench import report
from easyfirst import Parser, Sentence
from easyfirst.model.parser_store import ParserModel
from easyfirst.model.tagger_store import TaggerModel
from easyfirst.nn.members import join_members, split_members
from easyfirst.text.tagging import Tagger
from easyfirst.treebank.raw_text import raw_text, read_paragraphs

WITH, WITHOUT, BASE = "with", "without", "base"
DROPPED = ("feats", "features", "lemmas")


def tagger_without(model: TaggerModel) -> TaggerModel:
    """Return a tagger without lemmas and features."""
    names = {f"tagger.{kind}{end}" for kind in DROPPED for end in ("", "_bias")}
    members = split_members(model.arrays, model.config.members)
    kept = join_members({name: array for name, array in of_one.items() if name not in names} for of_one in members)
    outputs = {kind: found for kind, found in model.vocabulary.outputs.items() if kind not in DROPPED}
    return replace(model, vocabulary=replace(model.vocabulary, outputs=outputs, known_lemmas={}), arrays=kept)


def parser_without(model: ParserModel) -> ParserModel:
    """Return a parser that reads no features, made from one that reads external vectors and all tags."""
    config, vocabulary = model.config, model.vocabulary
    if "feats" not in vocabulary.tags:
        return model
    members = split_members(model.arrays, config.members)
    for arrays in members:
        tables = [arrays[name] for name in ("words.embedding", "words.external", "words.upos", "words.xpos")]
        begin, table = sum(table.shape[1] for table in tables), arrays.pop("words.feats")
        project, end = arrays["words.project"], begin + table.shape[1]
        arrays["words.bias"] = arrays["words.bias"] + table[vocabulary.tags["feats"]["_"]] @ project[begin:end]
        arrays["words.project"] = np.delete(project, slice(begin, end), axis=0)
    tags = {kind: found for kind, found in vocabulary.tags.items() if kind != "feats"}
    network = replace(config.network, tags="both")
    return replace(
        model,
        config=replace(config, network=network),
        vocabulary=replace(vocabulary, tags=tags),
        arrays=join_members(members),
    )


def without_columns(nlp: Parser) -> Parser:
    """Return a pipeline without lemmas and features."""
    assert nlp.tagger is not None
    return Parser(parser_without(nlp.model), tokenizer=nlp.tokenizer, tagger=Tagger(tagger_without(nlp.tagger.model)))


def tasks(nlp: Parser, sentences: list[Sentence]) -> dict[str, Callable[[], object]]:
    """Return what is timed."""
    text = raw_text(read_paragraphs(sentences))
    texts = [raw_text(read_paragraphs([sentence])).strip() for sentence in sentences]
    words = [list(sentence.forms) for sentence in sentences]
    return {
        "text, in bulk": lambda: nlp(text),
        "text, one sentence at a time": lambda: [nlp(each) for each in texts],
        "tokens, in bulk": lambda: nlp.parse(words),
        "tokens, one sentence at a time": lambda: [nlp.parse([each]) for each in words],
    }


def read(treebank: Path, n_sentences: int) -> list[Sentence]:
    """Return sentences from all over a treebank."""
    sentences = list(easyfirst.read_conllu(treebank))
    return sentences[:: max(1, len(sentences) // n_sentences)]


def work(model: str, treebank: Path, n_sentences: int, side: str) -> None:
    """Be one side: time each task whose name is read, and print its CPU seconds."""
    nlp = easyfirst.load(model)
    works = tasks(without_columns(nlp) if side == WITHOUT else nlp, read(treebank, n_sentences))
    for run in works.values():
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        begin = time.process_time()
        works[line.strip()]()
        print(time.process_time() - begin, flush=True)


class Side:
    """A process that times tasks."""

    def __init__(self, name: str, arguments: list[str], source: str | None) -> None:
        environment = dict(os.environ) if source is None else os.environ | {"PYTHONPATH": source}
        command = [sys.executable, "-m", "bench.columns", *arguments, "--side", name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        if self._answer() != "ready":
            raise SystemExit(f"the side {name} did not start")

    def seconds(self, task: str) -> float:
        """Return the CPU seconds of a task."""
        assert self._process.stdin is not None
        self._process.stdin.write(task + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def measure(sides: dict[str, Side], names: list[str], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the CPU seconds of each task and side in each round."""
    found = {task: {side: list[float]() for side in sides} for task in names}
    for number in range(rounds):
        for task, of_task in found.items():
            for side in list(sides)[:: 1 if number % 2 else -1]:
                of_task[side].append(sides[side].seconds(task))
    return found


def commit_of(source: str) -> str:
    """Return the commit of a checkout."""
    command = ["git", "-C", source, "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def ratio(above: list[float], below: list[float]) -> str:
    """Return the median of the ratios, and the quartiles."""
    first, median, third = statistics.quantiles([a / b for a, b in zip(above, below, strict=True)], n=4)
    return f"{median:.3f} ({first:.3f} to {third:.3f})"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--base", help="the folder src of another checkout")
    options.add_argument("--sentences", type=int, default=250, help="how many sentences, at least")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--name", default="columns", help="the name of the result")
    options.add_argument("--side", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.side is not None:
        work(given.model, given.treebank, given.sentences, given.side)
        return
    arguments = ["--model", given.model, "--treebank", str(given.treebank), "--sentences", str(given.sentences)]
    sides = {name: Side(name, arguments, None) for name in (WITH, WITHOUT)}
    if given.base is not None:
        sides[BASE] = Side(BASE, arguments, given.base)
    sentences = read(given.treebank, given.sentences)
    n_words = sum(map(len, sentences))
    found = measure(sides, list(tasks(easyfirst.load(given.model), sentences)), given.rounds)
    for side in sides.values():
        side.close()
    header = ["from, to trees", *(f"{name}, us a word" for name in sides), "with : without"]
    rows: list[list[str]] = []
    for task, of_task in found.items():
        row = [task, *(f"{1e6 * statistics.median(seconds) / n_words:.1f}" for seconds in of_task.values())]
        row.append(ratio(of_task[WITH], of_task[WITHOUT]))
        rows.append([*row, ratio(of_task[WITH], of_task[BASE])] if BASE in of_task else row)
    result = {"model": given.model, "treebank": given.treebank.name, "words": n_words, "rounds": given.rounds}
    if given.base is not None:
        header.append(f"with : base ({(commit := commit_of(given.base))})")
        result["base"] = commit
    report.write(given.name, result | {"cpu_seconds": found}, header, rows)


if __name__ == "__main__":
    main()
