"""Whether our UD scores equal the official scorer's (``udtools``), counted to the word, on a real treebank.

    python bench/scorer.py --treebank dev.conllu

Trees are spoilt at random, more and more, and both scorers compare them with the gold file.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import report
from udtools.udeval import evaluate, load_conllu_file

import easyfirst
from easyfirst import Sentence

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
SEED = 1


def spoil(sentence: Sentence, share: float, rng: random.Random, relations: list[str]) -> Sentence:
    """Hang some leaves under other words, and give some words another relation."""
    heads = [head or 0 for head in sentence.heads]
    labels = [relation or "_" for relation in sentence.relations]
    for m in range(1, len(heads) + 1):
        if heads[m - 1] and rng.random() < share:
            labels[m - 1] = rng.choice(relations)
        if heads[m - 1] and m not in heads and rng.random() < share:
            heads[m - 1] = rng.choice([h for h in range(1, len(heads) + 1) if h != m])
    return sentence.with_tree(heads, labels)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--treebank", type=Path, required=True)
    options = arguments.parse_args()
    gold = list(easyfirst.read_conllu(options.treebank))
    relations = sorted({relation for s in gold for relation in s.relations if relation not in (None, "root")})
    rng = random.Random(SEED)
    rows: list[tuple[object, ...]] = []
    results: list[dict[str, object]] = []
    for share in SHARES:
        system = [spoil(sentence, share, rng, relations) for sentence in gold]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "system.conllu"
            path.write_bytes(b"".join(sentence.to_bytes() for sentence in system))
            official = evaluate(load_conllu_file(str(options.treebank)), load_conllu_file(str(path)))
        ours = easyfirst.score(gold, system).ud
        theirs = (official["UAS"].correct, official["LAS"].correct, official["LAS"].gold_total)
        is_equal = theirs == (ours.heads, ours.labelled, ours.words)
        results.append({"spoilt": share, "UAS": ours.uas, "LAS": ours.las, "words": ours.words, "equal": is_equal})
        rows.append((f"{share:.0%}", f"{ours.uas:.4f}", f"{ours.las:.4f}", f"{ours.words:,}", is_equal))
    result = {"treebank": options.treebank.name, "seed": SEED, "comparisons": results}
    report.write("scorer", result, ("spoilt", "UAS", "LAS", "words", "equal to the official scorer"), rows)


if __name__ == "__main__":
    main()
