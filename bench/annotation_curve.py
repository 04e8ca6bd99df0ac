"""Compare the orders in which sentences can be annotated, by the accuracy of a parser trained on the first ones.

    python -m bench.annotation_curve train.conllu dev.conllu --work DIR

All orders begin with the same random sentences. Then, for each size, a parser is trained on what is annotated so far,
parses all other sentences of the training treebank, and the order chooses the next ones:

- *random*: any.
- *doubtful*: those whose trees have the lowest confidence, as ``easyfirst annotate`` takes them. They are long.
- *doubtful words*: those with the lowest mean confidence of a word, which are shorter.

Annotating costs words rather than sentences, so the number of words is reported beside LAS on dev. Tags are gold. Every
parser has the same number of epochs, keeps the best on dev, and is calibrated on dev. Each result is written as soon as
it is there, and an interrupted run resumes. DIR holds the models.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from bench.crossing import is_tree
from easyfirst import Parse, Sentence
from easyfirst.cli.reports import TrainingReport
from easyfirst.model.directory import CONFIG
from easyfirst.model.parser_config import preset
from easyfirst.training.data import Job
from easyfirst.training.pipeline import PipelineConfig, train_pipeline
from easyfirst.training.run_folders import FOLDER, PARSER

SIZES = (100, 250, 500, 1000)
HEADER = ("order", "sentences", "words", "LAS", "UAS")


def tree_confidence(parse: Parse) -> float:
    assert parse.confidence is not None
    return parse.confidence.tree


def mean_confidence(parse: Parse) -> float:
    assert parse.confidence is not None
    return sum(parse.confidence.labels) / len(parse)


ORDERS: dict[str, Callable[[Parse], float] | None] = {
    "random": None,
    "doubtful": tree_confidence,
    "doubtful words": mean_confidence,
}


class Curve:
    """The runs of all orders, with what is complete from an earlier run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options, self._work = options, Path(options.work)
        self._work.mkdir(parents=True, exist_ok=True)
        self._pool = [sentence for sentence in easyfirst.read_conllu(options.train) if is_tree(sentence)]
        self._dev = list(easyfirst.read_conllu(options.dev))
        self._shuffled = random.Random(options.seed).sample(range(len(self._pool)), len(self._pool))
        self._path = self._work / "results.json"
        self._rows: list[dict[str, Any]] = json.loads(self._path.read_text()) if self._path.is_file() else []

    def run(self) -> None:
        for order in self._options.orders:
            chosen = self._shuffled[: self._options.sizes[0]]
            for size in self._options.sizes:
                chosen = self._grow(order, chosen, size)
                if not any((row["order"], row["sentences"]) == (order, size) for row in self._rows):
                    self._add(order, chosen)

    def _grow(self, order: str, chosen: Sequence[int], size: int) -> list[int]:
        """Return the numbers of the sentences that are annotated first, as an earlier run chose them, or else as the
        parser of the size before does."""
        path = self._work / f"{self._name(order, size)}.json"
        if not path.is_file():
            rest = [number for number in self._shuffled if number not in set(chosen)]
            measure = ORDERS[order]
            if measure is not None and size > len(chosen):
                parser = easyfirst.load(self._work / self._name(order, len(chosen)))
                sure = dict(zip(rest, map(measure, parser.pipe(self._pool[number] for number in rest)), strict=True))
                rest.sort(key=lambda number: sure[number])
            path.write_text(json.dumps([*chosen, *rest[: size - len(chosen)]]))
        found: list[int] = json.loads(path.read_text())
        return found

    def _add(self, order: str, chosen: Sequence[int]) -> None:
        """Train on sentences, and write the accuracy."""
        sentences = [self._pool[number] for number in chosen]
        parser = easyfirst.load(self._train(self._name(order, len(chosen)), sentences), precision="float32")
        scores = easyfirst.score(self._dev, parser.parse(self._dev)).ud
        words = sum(map(len, sentences))
        row = {"order": order, "sentences": len(chosen), "words": words, "LAS": scores.las, "UAS": scores.uas}
        self._rows.append(row)
        self._path.write_text(json.dumps(self._rows, indent=1))
        options = self._options
        facts = {
            "treebank": Path(options.train).name,
            "preset": options.preset,
            "epochs": options.epochs,
            "seed": options.seed,
            "rows": self._rows,
        }
        cells = [[f"{row[key]:.2f}" if key in ("LAS", "UAS") else row[key] for key in HEADER] for row in self._rows]
        report.write("annotation_curve", facts, HEADER, cells)

    def _name(self, order: str, size: int) -> str:
        """Return the name of a model. All orders share the first one."""
        return f"{'first' if size == self._options.sizes[0] else order.replace(' ', '-')}-{size}"

    def _train(self, name: str, sentences: Sequence[Sentence]) -> Path:
        """Train a parser, or resume its training, and return its directory."""
        out, treebank, mark = (self._work / f"{name}{ending}" for ending in ("", ".conllu", ".complete"))
        if mark.is_file():
            return out
        treebank.write_bytes(b"".join(sentence.to_bytes() for sentence in sentences))
        settings = {"epochs": self._options.epochs, "seed": self._options.seed}
        parser = preset(self._options.preset, training=settings)
        config = PipelineConfig(parts=(PARSER,), parser=parser, predicted_tags=False)
        with TrainingReport(is_quiet=False) as progress:
            is_begun = (out / FOLDER).is_dir() and (out / CONFIG).is_file()
            train_pipeline(Job(treebank, out, Path(self._options.dev)), config, progress, resume=is_begun)
        mark.touch()
        return out


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("train")
    arguments.add_argument("dev")
    arguments.add_argument("--work", required=True, metavar="DIR")
    arguments.add_argument("--orders", nargs="+", default=list(ORDERS), choices=list(ORDERS))
    arguments.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    arguments.add_argument("--preset", default="paper")
    arguments.add_argument("--epochs", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=1)
    Curve(arguments.parse_args()).run()


if __name__ == "__main__":
    main()
