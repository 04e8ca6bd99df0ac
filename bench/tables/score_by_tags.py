"""Attachment scores that leave words out by their gold tag, as is usual on PTB and CTB.

    python bench/tables/score_by_tags.py gold.conllu system.conllu --tags "\\`\\` '' : , ."      # PTB
    python bench/tables/score_by_tags.py gold.conllu system.conllu --tags PU                  # CTB

``easyfirst evaluate`` knows punctuation by its characters (its convention ``conllx``), which differs a little: PTB's
opening quotes are no Unicode punctuation, and its percent sign is. Tags are those of XPOS in the gold file.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path

from easyfirst.errors import EasyFirstError, InputError
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import Tally
from easyfirst.treebank.sentence import Sentence


def score(gold: Sequence[Sentence], system: Sequence[Sentence], left_out: Collection[str]) -> Tally:
    """Heads and labelled heads of the words whose tag is not left out."""
    if len(gold) != len(system) or not gold:
        raise InputError(f"{len(gold):,} gold sentences and {len(system):,} of the system cannot be compared")
    if unknown := {*left_out} - {tag for sentence in gold for tag in sentence.xpos}:
        raise InputError(f"--tags: no word has the XPOS tag {' or '.join(sorted(unknown))}")
    words = heads = labelled = 0
    for number, (one, other) in enumerate(zip(gold, system, strict=True), 1):
        if one.forms != other.forms:
            raise InputError(f"sentence {number:,}: the two files do not have the same words")
        columns = (one.xpos, one.heads, other.heads, one.relations, other.relations)
        for tag, head, found, relation, label in zip(*columns, strict=True):
            if tag not in left_out:
                words += 1
                heads += head == found
                labelled += head == found and relation == label
    return Tally(words, heads, labelled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("system", type=Path)
    parser.add_argument("--tags", required=True, help="the tags to leave out, separated by spaces")
    options = parser.parse_args()
    try:
        gold, system = list(read_conllu(options.gold)), list(read_conllu(options.system))
        tally = score(gold, system, set(options.tags.split()))
    except EasyFirstError as error:
        parser.error(str(error))
    print(f"UAS {tally.uas:.2f}  LAS {tally.las:.2f}  words {tally.words:,}")


if __name__ == "__main__":
    main()
