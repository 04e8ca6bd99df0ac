"""``easyfirst combine`` and ``easyfirst pack``: an ensemble of several parsers, and a smaller copy of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from easyfirst.cli.calibrate import fit_gold, read_gold
from easyfirst.cli.completions import complete_model
from easyfirst.cli.info import model_size
from easyfirst.cli.loading import load_model, parser_threads, set_threads, warn_of_name
from easyfirst.cli.messages import say
from easyfirst.cli.options import Encoding, ModelDirectory, ModelOutput, Overwrite, ParserThreads
from easyfirst.cli.outputs import check_model_output
from easyfirst.errors import ModelError
from easyfirst.model.bundled import find_model

if TYPE_CHECKING:
    from easyfirst.confidence.calibration import Calibration
    from easyfirst.confidence.reliability import ReliabilityReport
    from easyfirst.model.parser_store import ParserModel
    from easyfirst.results.parses import Parse
    from easyfirst.treebank.sentence import Sentence


def combine(
    models: Annotated[
        list[str],
        Argument(metavar="MODEL MODEL...", help="Two or more model directories.", autocompletion=complete_model),
    ],
    out: ModelOutput,
    dev: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="CoNLL-U with gold trees that were not in their training data, to score and calibrate with.",
        ),
    ] = None,
    predicted_tags: Annotated[
        bool, Option("--predicted-tags", help="With --dev: predict the tags that the parser reads, as for raw text.")
    ] = False,
    encoding: Encoding = None,
    overwrite: Overwrite = False,
    threads: ParserThreads = None,
) -> None:
    """Make an ensemble of parsers of the same treebank. It is more accurate than its members, and as slow as all of
    them together.

    Train the members with the same settings and different seeds (--seed). The ensemble decides each attachment by the
    mean of their scores. Their taggers become an ensemble too; the tokenizer is that of the first member that has one.
    'easyfirst pack' makes the result smaller.

    \b
    Examples:
      easyfirst train train.conllu --dev dev.conllu --out my-1 --seed 1
      easyfirst train train.conllu --dev dev.conllu --out my-2 --seed 2
      easyfirst combine my-1 my-2 --out my-model --dev dev.conllu
    """
    if predicted_tags and dev is None:
        raise BadParameter("goes with --dev", param_hint="--predicted-tags")
    n_threads = parser_threads(threads)
    for name in models:
        warn_of_name(name)
    check_model_output(out, overwrite=overwrite)
    gold = None if dev is None else read_gold(dev, encoding)

    from easyfirst.parser import Parser
    from easyfirst.parser import combine as combine_parsers

    if out.exists() and any(out.samefile(find_model(name)) for name in models):
        raise ModelError(f"{out}: is one of the members of the ensemble; choose another --out")

    parser = combine_parsers(*models, valid=False)
    if dev is not None and gold is not None:
        fitted = fit_gold(parser, gold, dev, models[0], n_threads, predicted_tags=predicted_tags)
        tags = "predicted" if predicted_tags else "given"
        model = _judged(parser.model, gold, *fitted, f"{Path(dev).name}, tags {tags}")
        parser = Parser(model, tokenizer=parser.tokenizer, tagger=parser.tagger, valid=False)
    parser.save(out)
    members, size = parser.config.members, model_size(out)
    say(f"the model is in {out}: {members} members, {size / 1e6:.1f} MB")
    if dev is None:
        tags = " --predicted-tags" if parser.tagger is not None else ""
        say(f"its confidence is not calibrated; 'easyfirst calibrate {out} DEV{tags}' does that")


def pack(
    model: ModelDirectory,
    out: ModelOutput,
    bits: Annotated[int, Option("--bits", metavar="8|16|32", help="The size of each weight.")] = 16,
    overwrite: Overwrite = False,
) -> None:
    """Copy a model without its training run. Weights of 16 bits make it half as large, weights of 8 bits a quarter.

    \b
    Examples:
      easyfirst pack my-model --out my-model-small
      easyfirst pack my-model --out my-model-smaller --bits 8
    """
    set_threads(None)
    check_model_output(out, overwrite=overwrite)
    load_model(model).save(out, bits=bits)
    size, before = model_size(out), model_size(find_model(model))
    say(f"the model is in {out}: {size / 1e6:.1f} MB (before: {before / 1e6:.1f} MB)")


def _judged(
    model: ParserModel,
    gold: Sequence[Sentence],
    parses: Sequence[Parse],
    calibration: Calibration,
    reliability: ReliabilityReport | None,
    data: str,
) -> ParserModel:
    """Return a model with a calibration, and with the scores of its parses of the dev data in its card."""
    from easyfirst.model.card import with_scores
    from easyfirst.model.card_updates import with_reliability
    from easyfirst.treebank.scores import score

    scores = score(gold, (right.with_tree(p.heads, p.relations) for right, p in zip(gold, parses, strict=True)))
    say(f"dev: UAS {scores.full.uas:.2f}, LAS {scores.full.las:.2f} (all words, full relations)")
    card = with_reliability(model.card, calibration, reliability)
    return replace(model, calibration=calibration, card=with_scores(card, scores, data))
