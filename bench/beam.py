"""Beam search: accuracy and speed by width, the best of ten trees, the causes of errors, and the probabilities.

    python -m bench.beam --treebank UD_English-EWT
    python -m bench.beam --treebank UD_English-EWT --trained my-beam --name beam_trained

``--treebank`` is a directory with ``*-dev.conllu`` and ``*-test.conllu``. Tags are predicted by the tagger of
``--model``. ``--trained`` is a parser that was trained further from that of ``--model`` (``--preset beam``).

- *LAS* counts all words and full relations. *Oracle* is the LAS of the best of the first ten trees of each sentence.
- An error of the first tree is a *search error* if the gold tree has a higher score than the tree that was found, and a
  *model error* otherwise.
- The probabilities are measured on the test set: those of the first tree, and of the second.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import easyfirst
from bench import report
from easyfirst.confidence.reliability import Reliability
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.parser_network import networks_of
from easyfirst.parser import Parser
from easyfirst.parsing.beam import search
from easyfirst.parsing.engine import NumpyEngine, measure_of
from easyfirst.parsing.finishing import finish
from easyfirst.parsing.n_best import Scored
from easyfirst.parsing.nodes import Member
from easyfirst.parsing.subtrees import Subtrees
from easyfirst.text.tagging import without_tags
from easyfirst.training.beam_exploration import GoldTree
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.sentence import Sentence

WIDTHS = (1, 2, 4, 8, 16)
N_TREES = 10
CALIBRATED = 8  # the width at which probabilities are measured


def n_right(tree: Scored, gold: Sentence) -> int:
    """Return the number of words with the correct head and relation, before rules change anything."""
    heads, relations = finish(tree.derivation)
    pairs = zip(heads, relations, gold.heads, gold.relations, strict=True)
    return sum(head == right and relation == name for head, relation, right, name in pairs)


def gold_score(parser: Parser, engine: NumpyEngine, sentence: Sentence, gold: Sentence) -> float | None:
    """Return the score of the gold tree, or None if the parser cannot build it."""
    numbers = {name: number for number, name in enumerate(parser.model.vocabulary.relations)}
    heads = [head or 0 for head in gold.heads]
    known = all(relation in numbers for head, relation in zip(heads, gold.relations, strict=True) if head)
    if not known or not is_projective(heads):
        return None
    n = len(gold)
    tree = GoldTree(
        np.array([head - 1 if head else n for head in heads]),
        np.array([numbers.get(relation or "", 0) for relation in gold.relations]),
    )
    measure = tree.only_correct(measure_of(parser.config))
    networks = networks_of(parser.model.arrays, parser.config.members, rnn=parser.config.network.rnn)
    members = [Member.of(network, len(networks)) for network in networks]
    with overflow_is_fine():
        [steps] = search(Subtrees(members, engine.encode([sentence])), [n], WIDTHS[-1], [measure])
    return float(steps[-1].totals[0]) if len(steps) == n else None


def errors(
    parser: Parser,
    engine: NumpyEngine,
    tagged: Sequence[Sentence],
    gold: Sequence[Sentence],
    found: Sequence[Sequence[Scored]],
) -> dict[str, int]:
    """Count the wrong first trees by the cause of the error."""
    counts = {"wrong": 0, "search": 0, "model": 0, "unreachable": 0}
    for sentence, right, trees in zip(tagged, gold, found, strict=True):
        if n_right(trees[0], right) == len(right):
            continue
        score = gold_score(parser, engine, sentence, right)
        cause = "unreachable" if score is None else "search" if score > trees[0].score + 1e-4 else "model"
        counts[cause] += 1
        counts["wrong"] += 1
    return counts


def measure(parser: Parser, tagged: Sequence[Sentence], gold: Sequence[Sentence]) -> list[dict[str, Any]]:
    """Parse with beams of all widths, and with the greedy parser of the same engine."""
    engine = NumpyEngine.of(parser.model.arrays, parser.config, parser.model.vocabulary)
    n_words = sum(map(len, gold))
    results: list[dict[str, Any]] = []
    for width in WIDTHS:
        begin = time.process_time()
        if width == 1:
            found = [[Scored(derivation, 0.0)] for derivation in engine.derive(tagged)]
        else:
            found = engine.search(tagged, width, measure_of(parser.config))
        seconds = time.process_time() - begin
        right = [
            [n_right(tree, sentence) for tree in trees[:N_TREES]] for trees, sentence in zip(found, gold, strict=True)
        ]
        result: dict[str, Any] = {
            "beam": width,
            "LAS": round(100 * sum(first for first, *_ in right) / n_words, 2),
            "oracle_LAS": round(100 * sum(map(max, right)) / n_words, 2),
            "trees_right": sum(first == len(s) for (first, *_), s in zip(right, gold, strict=True)),
            "words_per_cpu_second": round(n_words / seconds),
        }
        if width == CALIBRATED:
            result["errors"] = errors(parser, engine, tagged, gold, found)
        results.append(result)
        print(result, flush=True)
    return results


def probabilities(parser: Parser, tagged: Sequence[Sentence], gold: Sequence[Sentence]) -> dict[str, Any]:
    """Measure how well the probabilities of the first and of the second tree are calibrated."""
    parses = parser.parse(tagged, beam=CALIBRATED, n_best=CALIBRATED)
    figures: dict[str, Any] = {}
    for name, rank in (("first", 0), ("second", 1)):
        known = [
            (tree.ranking.probability, tree.heads == s.heads and tree.relations == s.relations)
            for parse, s in zip(parses, gold, strict=True)
            for tree in parse.n_best[rank : rank + 1]
            if tree.ranking is not None and tree.ranking.probability is not None
        ]
        if known:
            found = Reliability.of(np.array([p for p, _ in known]), np.array([is_right for _, is_right in known]))
            figures[name] = {"count": found.count, "right": found.accuracy, "mean": found.confidence, "ece": found.ece}
    return figures


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--model", default="en")
    options.add_argument("--trained", type=Path)
    options.add_argument("--every", type=int, default=1, help="measure every n-th sentence only")
    options.add_argument("--name", default="beam", help="of the results file")
    given = options.parse_args()
    base = easyfirst.load(given.model)
    assert base.tagger is not None
    treebanks = {part: next(given.treebank.glob(f"*-{part}.conllu")) for part in ("dev", "test")}
    gold = {part: list(easyfirst.read_conllu(path))[:: given.every] for part, path in treebanks.items()}
    tagged = {part: base.tagger.tag(list(without_tags(of, base.tagger, given.model))) for part, of in gold.items()}
    parser = base if given.trained is None else easyfirst.load(given.trained)
    results = measure(parser, tagged["dev"], gold["dev"])
    likely = probabilities(parser, tagged["test"], gold["test"])
    result = {
        "model": given.model if given.trained is None else f"{given.model}, trained further with --preset beam",
        "treebank": treebanks["dev"].name,
        "every": given.every,
        "sentences": len(gold["dev"]),
        "words": sum(map(len, gold["dev"])),
        "tags": "predicted",
        "measure": "sums" if parser.config.training.beam > 1 else "log_probabilities",
        "beams": results,
        "probabilities": {"treebank": treebanks["test"].name, "beam": CALIBRATED, **likely},
    }
    header = ["beam", "LAS", "LAS of the best of 10 trees", "whole trees right", "words / CPU second (NumPy)"]
    rows = [[r["beam"], r["LAS"], r["oracle_LAS"], r["trees_right"], f"{r['words_per_cpu_second']:,}"] for r in results]
    report.write(given.name, result, header, rows)


if __name__ == "__main__":
    main()
