"""Score a complete model from raw text and from gold tokens, for its model card.

    python -m bench.bundled --model en --dev dev.conllu --test test.conllu
    python -m bench.bundled ... --full my-model     # compare with the same model before 'easyfirst pack'
    python -m bench.bundled ... --write-card        # write the table into the model's README.md

Use the test set only after a model has been chosen.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from easyfirst.model.bundled import find_model
from easyfirst.model.directory import CARD, replace_file
from easyfirst.model.tagger_vocabulary import COLUMNS as TAGGED
from easyfirst.treebank.raw_text import raw_text, read_paragraphs
from easyfirst.treebank.text_scores import score_text

BEGIN, END = "<!-- scores of the whole model -->", "<!-- end of scores -->"
ABOUT = Path(__file__).parent / "about"  # what a card says of a model: its parts, attribution and licence
COLUMNS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")


def with_tree(parse: easyfirst.Parse) -> easyfirst.Sentence:
    return parse.tagged.with_tree(parse.heads, parse.relations)


def scores_of(model: str, treebank: Path, *, spaces: str) -> dict[str, dict[str, float]]:
    """Return F1 as the CoNLL 2018 scorer defines it; with gold tokens it is accuracy."""
    nlp = easyfirst.load(model)
    gold = list(easyfirst.read_conllu(treebank))
    assert nlp.tagger is not None
    untagged = [sentence.with_tags(**{kind: ["_"] * len(sentence) for kind in TAGGED}) for sentence in gold]
    made = {
        "raw text": [with_tree(parse) for parse in nlp(raw_text(read_paragraphs(gold, spaces=spaces)))],
        "gold tokens, predicted tags": [with_tree(parse) for parse in nlp.parse(untagged)],
        "gold tokens, gold tags": [with_tree(parse) for parse in nlp.parse(gold)],
    }
    metrics = {name: score_text(gold, system).metrics for name, system in made.items()}
    return {name: {column: found[column].f1 for column in COLUMNS} for name, found in metrics.items()}


def table(found: dict[str, dict[str, dict[str, float]]]) -> list[list[object]]:
    return [
        [part, given, *(f"{scores[column]:.2f}" for column in COLUMNS)]
        for part, by_input in found.items()
        for given, scores in by_input.items()
    ]


def model_name(model: str) -> str:
    return find_model(model).name


def write_card(model: str, rows: list[list[object]], result: dict[str, Any]) -> None:
    """Write the table into the model card, replacing an older one."""
    path = find_model(model) / CARD
    card = path.read_text(encoding="utf-8")
    if BEGIN in card:
        card = card[: card.index(BEGIN)] + card[card.index(END) + len(END) + 1 :]
    header: list[list[object]] = [["Part", "Input", *COLUMNS], ["---"] * (2 + len(COLUMNS))]
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [*header, *rows]]
    note = (
        f"F1 in per cent by the CoNLL 2018 shared task's definitions, measured on {result['date']} with the weights in "
        "this directory. The parser reads\npredicted tags unless the input has gold tags."
    )
    text = ABOUT / f"{model_name(model)}.md"
    about = ["## The complete model", "", *text.read_text(encoding="utf-8").splitlines(), ""] if text.exists() else []
    section = "\n".join([BEGIN, *about, "## Scores of the complete model", "", note, "", *lines, "", END, ""])
    place = card.index("## Scores\n")
    replace_file(path, (card[:place] + section + card[place:]).encode())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--dev", type=Path, required=True)
    options.add_argument("--test", type=Path, required=True)
    options.add_argument("--full", help="the same model before packing, in 32 bits")
    options.add_argument("--name", default="bundled", help="the name of the results file")
    options.add_argument("--spaces", default="given", choices=["given", "none"])
    options.add_argument("--write-card", action="store_true")
    given = options.parse_args()
    files = {"dev": given.dev, "test": given.test}
    found = {part: scores_of(given.model, path, spaces=given.spaces) for part, path in files.items()}
    rows = table(found)
    result: dict[str, Any] = {
        "model": model_name(given.model),
        "treebanks": {part: path.name for part, path in files.items()},
        "f1": found,
    }
    if given.full:
        full = {part: scores_of(given.full, path, spaces=given.spaces) for part, path in files.items()}
        result["f1_in_32_bits"] = full
        result["las_changes_by_packing"] = {
            part: {name: found[part][name]["LAS"] - full[part][name]["LAS"] for name in found[part]} for part in files
        }
    report.write(given.name, result, ["part", "input", *COLUMNS], rows)
    if given.write_card:
        write_card(given.model, rows, {**report.conditions(), **result})


if __name__ == "__main__":
    main()
