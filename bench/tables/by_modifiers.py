"""Measure what the tree encoding contributes: dev scores of table rows on words with and without modifiers.

    python -m bench.tables.by_modifiers --data DIR --out DIR rows.bottom-up rows.htlstm

--data and --out are those of ``python -m bench.tables``, which must have trained the rows. Only seed 1 is scored. Words
are grouped by their gold modifiers. Punctuation is excluded, both as words and as modifiers. The row ``bottom-up``
represents a subtree by its head word alone, so attaching modifiers does not change a word's vector.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import easyfirst
from bench import report
from bench.tables.execution import Folders
from bench.tables.experiments import Plan, Run
from bench.tables.plan_files import read_plan
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import Tally, is_punctuation
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree

FUNCTION_RELATIONS = frozenset({"aux", "auxpass", "case", "cc", "clf", "cop", "det", "mark", "neg"})
"""The relations of function words in UD 1 and 2."""
GROUPS = ("no modifiers", "function words only", "other modifiers, too")


def groups(sentence: Sentence) -> list[str]:
    """Return the group of each word."""
    found = [GROUPS[0]] * len(sentence)
    for form, head, relation in zip(sentence.forms, sentence.heads, sentence.relations, strict=True):
        if head and not is_punctuation(form):
            is_function = (relation or "").partition(":")[0] in FUNCTION_RELATIONS
            found[head - 1] = GROUPS[1] if is_function and found[head - 1] != GROUPS[2] else GROUPS[2]
    return found


def tallies(gold: Iterable[Sentence], trees: Iterable[Tree]) -> dict[str, Tally]:
    """Count correct heads and labelled heads by group, with full relations."""
    counts = {group: Tally() for group in GROUPS}
    for sentence, tree in zip(gold, trees, strict=True):
        columns = (sentence.forms, groups(sentence), sentence.heads, tree.heads, sentence.relations, tree.relations)
        for form, group, head, found, relation, label in zip(*columns, strict=True):
            if not is_punctuation(form):
                counts[group] += Tally(1, head == found, head == found and relation == label)
    return counts


def first_run(plan: Plan, row: str, language: str) -> Run:
    """Return the training run of a row with seed 1."""
    for run in plan.runs():
        if f"{row}.{language}.1" in run.places:
            return run
    raise LookupError(f"no table trains {row} in {language}; python -m bench.tables --list shows all runs")


def measure(run: Run, folders: Folders) -> dict[str, Tally]:
    """Score the selected model of a run."""
    gold = list(read_conllu(folders.data / run.treebank.dev))
    parses = easyfirst.load(folders.of(run) / "model").parse(gold)
    return tallies(gold, (parse.tree for parse in parses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", help="rows as table.row, scored in all languages")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the treebanks")
    parser.add_argument("--out", type=Path, required=True, help="the folder with the runs")
    options = parser.parse_args()
    folders = Folders(options.data, Path(), options.out)
    try:
        plan = read_plan()
        found = {
            language: {row: measure(first_run(plan, row, language), folders) for row in options.rows}
            for language in plan.treebanks
        }
    except (LookupError, OSError, easyfirst.EasyFirstError) as error:
        parser.error(str(error.args[0] if isinstance(error, LookupError) else error))
    result = {
        language: {row: {group: tally.to_dict() for group, tally in counts.items()} for row, counts in rows.items()}
        for language, rows in found.items()
    }
    report.write("by_modifiers", {"part": "dev", "scores": result}, *table(options.rows, found))


def table(names: Sequence[str], found: dict[str, dict[str, dict[str, Tally]]]) -> tuple[list[str], list[list[object]]]:
    """Return the header and the rows of the table: the share of the words, and UAS / LAS."""
    lines: list[list[object]] = []
    for language, rows in found.items():
        for group in GROUPS:
            of_group = [rows[name][group] for name in names]
            share = 100 * of_group[0].words / sum(tally.words for tally in rows[names[0]].values())
            scores = [f"{tally.uas:.1f} / {tally.las:.1f}" for tally in of_group]
            lines.append([language, group, f"{share:.0f} %", *scores])
    return ["", "the word has", "words", *names], lines


if __name__ == "__main__":
    main()
