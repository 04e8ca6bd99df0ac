"""What verbs do with constituency trees: score and draw them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from easyfirst.cli.files import Files, source_of
from easyfirst.cli.formats import BRACKET_SUFFIXES, by_suffix
from easyfirst.cli.loading import load_model
from easyfirst.cli.messages import printable
from easyfirst.cli.tables import print_tables, table
from easyfirst.constituents.brackets import read_bracket_lines
from easyfirst.constituents.scores import ALL, ConstituentScores, score_constituents
from easyfirst.constituents.stripping import read_stripping, strip
from easyfirst.constituents.tree import Constituents
from easyfirst.errors import DataError, InputError, ModelError
from easyfirst.render.constituents import (
    LATEX_HEAD,
    draw_constituents,
    draw_constituents_latex,
    draw_constituents_svg,
)
from easyfirst.render.latex import TAIL
from easyfirst.render.svg import Theme
from easyfirst.treebank.sentence import Sentence

if TYPE_CHECKING:
    from rich.table import Table

    from easyfirst.parser import Parser


def is_brackets(name: str | None) -> bool:
    """Return whether the name of a file is one of brackets."""
    return by_suffix(name, BRACKET_SUFFIXES) is not None


def read_trees(
    names: Sequence[str], encoding: str | None = None, stripping: str | None = None
) -> Iterator[Constituents]:
    """Yield the trees of files, or of standard input, without what ``--strip`` names."""
    removed = () if stripping is None else read_stripping(stripping)
    files = Files(names, encoding)
    for name in files.names:
        with files.open(name) as lines:
            for whole in read_bracket_lines(lines, source_of(name)):
                if (tree := strip(whole, removed)) is not None:
                    yield tree


def check_constituency(parser: Parser, model: str) -> None:
    """Raise an error unless a model makes constituency trees."""
    if parser.config.constituency is None:
        raise ModelError(f"{model} makes dependency trees; for phrases, train a model with --constituency")


def parse_trees(
    parser: Parser, trees: Sequence[Constituents], threads: int, *, predicted_tags: bool
) -> list[Constituents]:
    """Parse the words of trees, with their tags or with predicted ones."""
    tags = (None if predicted_tags else tree.tags for tree in trees)
    sentences = [Sentence.from_words(tree.forms, xpos=found) for tree, found in zip(trees, tags, strict=True)]
    found = (parse.constituents for parse in parser.parse(sentences, threads=threads))
    return [tree for tree in found if tree is not None]


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How the trees to score are read and made."""

    encoding: str | None = None
    stripping: str | None = None
    predicted_tags: bool = False
    threads: int = 1


def score_trees(gold: str, system: str | None, model: str | None, options: TreeOptions) -> dict[str, ConstituentScores]:
    """Score the trees of a file, or those of a model, in both conventions."""
    encoding, stripping = options.encoding, options.stripping
    if model is None:
        wanted, found = (list(read_trees([name or ""], encoding, stripping)) for name in (gold, system))
    else:
        parser = load_model(model, warns=False)
        check_constituency(parser, model)
        if options.predicted_tags and parser.tagger is None:
            raise ModelError(f"{model} has no tagger to predict tags; leave out --predicted-tags")
        trained = parser.config.constituency
        stripping = stripping if stripping is not None else trained and trained.strip
        wanted = list(read_trees([gold], encoding, stripping))
        found = parse_trees(parser, wanted, options.threads, predicted_tags=options.predicted_tags)
    if not wanted:
        raise DataError("no trees to compare in this file", source=gold)
    return {"evalb": score_constituents(wanted, found), "all": score_constituents(wanted, found, ALL)}


def show_trees(scores: dict[str, ConstituentScores], *, as_json: bool, by_label: bool, by_length: bool) -> None:
    """Print the scores of phrases."""
    values = {name: found.to_dict() for name, found in scores.items()}
    if as_json:
        print(json.dumps(values, ensure_ascii=False, indent=2))
        return
    meanings = {"evalb": "as EVALB: without punctuation, TOP; PRT is ADVP", "all": "all words and phrases"}
    main = table("phrases", "precision %", "recall %", "F1 %", "gold", "system", "counted")
    for name, row in values.items():
        main.add_row(name, *_cells(row["phrases"]), meanings[name])
    first = values["evalb"]
    right = f"whole trees right: {first['exact']:.2f} %; tags right: {first['tags']:.2f} %"
    said = f"{first['sentences']:,} sentences; {right}"
    parts: list[Table | str] = [main, said]
    for title, key in (("label", "labels"), ("length", "lengths")):
        if by_label if key == "labels" else by_length:
            more = table(title, "precision %", "recall %", "F1 %", "gold", "system")
            for name, row in first[key].items():
                more.add_row(printable(name), *_cells(row))
            parts.append(more)
    print_tables(*parts)


def draw_trees(trees: Sequence[Constituents], target: str, theme: Theme) -> str:
    """Return pictures of trees in a format of ``render``."""
    if not trees:
        raise InputError("there is no such tree: the input has fewer; give --sentence a smaller number")
    if target == "terminal":
        return "".join(f"{draw_constituents(tree)}\n\n" for tree in trees)
    if target == "latex":
        return LATEX_HEAD + "".join(map(draw_constituents_latex, trees)) + TAIL
    if target != "svg":
        raise InputError(f"phrases cannot be drawn as {target}; use --to terminal, svg or latex")
    if len(trees) > 1:
        raise InputError("an SVG holds one tree and the input has several; pick one with --sentence N")
    return draw_constituents_svg(trees[0], theme=theme) + "\n"


def _cells(row: dict[str, float]) -> list[str]:
    return [*(f"{row[key]:.2f}" for key in ("precision", "recall", "f1")), f"{row['gold']:,}", f"{row['system']:,}"]
