"""``easyfirst evaluate``: how well trees agree with gold trees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from easyfirst.cli.files import STANDARD, STDIN, open_input
from easyfirst.cli.threads import set_threads
from easyfirst.errors import DataError
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.scores import Scores, score
from easyfirst.treebank.sentence import Sentence

if TYPE_CHECKING:
    from rich.table import Table

WIDTH = 120
CONVENTIONS = {
    "ud": ("UD", "all words, subtypes of relations ignored"),
    "conllx": ("CoNLL-X", "without punctuation, relations in full"),
    "full": ("full", "all words, relations in full"),
}


def evaluate(
    gold: Annotated[str, typer.Argument(help="CoNLL-U with the right trees.", show_default=False)],
    system: Annotated[
        str | None, typer.Argument(help="CoNLL-U with the trees to judge, of the same words.", show_default=False)
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Judge what this model makes of GOLD's words and tags.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, in per cent, as JSON.")] = False,
    by_relation: Annotated[bool, typer.Option("--by-relation", help="Add a table of the relations.")] = False,
    by_length: Annotated[bool, typer.Option("--by-length", help="Add a table of the sentences' lengths.")] = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of the linear algebra; default (and best): 1, or OMP_NUM_THREADS."),
    ] = None,
) -> None:
    """Score trees against gold trees: UAS and LAS in three conventions.

    Give a file SYSTEM, or --model to parse GOLD first. '-' is stdin.

    \b
    Examples:
      easyfirst evaluate gold.conllu output.conllu
      easyfirst evaluate gold.conllu --model my-model --by-relation
    """
    if (system is None) == (model is None):
        raise typer.BadParameter("give either a file SYSTEM or --model DIR", param_hint="SYSTEM")
    if gold == system == STANDARD:
        raise typer.BadParameter("only one of GOLD and SYSTEM can be stdin", param_hint="SYSTEM")
    scores = score(_sentences(gold), _sentences(system)) if system is not None else _score_model(gold, model, threads)
    if not scores.sentences:
        raise DataError("no sentences to compare in this file", source=gold)
    if as_json:
        print(json.dumps(scores.to_dict(), ensure_ascii=False, indent=2))
    else:
        _show(scores, by_relation=by_relation, by_length=by_length)


def _sentences(name: str) -> Iterator[Sentence]:
    with open_input(name) as stream:
        yield from ConlluReader(stream, STDIN if name == STANDARD else name)


def _score_model(gold: str, model: Path | None, threads: int | None) -> Scores:
    set_threads(threads)

    from easyfirst.parser import load

    assert model is not None
    parses, again = tee(load(model).pipe(_sentences(gold)))
    gold_sentences = (parse.sentence for parse in parses)
    return score(gold_sentences, (parse.sentence.with_tree(parse.heads, parse.relations) for parse in again))


def _show(scores: Scores, *, by_relation: bool, by_length: bool) -> None:
    from rich.console import Console

    values = scores.to_dict()
    table = _table("", "UAS %", "LAS %", "words", "counted")
    for key, (name, meaning) in CONVENTIONS.items():
        row = values[key]
        table.add_row(name, f"{row['UAS']:.2f}", f"{row['LAS']:.2f}", f"{row['words']:,}", meaning)
    console = Console(highlight=False, markup=False, width=WIDTH)  # numbers are never cut; a narrow terminal may wrap
    console.print(table)
    exact = values["exact"]
    console.print(
        f"{scores.sentences:,} sentences; whole trees right: {exact['unlabelled']:.2f} % of heads, "
        f"{exact['labelled']:.2f} % with relations"
    )
    if by_relation:
        table = _table("relation", "gold", "system", "precision %", "recall %", "F1 %")
        for name, row in values["relations"].items():
            shares = (f"{row[key]:.2f}" for key in ("precision", "recall", "f1"))
            table.add_row(name, f"{row['gold']:,}", f"{row['system']:,}", *shares)
        console.print(table)
    if by_length:
        table = _table("length", "sentences", "words", "UAS %", "LAS %")
        for name, row in values["lengths"].items():
            shares = (f"{row[key]:.2f}" for key in ("UAS", "LAS"))
            table.add_row(name, f"{row['sentences']:,}", f"{row['words']:,}", *shares)
        console.print(table)


def _table(first: str, *others: str) -> Table:
    """Names to the left, numbers to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(Text(first), no_wrap=True)
    for name in others:
        table.add_column(name, justify="left" if name == "counted" else "right", no_wrap=True)
    return table
