"""``easyfirst calibrate``: fits the confidence of a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from easyfirst.cli.loading import parser_threads, warn_of_name
from easyfirst.cli.messages import say
from easyfirst.cli.options import Encoding, ModelDirectory, ParserThreads
from easyfirst.cli.sources import read_conllu
from easyfirst.errors import DataError, ModelError
from easyfirst.model.bundled import find_known, find_model
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_tree

if TYPE_CHECKING:
    from easyfirst.confidence.calibration import Calibration
    from easyfirst.confidence.reliability import ReliabilityReport
    from easyfirst.parser import Parser
    from easyfirst.results.parses import Parse

FEW_SENTENCES = 200


def calibrate(
    model: ModelDirectory,
    dev: Annotated[str, Argument(metavar="DEV", help="CoNLL-U with gold trees that were not in its training data.")],
    predicted_tags: Annotated[
        bool,
        Option("--predicted-tags", help="Predict the tags that the parser reads: best for a model that reads text."),
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print the figures as JSON.")] = False,
    encoding: Encoding = None,
    threads: ParserThreads = None,
) -> None:
    """Fit the confidence of a model's arcs, labels and trees, and the probabilities of the trees that --beam finds.

    It is stored in the model (confidence.json). Training with --dev does this too. The model's weights do not change.
    Its card gets a table that shows how well the confidence is calibrated. To calibrate a bundled or installed model,
    copy it first.

    \b
    Examples:
      easyfirst calibrate my-model dev.conllu
      easyfirst calibrate my-model dev.conllu --predicted-tags
      easyfirst pack en --out my-en && easyfirst calibrate my-en dev.conllu --predicted-tags
    """
    n_threads = parser_threads(threads)
    warn_of_name(model)
    if known := find_known(model):
        raise ModelError(
            f"{model} is part of the installed package {known.package} and cannot be changed; copy it with 'easyfirst "
            f"pack {model} --out my-{model}' and calibrate my-{model}"
        )
    gold = read_gold(dev, encoding)

    from easyfirst.confidence.reliability import to_markdown
    from easyfirst.model.card_updates import store_calibration
    from easyfirst.parser import load

    path = find_model(model)
    parser = load(path, valid=False)
    _, calibration, reliability = fit_gold(parser, gold, dev, model, n_threads, predicted_tags=predicted_tags)
    if not parser.is_as_opened:
        raise ModelError(f"{model} was replaced while it was calibrated; calibrate it again")
    store_calibration(path, calibration, reliability)
    if as_json:
        print(json.dumps(reliability and reliability.to_dict(), indent=2))
    elif reliability is not None:
        print("\n".join(to_markdown(reliability)))
    say(f"the calibration is in {path}")


def read_gold(dev: str, encoding: str | None) -> list[Sentence]:
    """Read sentences with trees, of which some have two words or more."""
    gold = list(read_conllu(dev, encoding))
    for sentence in gold:
        check_tree(sentence)
    if all(len(sentence) == 1 for sentence in gold):
        raise DataError("no sentences of two words or more to calibrate with", source=dev)
    return gold


def fit_gold(
    parser: Parser, gold: Sequence[Sentence], file: str, name: str, threads: int, *, predicted_tags: bool
) -> tuple[list[Parse], Calibration, ReliabilityReport | None]:
    """Parse the sentences to calibrate a model with, greedily and with a beam. Return the greedy parses, the
    calibration and its reliability; warn if the sentences are few, or have other tags than the model will see."""
    from easyfirst.confidence.fitting import calibrate as fit
    from easyfirst.confidence.tree_lists import FITTED_WIDTH, TreeList, with_beam
    from easyfirst.text.tagging import without_tags

    if len(gold) < FEW_SENTENCES:
        say(f"warning: {len(gold)} sentences are few: the confidence will be rough")
    if parser.tagger is not None and not predicted_tags:
        say("warning: the model predicts tags for text; use --predicted-tags to calibrate it for that")
    given = list(without_tags(gold, parser.tagger, name)) if predicted_tags else gold
    parses = parser.parse(given, threads=threads)
    calibration, reliability = fit(parses, gold, file=file, tags="predicted" if predicted_tags else "given")
    found: list[TreeList] = []
    for parse, tree in zip(
        parser.parse(given, threads=threads, beam=FITTED_WIDTH, n_best=FITTED_WIDTH), gold, strict=True
    ):
        if None not in tree.heads:
            scores = [each.ranking.score for each in parse.n_best if each.ranking is not None]
            found.append(TreeList.of(parse.n_best, scores, tree, calibration))
    return parses, with_beam(calibration, found), reliability
