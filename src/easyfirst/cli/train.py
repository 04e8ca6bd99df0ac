"""``easyfirst train``: a treebank in, a model directory out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from easyfirst.cli.extras import require_torch
from easyfirst.cli.reports import TrainingReport
from easyfirst.cli.threads import set_threads
from easyfirst.errors import ConfigError

TABLES = ("network", "training", "tagger", "tokenizer")
ALL = "all"


def train(
    treebank: Annotated[Path, typer.Argument(metavar="TRAIN", help="The treebank to learn from, in CoNLL-U.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the model goes.")],
    dev: Annotated[
        Path | None, typer.Option("--dev", metavar="FILE", help="Evaluate on this after each epoch and keep the best.")
    ] = None,
    parts: Annotated[
        str,
        typer.Option(
            help="What to train: parser, tagger, tokenizer, several with commas between, or all: text to trees."
        ),
    ] = "parser",
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A row of the paper's tables: bottom-up, htlstm or paper; or strong, which goes past it.",
        ),
    ] = "paper",
    tags: Annotated[
        str | None,
        typer.Option(
            help="The tags the parser reads: upos, xpos, both or none. Default: upos; with a tagger all there are."
        ),
    ] = None,
    gold_tags: Annotated[
        bool,
        typer.Option("--gold-tags", help="With a tagger: let the parser learn from the treebank's tags all the same."),
    ] = False,
    embeddings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Word vectors: word2vec or GloVe text, .gz, or .npz.")
    ] = None,
    max_embeddings: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Take the first N vectors of the file only.")
    ] = None,
    embedding_bits: Annotated[
        int,
        typer.Option(
            metavar="8|4", help="Of each number of vectors that are not trained further; with 4 the model is smaller."
        ),
    ] = 8,
    freeze_embeddings: Annotated[
        bool, typer.Option("--freeze-embeddings", help="Do not train these further (always so with a tagger).")
    ] = False,
    no_dynamic_oracle: Annotated[
        bool, typer.Option("--no-dynamic-oracle", help="Follow correct actions only while training.")
    ] = False,
    no_spaces: Annotated[
        bool,
        typer.Option("--no-spaces", help="For the tokenizer: the treebank's language is written without spaces."),
    ] = False,
    epochs: Annotated[
        int | None,
        typer.Option(help="The parser's passes over the treebank (default 20; strong: 12).", show_default=False),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same model (default 1).")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Of the jackknifing that predicts the parser's tags.")] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="Folds to train at a time, each a process.")] = 1,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other setting, e.g. network.tree_dim=100, tagger.epochs=10. Repeatable.",
        ),
    ] = None,
    licence: Annotated[str | None, typer.Option(help="The model's licence, for its card.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in DIR where it stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in DIR.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute with; default (and best): 1, or OMP_NUM_THREADS.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no report.")] = False,
) -> None:
    """Train a parser on a treebank, or all that is needed to go from text to trees.

    \b
      easyfirst train train.conllu --dev dev.conllu --out my-model --parts all
      easyfirst train train.conllu --dev dev.conllu --out my-parser
      easyfirst train train.conllu --dev dev.conllu --out my-parser --resume
      easyfirst train train.conllu --dev dev.conllu --out small --set network.tree_dim=100

    DIR can be used as a model after the parser's first epoch. DIR/training/metrics.jsonl has a line for each epoch.
    A tokenizer and a tagger are trained before the parser, which then learns from predicted tags, also if the tagger
    has been in DIR before.
    """
    set_threads(threads)
    require_torch("training")
    from easyfirst.model.parser_config import preset as make_config

    tables = _split_settings(setting or [])
    set_by_name = [f"{table}.{name}" for table, settings in tables.items() for name in settings]
    tables["training"] |= {"use_dynamic_oracle": False} if no_dynamic_oracle else {}
    tables["training"] |= {"freeze_external": True} if freeze_embeddings else {}
    tables["training"] |= {name: value for name, value in (("epochs", epochs), ("seed", seed)) if value is not None}
    tables["network"] |= {"tags": tags} if tags is not None else {}
    if freeze_embeddings and embeddings is None:
        raise ConfigError("--freeze-embeddings needs --embeddings")
    if max_embeddings is not None and embeddings is None:
        raise ConfigError("--max-embeddings needs --embeddings")
    if embedding_bits != 8 and embeddings is None:
        raise ConfigError("--embedding-bits needs --embeddings")
    if embedding_bits not in (8, 4):
        raise ConfigError(f"--embedding-bits is 8 or 4, not {embedding_bits}")
    if resume and overwrite:
        raise ConfigError("--resume goes on with a run and --overwrite replaces it; choose one of them")
    config = make_config(preset, network=tables["network"], training=tables["training"])

    from easyfirst.training.data import Job  # only after the settings are checked: PyTorch starts slowly
    from easyfirst.training.pipeline import PARTS, PipelineConfig, train_pipeline

    named = PARTS if parts == ALL else tuple(part.strip() for part in parts.split(","))
    with_tagger = "tagger" in named or (out / "tagger" / "config.json").is_file()
    if embedding_bits != 8 and not (with_tagger or config.training.freeze_external):
        raise ConfigError("--embedding-bits is for vectors that are not trained further: add --freeze-embeddings")
    if gold_tags and not with_tagger:
        raise ConfigError("--gold-tags is for models with a tagger; without one, the parser learns from them anyway")
    if no_spaces and "tokenizer" not in named:
        raise ConfigError("--no-spaces is for the tokenizer, which is not trained; leave it out, or name it in --parts")
    pipeline = PipelineConfig(
        parts=named,
        parser=config,
        reads_all_tags=with_tagger and "tags" not in tables["network"],
        predicted_tags=with_tagger and not gold_tags,
        spaces="none" if no_spaces else "given",
        folds=folds,
        jobs=jobs,
        **_part_settings(tables["tagger"], tables["tokenizer"], seed),
    )
    job = Job(
        train=treebank,
        out=out,
        dev=dev,
        vectors=embeddings,
        max_vectors=max_embeddings,
        vector_bits=embedding_bits,
        licence=licence,
    )
    with TrainingReport(is_quiet=quiet) as report:
        for name, part in _unused(set_by_name, named, jackknifes=with_tagger and not gold_tags):
            report.note(f"warning: --set {name} is for the {part}, which is not trained")
        try:
            histories = train_pipeline(job, pipeline, report, resume=resume, overwrite=overwrite)
        except KeyboardInterrupt:
            report.note(f"stopped; {_hint(out)}")
            raise
        if "parser" in histories and not report.has_trained_parser:
            report.note(f"nothing to do after epoch {len(histories['parser'])}; ask for more with --epochs")
        report.note(_result(out))
        if "tagger" in named and "parser" not in named and (out / "config.json").is_file():
            report.note(
                "the scores and the confidence of its parser are from before this tagger; to calibrate it again: "
                f"easyfirst calibrate {out} DEV --predicted-tags"
            )


def _unused(names: Iterable[str], parts: Sequence[str], *, jackknifes: bool) -> Iterator[tuple[str, str]]:
    """Yield the settings that have no effect, each with its part. Jackknifing uses the tagger's settings too."""
    for name in names:
        table = name.partition(".")[0]
        part = table if table in ("tagger", "tokenizer") else "parser"
        if part not in parts and not (part == "tagger" and jackknifes and "parser" in parts):
            yield name, part


