"""``easyfirst calibrate``: lets a model say how sure it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from easyfirst.cli.inputs import STANDARD, STDIN, open_input, warn_of_name
from easyfirst.cli.threads import set_threads
from easyfirst.errors import DataError, ModelError
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_tree

if TYPE_CHECKING:
    from easyfirst.parser import Parser
    from easyfirst.results.parses import Parse

FEW_SENTENCES = 200


def calibrate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's directory.", show_default=False)],
    dev: Annotated[str, typer.Argument(metavar="DEV", help="CoNLL-U with right trees that it has not learnt from.")],
    predicted_tags: Annotated[
        bool,
        typer.Option("--predicted-tags", help="Let it predict the tags it reads: right for a model that reads text."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON.")] = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of the linear algebra; default (and best): 1, or OMP_NUM_THREADS."),
    ] = None,
) -> None:
    """Fit the probabilities of a model's arcs, labels and trees, and store them in it (confidence.json).

    Training with --dev does this by itself. The model's weights do not change. Its card gets a table that says
    how far the probabilities can be trusted. Of a bundled model, take a copy.

    \b
    Examples:
      easyfirst calibrate my-model dev.conllu
      easyfirst calibrate my-model dev.conllu --predicted-tags
      easyfirst pack en --out my-en && easyfirst calibrate my-en dev.conllu --predicted-tags
    """
    set_threads(threads)
    warn_of_name(model)

    from easyfirst.model.bundled import bundled_models, find_model

    if model in bundled_models():
        raise ModelError(
            f"{model} is a part of the installed package, which stays as it is; copy it with 'easyfirst pack {model} "
            f"--out my-{model}' and calibrate my-{model}"
        )
    gold = read_gold(dev)

    from easyfirst.confidence.fitting import calibrate as fit
    from easyfirst.confidence.reliability import to_markdown
    from easyfirst.model.calibration_card import store_calibration
    from easyfirst.parser import load

    path = find_model(model)
    parses = parse_gold(load(path), gold, model, predicted_tags=predicted_tags)
    calibration, reliability = fit(parses, gold, file=dev, tags="predicted" if predicted_tags else "given")
    store_calibration(path, calibration, reliability)
    if as_json:
        print(json.dumps(reliability and reliability.to_dict(), indent=2))
    elif reliability is not None:
        print("\n".join(to_markdown(reliability)))
    print(f"the calibration is in {path}", file=sys.stderr)


def read_gold(dev: str) -> list[Sentence]:
    """Sentences with trees, of which some have two words or more."""
    with open_input(dev) as stream:
        gold = list(ConlluReader(stream, STDIN if dev == STANDARD else dev))
    for sentence in gold:
        check_tree(sentence)
    if all(len(sentence) == 1 for sentence in gold):
        raise DataError("no sentences of two words or more to calibrate with", source=dev)
    return gold


def parse_gold(parser: Parser, gold: Sequence[Sentence], name: str, *, predicted_tags: bool) -> list[Parse]:
    """What a model makes of sentences that it is to be calibrated with; warns if they are not what they should be."""
    from easyfirst.text.tagging import without_tags

    if len(gold) < FEW_SENTENCES:
        print(f"warning: {len(gold)} sentences are few: the probabilities will be rough", file=sys.stderr)
    if parser.tagger is not None and not predicted_tags:
        print("warning: the model predicts tags for text; --predicted-tags calibrates it for that", file=sys.stderr)
    return parser.parse(without_tags(gold, parser.tagger, name) if predicted_tags else gold)
