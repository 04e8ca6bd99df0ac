"""Measure what the precision of the compiled core does to accuracy.

    python -m bench.precision en=dev.conllu my-model=other-dev.conllu

Each argument is a model and a treebank. The treebank is parsed with NumPy and with the core in each precision, with
gold tags and, if the model has a tagger, with predicted ones; for models that read raw text, its text is parsed too.
Reports LAS, the difference from NumPy's, and the number of sentences whose tree differs from NumPy's.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from easyfirst import Parser, Sentence
from easyfirst.native.library import PRECISIONS
from easyfirst.treebank.raw_text import raw_text, read_paragraphs
from easyfirst.treebank.text_scores import score_text

NUMPY = "numpy"
Trees = list[tuple[tuple[int, ...], tuple[str, ...]]]


def inputs_of(parser: Parser, gold: list[Sentence]) -> dict[str, list[Sentence]]:
    """Return the treebank with gold tags and without those that a tagger predicts."""
    found = {"gold tags": gold}
    if parser.tagger is not None:
        found["predicted tags"] = [parser.tagger.untagged(sentence) for sentence in gold]
    return found


def measure(model: str, treebank: Path) -> list[dict[str, Any]]:
    """Return a row for each input and engine."""
    gold = list(easyfirst.read_conllu(treebank))
    rows: list[dict[str, Any]] = []
    reference: dict[str, tuple[float, Trees]] = {}
    for precision in (None, *PRECISIONS):
        parser = easyfirst.load(model, engine="numpy" if precision is None else "native", precision=precision)
        found: dict[str, tuple[float, Trees]] = {}
        for name, sentences in inputs_of(parser, gold).items():
            parses = parser.parse(sentences)
            trees = [(parse.heads, parse.relations) for parse in parses]
            found[name] = easyfirst.score(gold, parses).ud.las, trees
        if parser.tokenizer is not None and not parser.needs_tags:
            document = parser(raw_text(read_paragraphs(gold)))
            found["raw text"] = score_text(gold, [parse.to_sentence() for parse in document]).las.f1, []
        for name, (las, trees) in found.items():
            before, old_trees = reference.setdefault(name, (las, trees))
            rows.append(
                {
                    "model": Path(model).name,
                    "treebank": treebank.name,
                    "input": name,
                    "engine": precision or NUMPY,
                    "LAS": round(las, 3),
                    "change": round(las - before, 3),
                    "different_trees": sum(one != other for one, other in zip(trees, old_trees, strict=True)),
                    "sentences": len(trees),
                }
            )
    return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pairs", nargs="+", metavar="MODEL=TREEBANK")
    options = arguments.parse_args()
    rows = [row for pair in options.pairs for row in measure(pair.partition("=")[0], Path(pair.partition("=")[2]))]
    header = ("model", "input", "engine", "LAS", "change", "different trees")
    cells = [
        (
            row["model"],
            f"{row['treebank']}, {row['input']}",
            row["engine"],
            f"{row['LAS']:.2f}",
            f"{row['change']:+.3f}",
            f"{row['different_trees']} of {row['sentences']:,}" if row["sentences"] else "",
        )
        for row in rows
    ]
    report.write("precision", {"rows": rows}, header, cells)


if __name__ == "__main__":
    main()
