"""Train a constituency parser on CRAFT and score it on its test set, with gold and with predicted tags.

    python -m bench.constituency DIR --work WORK
    python -m bench.constituency DIR --work WORK --every 3 --dev-every 4 --epochs 5 --tagger-epochs 4 --gold-tags
    python -m bench.constituency DIR --work WORK --round-trip
    python -m bench.constituency DIR --work WORK --every 6 --dev-every 4 --epochs 3 --encodings

DIR has ``craft-train.ptb.gz``, ``craft-dev.ptb.gz`` and ``craft-test.ptb.gz``. The first command is the full training:
all trees, with tags predicted by jackknifing. ``--every 3`` takes every third tree, and ``--gold-tags`` trains the
parser on gold tags. WORK holds the trees and the models; an interrupted run resumes. Traces and function tags are
removed.

``--round-trip`` encodes and decodes all trees of train and dev with each encoding, and counts relations. Nothing is
trained. ``--encodings`` compares the encodings on dev instead, with gold tags, the preset ``paper`` and no tagger.

Scores are those of EVALB with COLLINS.prm; *all* counts punctuation too. If PYEVALB is installed, it counts the same
trees, and the result has its counts beside ours. PYEVALB counts equal phrases over the same words as right only once.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import contextlib
import io
import json
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from easyfirst import Constituents
from easyfirst.cli.constituency import parse_trees
from easyfirst.constituents.encoding import ENCODINGS, NUMBER, decode, encode
from easyfirst.constituents.heads import PTB, head_rules
from easyfirst.constituents.scores import ALL, score_constituents
from easyfirst.constituents.stripping import STRIPPABLE, strip

STRIP = ",".join(STRIPPABLE)
HEADER = ("tags", "part", "precision", "recall", "F1", "gold", "whole trees", "tags right")
N_LABELS = 15  # the most frequent ones are in the table; the JSON has all


def subset(options: argparse.Namespace, part: str, every: int) -> Path:
    """Write every n-th tree of a part to WORK, and return the file."""
    path: Path = options.work / f"{part}.every-{every}.ptb"
    if not path.is_file():
        trees = islice(easyfirst.read_brackets(options.data / f"craft-{part}.ptb.gz"), 0, None, every)
        path.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
    return path


def train(options: argparse.Namespace, name: str, *more: str) -> Path:
    """Train a model, or resume its training, and return its directory."""
    out: Path = options.work / f"model-{name}"
    files = subset(options, "train", options.every), "--dev", subset(options, "dev", options.dev_every)
    trees = "--constituency", "--strip", STRIP, "--seed", options.seed
    command = [sys.executable, "-m", "easyfirst", "train", *files, *trees, "--out", out, "--resume", *more]
    if options.epochs is not None:
        command += ["--epochs", options.epochs]
    subprocess.run(list(map(str, command)), check=True)
    return out


def read(path: Path) -> list[Constituents]:
    stripped = (strip(tree, STRIPPABLE) for tree in easyfirst.read_brackets(path))
    return [tree for tree in stripped if tree is not None]


def pyevalb_counts(gold: list[Constituents], system: list[Constituents]) -> dict[str, int] | None:
    """Return how many phrases PYEVALB finds in both and counts as right, or None if it is not installed."""
    try:
        from PYEVALB import parser, scorer  # pyright: ignore
    except ImportError:
        return None
    counts = {"gold": 0, "system": 0, "correct": 0}
    tools: Any = (parser.create_from_bracket_string, scorer.Scorer().score_trees)  # pyright: ignore
    for pair in zip(gold, system, strict=True):
        if pair[0].nodes and pair[1].nodes:
            with contextlib.redirect_stdout(io.StringIO()):
                result = tools[1](*(tools[0](str(tree)) for tree in pair))
            counts["gold"] += result.gold_brackets
            counts["system"] += result.test_brackets
            counts["correct"] += result.matched_brackets
    return counts


def measure(model: Path, gold: list[Constituents], *, predicted_tags: bool) -> dict[str, Any]:
    """Return the scores of a model on trees."""
    parser = easyfirst.load(model, precision="float32")
    found = parse_trees(parser, gold, 1, predicted_tags=predicted_tags)
    return {
        "evalb": score_constituents(gold, found).to_dict(),
        "all": score_constituents(gold, found, ALL).to_dict(),
        "pyevalb": pyevalb_counts(gold, found),
    }


def rows_of(tags: str, scores: dict[str, Any]) -> list[list[object]]:
    """Return the lines of the table for one kind of tags."""
    rows: list[list[object]] = []
    for name in ("evalb", "all"):
        whole = f"{scores[name]['exact']:.2f}", f"{scores[name]['tags']:.2f}"
        rows.append([tags, name, *_cells(scores[name]["phrases"]), *whole])
    for key in ("lengths", "labels"):
        for name, row in list(scores["evalb"][key].items())[:N_LABELS]:
            part = f"{name} words" if key == "lengths" else name
            rows.append([tags, part, *_cells(row), "", ""])
    return rows


def _cells(row: dict[str, Any]) -> list[str]:
    return [*(f"{row[key]:.2f}" for key in ("precision", "recall", "f1")), f"{row['gold']:,}"]


def measure_model(options: argparse.Namespace) -> None:
    """Train a model with a tagger, and write its scores on the test set."""
    kind = "gold" if options.gold_tags else "predicted"
    more = ["--parts", "tagger,parser", "--preset", options.preset, *(["--gold-tags"] if options.gold_tags else [])]
    if options.tagger_epochs is not None:
        more += ["--set", f"tagger.epochs={options.tagger_epochs}"]
    model = train(options, f"{options.preset}-{kind}-every-{options.every}", *more)
    gold = read(options.data / f"craft-{options.on}.ptb.gz")
    scores = {tags: measure(model, gold, predicted_tags=tags == "predicted") for tags in ("gold", "predicted")}
    metrics = (model / "training" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    epochs = [json.loads(line) for line in metrics]
    facts = {
        "train": len(read(subset(options, "train", options.every))),
        "scored_on": f"CRAFT {options.on}, {len(gold)} trees",
        "preset": options.preset,
        "parser_trained_on_tags": kind,
        "tagger_epochs": options.tagger_epochs,
        "dev_F1": [epoch["dev"]["constituents"]["F1"] for epoch in epochs],
        "scores": scores,
    }
    report.write("constituency", facts, HEADER, [row for tags in scores for row in rows_of(tags, scores[tags])])


def compare_encodings(options: argparse.Namespace) -> None:
    """Train a parser with each encoding, and write their scores on dev."""
    gold = read(subset(options, "dev", options.dev_every))
    results: dict[str, Any] = {}
    for encoding in ENCODINGS:
        model = train(options, f"{encoding}-every-{options.every}", "--set", f"constituency.encoding={encoding}")
        scores = measure(model, gold, predicted_tags=False)
        n_relations = len(easyfirst.load(model).relations)
        results[encoding] = {"relations": n_relations, **{key: scores[key]["phrases"] for key in ("evalb", "all")}}
        rows = [[name, row["relations"], *_cells(row["evalb"])] for name, row in results.items()]
        facts = {"every": options.every, "epochs": options.epochs, "encodings": results}
        header = ("encoding", "relations", "precision", "recall", "F1", "gold")
        report.write("constituency_encodings", facts, header, rows)


def count_relations(options: argparse.Namespace) -> None:
    """Encode and decode all trees of train and dev, and write how many relations each encoding needs."""
    results: list[dict[str, Any]] = []
    for part in ("train", "dev"):
        trees = read(options.data / f"craft-{part}.ptb.gz")
        for encoding in ENCODINGS:
            relations: Counter[str] = Counter()
            n_exact = 0
            for tree in trees:
                heads, found = encode(tree, head_rules(PTB), encoding)
                relations.update(found)
                n_exact += decode(tree.forms, tree.tags, heads, found) == tree
            n_numbered = sum(n for name, n in relations.items() if NUMBER in name)
            counts = {"trees": len(trees), "words": relations.total(), "exact": n_exact, "numbered": n_numbered}
            frequent = sum(n >= 5 for n in relations.values())
            results.append(
                {"part": part, "encoding": encoding, **counts, "relations": len(relations), "five": frequent}
            )
    header = ("part", "encoding", "trees", "words", "exact", "numbered words", "relations", "five times or more")
    report.write("constituency_round_trip", {"rows": results}, header, [list(row.values()) for row in results])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path, metavar="DIR")
    arguments.add_argument("--work", type=Path, required=True, metavar="WORK")
    arguments.add_argument("--every", type=int, default=1, metavar="N", help="Train on every n-th tree.")
    arguments.add_argument("--dev-every", type=int, default=1, metavar="N", help="Select on every n-th tree of dev.")
    arguments.add_argument("--preset", default="pipeline")
    arguments.add_argument("--epochs", type=int)
    arguments.add_argument("--tagger-epochs", type=int)
    arguments.add_argument("--gold-tags", action="store_true")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--on", choices=("test", "dev"), default="test", help="The part that is scored.")
    arguments.add_argument("--encodings", action="store_true")
    arguments.add_argument("--round-trip", action="store_true")
    options = arguments.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    run = count_relations if options.round_trip else compare_encodings if options.encodings else measure_model
    run(options)


if __name__ == "__main__":
    main()
