"""Measure what restoring crossing arcs brings, and which scheme encodes them best.

    python -m bench.crossing --work DIR dutch=train.conllu,dev.conllu basque=train.conllu,dev.conllu
    python -m bench.crossing --work DIR --epochs 0 dutch=train.conllu,dev.conllu

Each argument is a name, a training and a dev treebank. For each scheme, the relations are chosen on the training
treebank, and the dev trees are lifted and restored: the *bound* is the LAS that a parser without errors would reach.
Then a parser is trained for each scheme, and one with ``--projective``, which skips the sentences that cross. Reported
are LAS on dev and, of the arcs that are not projective, how many are found (recall) and right (precision), with their
relations. Of the arcs that were moved, the share of right heads and the mean confidence are reported. All other
settings are those of the preset, and tags are gold. ``--epochs 0`` computes only the bounds.

DIR holds the models; an interrupted run resumes. Training sentences that are not trees are left out. Results of other
treebanks stay if they were measured with the same settings.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from easyfirst import Sentence
from easyfirst.cli.reports import TrainingReport
from easyfirst.errors import DataError
from easyfirst.model.directory import CONFIG
from easyfirst.model.parser_config import NO_CROSSING, preset
from easyfirst.training.crossing import LiftedSentences
from easyfirst.training.data import Job
from easyfirst.training.pipeline import PipelineConfig, train_pipeline
from easyfirst.training.run_folders import FOLDER, PARSER
from easyfirst.treebank.lifting import SCHEMES, Label, Mark, lift, restore
from easyfirst.treebank.projective import is_projective, non_projective_arcs
from easyfirst.treebank.tree import check_tree

Arcs = set[tuple[int, int, int, str]]  # sentence, modifier, head and relation
CONFIDENCE = ("arc confidence", "label confidence")
BOUND_HEADER = ("treebank", "scheme", "relations", "marked", "lifted", "restored right", "LAS bound")
HEADER = ("treebank", "scheme", "UAS", "LAS", "crossing: recall", "precision", "moved arcs: right", *CONFIDENCE)


@dataclass(frozen=True)
class Trees:
    """A treebank whose sentences are trees."""

    name: str
    train: list[Sentence]
    dev: list[Sentence]

    @classmethod
    def read(cls, argument: str) -> Trees:
        name, _, files = argument.partition("=")
        train, _, dev = files.partition(",")
        return cls(name, *([s for s in easyfirst.read_conllu(file) if is_tree(s)] for file in (train, dev)))


def is_tree(sentence: Sentence) -> bool:
    try:
        check_tree(sentence)
    except DataError:
        return False
    return True


def known_mark(relation: str, mark: Mark | None, known: set[str]) -> Mark | None:
    """Return a mark, or as much of it as the relations of the training treebank encode."""
    lifted = Mark(True, mark.head_relation) if mark is not None and mark.is_lifted else None
    return next((some for some in (mark, lifted) if Label(relation, some).encode() in known), None)


def bound_of(trees: Trees, scheme: str) -> dict[str, Any]:
    """Lift the dev trees with the relations of the training treebank, restore them, and compare."""
    lifted = LiftedSentences.of(trees.train, scheme)
    known = {name for s in lifted.sentences for name, head in zip(s.relations, s.heads, strict=True) if head and name}
    marked = {name for name in known if Label.decode(name).mark is not None}
    n_lifted = n_right = n_words = n_wrong = 0
    for sentence in trees.dev:
        gold = [head or 0 for head in sentence.heads]
        tree, relations = lift(gold), [name or "_" for name in sentence.relations]
        marks = tree.marks(relations, scheme, set(tree.ways))
        known_marks = [known_mark(name, mark, known) for name, mark in zip(relations, marks, strict=True)]
        found = restore(tree.heads, relations, known_marks)
        n_words += len(gold)
        n_wrong += sum(head != right for head, right in zip(found, gold, strict=True))
        n_lifted += len(tree.ways)
        n_right += sum(found[m - 1] == gold[m - 1] for m in tree.ways)
    return {
        "treebank": trees.name,
        "scheme": scheme,
        "relations": len(known) - len(marked),
        "marked_relations": len(marked),
        "lifted": n_lifted,
        "restored": n_right,
        "words": n_words,
        "bound": round(100 * (1 - n_wrong / n_words), 3),
    }


def all_arcs(trees: Sequence[tuple[Sequence[int], Sequence[str]]]) -> Arcs:
    """Return all arcs of trees."""
    return {
        (number, m, head, relation)
        for number, tree in enumerate(trees)
        for m, (head, relation) in enumerate(zip(*tree, strict=True), 1)
    }


def crossing_arcs(trees: Sequence[tuple[Sequence[int], Sequence[str]]]) -> Arcs:
    """Return the arcs of trees that are not projective."""
    return {
        (number, m, heads[m - 1], relations[m - 1])
        for number, (heads, relations) in enumerate(trees)
        for m in non_projective_arcs(heads)
    }


def train(trees: Trees, scheme: str, options: argparse.Namespace) -> Path:
    """Train a parser, or resume its training, and return its directory."""
    out: Path = options.work / f"{trees.name}-{scheme}"
    files = [options.work / f"{trees.name}-{part}.conllu" for part in ("train", "dev")]
    for file, sentences in zip(files, (trees.train, trees.dev), strict=True):
        file.write_bytes(b"".join(sentence.to_bytes() for sentence in sentences))
    settings = {"crossing": scheme, "epochs": options.epochs, "seed": options.seed}
    config = PipelineConfig(parts=(PARSER,), parser=preset(options.preset, training=settings), predicted_tags=False)
    job = Job(files[0], out, files[1])
    with TrainingReport(is_quiet=False) as progress:
        train_pipeline(job, config, progress, resume=(out / FOLDER).is_dir() and (out / CONFIG).is_file())
    return out


def measure(trees: Trees, scheme: str, model: Path) -> dict[str, Any]:
    """Return the scores of a model on dev."""
    parser = easyfirst.load(model, precision="float32")
    parses = parser.parse(trees.dev)
    scores = easyfirst.score(trees.dev, parses)
    gold = [([head or 0 for head in s.heads], [name or "_" for name in s.relations]) for s in trees.dev]
    system = [(parse.heads, parse.relations) for parse in parses]
    (known, sought), (found, made) = ((all_arcs(some), crossing_arcs(some)) for some in (gold, system))
    moved = [(parse, n, m) for n, parse in enumerate(parses) for m in parse.moved]
    confidence = [(parse.confidence, m) for parse, _, m in moved]
    right = [parse.heads[m - 1] == gold[n][0][m - 1] for parse, n, m in moved]
    sure = [(each.arcs[m - 1], each.labels[m - 1]) for each, m in confidence if each is not None]
    return {
        "treebank": trees.name,
        "scheme": scheme,
        "UAS": round(scores.full.uas, 3),
        "LAS": round(scores.full.las, 3),
        "UD_LAS": round(scores.ud.las, 3),
        "gold_crossing": len(sought),
        "made_crossing": len(made),
        "recall": round(100 * len(sought & found) / len(sought), 2) if sought else None,
        "precision": round(100 * len(made & known) / len(made), 2) if made else None,
        "moved": len(moved),
        "moved_right": round(100 * sum(right) / len(right), 2) if right else None,
        "moved_confidence": round(100 * sum(arc for arc, _ in sure) / len(sure), 2) if sure else None,
        "moved_label_confidence": round(100 * sum(label for _, label in sure) / len(sure), 2) if sure else None,
    }


def of_others(name: str, key: str, names: Collection[str], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the recorded rows of treebanks other than these. Rows with other settings are dropped."""
    path = report.RESULTS / f"{name}.json"
    recorded = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if any(recorded.get(setting) != value for setting, value in settings.items()):
        return []
    return [row for row in recorded.get(key, ()) if row["treebank"] not in names]


