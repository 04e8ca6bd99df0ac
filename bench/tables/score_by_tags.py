"""Compute attachment scores without the words that have certain gold tags, as is usual on PTB and CTB.

    python -m bench.tables.score_by_tags gold.conllu system.conllu --tags "\\`\\` '' : , ."      # PTB
    python -m bench.tables.score_by_tags gold.conllu system.conllu --tags PU                  # CTB

``easyfirst evaluate`` identifies punctuation by its characters (convention ``conllx``), which differs slightly: PTB's
opening quotes are not Unicode punctuation, but its percent sign is. The tags are those of the XPOS column of gold.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path

from easyfirst.errors import EasyFirstError, InputError
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import Tally
from easyfirst.treebank.sentence import Sentence


def score(gold: Sequence[Sentence], system: Sequence[Sentence], excluded: Collection[str]) -> Tally:
    """Count correct heads and labelled heads of the words whose tag is not excluded."""
    if len(gold) != len(system) or not gold:
        raise InputError(f"cannot compare {len(gold):,} gold sentences with {len(system):,} system sentences")
    if unknown := {*excluded} - {tag for sentence in gold for tag in sentence.xpos}:
        raise InputError(f"--tags: no word has the XPOS tag {' or '.join(sorted(unknown))}")
    words = heads = labelled = 0
    for number, (one, other) in enumerate(zip(gold, system, strict=True), 1):
        if one.forms != other.forms:
            raise InputError(f"sentence {number:,}: the words of the two files differ")
        columns = (one.xpos, one.heads, other.heads, one.relations, other.relations)
        for tag, head, found, relation, label in zip(*columns, strict=True):
            if tag not in excluded:
                words += 1
                heads += head == found
                labelled += head == found and relation == label
    return Tally(words, heads, labelled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("system", type=Path)
    parser.add_argument("--tags", required=True, help="the tags to exclude, separated by spaces")
    options = parser.parse_args()
    try:
        gold, system = list(read_conllu(options.gold)), list(read_conllu(options.system))
        tally = score(gold, system, set(options.tags.split()))
    except EasyFirstError as error:
        parser.error(str(error))
    print(f"UAS {tally.uas:.2f}  LAS {tally.las:.2f}  words {tally.words:,}")


if __name__ == "__main__":
    main()
