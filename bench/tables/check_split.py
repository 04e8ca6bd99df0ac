"""Count the contents of a split and compare them with published counts of the paper's treebanks.

    python -m bench.tables.check_split --treebank ptb ptb/train.conllu ptb/dev.conllu ptb/test.conllu
    python -m bench.tables.check_split train.conllu dev.conllu test.conllu

Counts sentences, words, relations and tags, and the shares of non-projective sentences and arcs. Some of the expected
counts are certain, and a difference is an error (exit code 1). Others are marked "check": they are quoted from memory
or depend on the version of a converter, so a difference only calls for a closer look. A file that is empty, unreadable
or contains anything but trees is an error too (exit code 2).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from easyfirst.errors import EasyFirstError, InputError
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.projective import non_projective_arcs
from easyfirst.treebank.tree import check_tree


@dataclass(frozen=True, slots=True)
class Expected:
    """A published count."""

    count: int
    is_sure: bool = True


def maybe(count: int) -> Expected:
    return Expected(count, is_sure=False)


PARTS = ("train", "dev", "test")
EXPECTED: dict[str, dict[str, dict[str, Expected]]] = {
    "ptb": {  # WSJ sections 02-21, 22, 23
        "train": {"sentences": Expected(39832), "words": Expected(950028), "relations": maybe(45), "XPOS": maybe(45)},
        "dev": {"sentences": Expected(1700), "words": Expected(40117)},
        "test": {"sentences": Expected(2416), "words": Expected(56684)},
    },
    "ctb": {  # CTB 5.1, files 001-815 and 1001-1136; 886-931 and 1148-1151; 816-885 and 1137-1147
        "train": {"sentences": maybe(16091), "words": maybe(437991), "relations": maybe(12), "XPOS": maybe(35)},
        "dev": {"sentences": maybe(803), "words": maybe(20454)},
        "test": {"sentences": maybe(1910), "words": maybe(50319)},
    },
}


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a file."""

    values: dict[str, int]
    non_projective_sentences: float
    """The share in per cent."""
    non_projective_arcs: float


def count(path: Path) -> Counts:
    """Count the contents of a file; raise for a sentence that is not a tree, and for an empty file."""
    n_sentences = n_words = n_crossed = n_arcs = 0
    relations: set[str | None] = set()
    tags: dict[str, set[str]] = {"UPOS": set(), "XPOS": set()}
    for sentence in read_conllu(path):
        check_tree(sentence)
        arcs = len(non_projective_arcs([head or 0 for head in sentence.heads]))
        n_sentences, n_words = n_sentences + 1, n_words + len(sentence)
        n_crossed, n_arcs = n_crossed + bool(arcs), n_arcs + arcs
        relations.update(sentence.relations)
        tags["UPOS"].update(sentence.upos)
        tags["XPOS"].update(sentence.xpos)
    if not n_sentences:
        raise InputError(f"{path} has no sentences")
    values = {"sentences": n_sentences, "words": n_words, "relations": len(relations)}
    values |= {kind: len(found - {"_"}) for kind, found in tags.items()}
    return Counts(values, 100 * n_crossed / n_sentences, 100 * n_arcs / n_words)


def compare(name: str, found: int, expected: Expected | None) -> tuple[str, bool]:
    """Describe a count, and return whether it is wrong."""
    if expected is None:
        return f"{name} {found:,}", False
    if found == expected.count:
        return f"{name} {found:,} (as published)", False
    if expected.is_sure:
        return f"{name} {found:,} (WRONG: {expected.count:,})", True
    return f"{name} {found:,} (check: {expected.count:,} expected)", False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, type=Path, metavar="FILE", help="train, dev and test, in CoNLL-U")
    parser.add_argument("--treebank", choices=sorted(EXPECTED), help="compare with published counts of this treebank")
    options = parser.parse_args()
    any_wrong = False
    try:
        all_counts = [count(path) for path in options.files]
    except EasyFirstError as error:
        parser.error(str(error))
    for part, counts in zip(PARTS, all_counts, strict=True):
        expected = EXPECTED[options.treebank][part] if options.treebank else {}
        described = [compare(name, found, expected.get(name)) for name, found in counts.values.items()]
        any_wrong = any_wrong or any(is_wrong for _, is_wrong in described)
        print(f"{part}: " + ", ".join(text for text, _ in described), end="; ")
        shares = (counts.non_projective_sentences, counts.non_projective_arcs)
        print("non-projective: {:.2f} % of sentences, {:.3f} % of arcs".format(*shares))
    sys.exit(1 if any_wrong else 0)


if __name__ == "__main__":
    main()