def write_bounds(bounds: Sequence[dict[str, Any]], sizes: Sequence[dict[str, Any]]) -> None:
    keys = ("treebank", "scheme", "relations", "marked_relations", "lifted", "restored", "bound")
    names = {size["treebank"] for size in sizes}
    rows = [*of_others("crossing_bounds", "rows", names, {}), *bounds]
    sizes = [*of_others("crossing_bounds", "sizes", names, {}), *sizes]
    report.write("crossing_bounds", {"sizes": sizes, "rows": rows}, BOUND_HEADER, [[b[k] for k in keys] for b in rows])


def size_of(trees: Trees) -> dict[str, Any]:
    """Count the crossing arcs of a treebank."""
    facts: dict[str, Any] = {"treebank": trees.name}
    for part, sentences in {"train": trees.train, "dev": trees.dev}.items():
        heads = [[head or 0 for head in sentence.heads] for sentence in sentences]
        facts[f"{part}_sentences"], facts[f"{part}_words"] = len(heads), sum(map(len, heads))
        facts[f"{part}_non_projective_sentences"] = sum(not is_projective(tree) for tree in heads)
        facts[f"{part}_non_projective_arcs"] = sum(len(non_projective_arcs(tree)) for tree in heads)
    return facts


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebanks", nargs="+", metavar="NAME=TRAIN,DEV")
    arguments.add_argument("--work", type=Path, required=True, metavar="DIR")
    arguments.add_argument("--schemes", nargs="+", default=[NO_CROSSING, *SCHEMES], choices=[NO_CROSSING, *SCHEMES])
    arguments.add_argument("--preset", default="paper")
    arguments.add_argument("--epochs", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    treebanks = [Trees.read(argument) for argument in options.treebanks]
    write_bounds([bound_of(trees, scheme) for trees in treebanks for scheme in SCHEMES], list(map(size_of, treebanks)))
    settings = {"preset": options.preset, "epochs": options.epochs, "seed": options.seed}
    rows = of_others("crossing", "rows", {trees.name for trees in treebanks}, settings)
    moved = ("moved_right", "moved_confidence", "moved_label_confidence")
    keys = ("treebank", "scheme", "UAS", "LAS", "recall", "precision", *moved)
    for trees in treebanks if options.epochs else ():
        for scheme in options.schemes:
            rows.append(measure(trees, scheme, train(trees, scheme, options)))
            cells = [["" if row[key] is None else row[key] for key in keys] for row in rows]
            report.write("crossing", {**settings, "rows": rows}, HEADER, cells)


if __name__ == "__main__":
    main()