def _result(out: Path) -> str:
    """Return where the model is, or which parts exist so far."""
    if (out / "config.json").is_file():
        return f"the model is in {out}"
    there = [part for part in ("tokenizer", "tagger") if (out / part / "config.json").is_file()]
    return f"{', '.join(f'the {part} is in {out / part}' for part in there)}; a parser is still missing"


def _hint(out: Path) -> str:
    from easyfirst.training.checkpoint import FILE
    from easyfirst.training.pipeline import FOLDER

    if any((out / FOLDER).rglob(FILE)):
        return f"continue with --resume (finished epochs are in {out})"
    return "no epoch was finished"


def _part_settings(tagger: dict[str, Any], tokenizer: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """Return the settings of tagger and tokenizer, split into those of the network and those of the training."""
    from easyfirst.model.settings import build_settings
    from easyfirst.training.pipeline import PipelineConfig

    default = PipelineConfig()
    found: dict[str, Any] = {}
    for part, given in (("tagger", tagger), ("tokenizer", tokenizer)):
        network, training = getattr(default, part), getattr(default, f"{part}_training")
        of_network = {name: value for name, value in given.items() if hasattr(network, name)}
        of_training = {name: value for name, value in given.items() if name not in of_network}
        for name in of_training:
            if not hasattr(training, name):
                there = [field.name for settings in (network, training) for field in fields(settings)]
                raise ConfigError(f"unknown setting {part}.{name}; there are: {', '.join(there)}")
        of_training |= {"seed": seed} if seed is not None and "seed" not in of_training else {}
        found[part] = build_settings(network, of_network, f"{part}.")
        found[f"{part}_training"] = build_settings(training, of_training, f"{part}.")
    return found


def _split_settings(settings: list[str]) -> dict[str, dict[str, Any]]:
    """Return ``network.x=1`` and ``training.y=0.5`` as tables."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for setting in settings:
        key, equals, text = setting.partition("=")
        table, dot, name = key.partition(".")
        if not (equals and dot and table in tables):
            raise ConfigError(f"--set {setting}: write it as TABLE.KEY=VALUE, where TABLE is {' or '.join(TABLES)}")
        try:
            tables[table][name] = json.loads(text)
        except ValueError:
            tables[table][name] = text
    return tables
