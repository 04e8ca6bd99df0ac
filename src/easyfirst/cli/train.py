"""``easyfirst train``: a treebank in, a model directory out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from easyfirst.cli.completions import complete_list, complete_model
from easyfirst.cli.loading import require_torch, set_threads
from easyfirst.cli.options import ModelOutput, Parts, Preset, Quiet, Threads
from easyfirst.cli.reports import TrainingReport
from easyfirst.cli.train_settings import (
    constituency_settings,
    encoder_settings,
    part_settings,
    split_settings,
    unused_settings,
)
from easyfirst.counting import count
from easyfirst.errors import ConfigError
from easyfirst.model.bundled import find_model

if TYPE_CHECKING:
    from easyfirst.model.parser_config import ParserConfig
    from easyfirst.training.data import Job
    from easyfirst.training.pipeline import PipelineConfig


def train(
    treebank: Annotated[Path, Argument(metavar="TRAIN", help="The treebank to learn from, in CoNLL-U or in brackets.")],
    out: ModelOutput,
    dev: Annotated[
        Path | None, Option("--dev", metavar="FILE", help="Evaluate on this after each epoch and keep the best.")
    ] = None,
    no_dev: Annotated[
        bool, Option("--no-dev", help="Without --dev: learn from all of TRAIN instead of holding out a tenth.")
    ] = False,
    parts: Parts = "parser",
    preset: Preset = None,
    init: Annotated[
        str | None,
        Option(metavar="MODEL", help="Train the parser of this model further.", autocompletion=complete_model),
    ] = None,
    tags: Annotated[
        str | None,
        Option(
            help="The columns the parser reads beside words: none, upos, xpos, both, feats, upos+feats, xpos+feats or "
            "all. Default: upos; with a tagger all there are.",
            autocompletion=complete_list("none", "upos", "xpos", "both", "feats", "upos+feats", "xpos+feats", "all"),
        ),
    ] = None,
    gold_tags: Annotated[
        bool, Option("--gold-tags", help="With a tagger: train the parser on gold tags, not on predicted ones.")
    ] = False,
    embeddings: Annotated[
        Path | None, Option(metavar="FILE", help="Word vectors: word2vec or GloVe text, .gz, or .npz.")
    ] = None,
    max_embeddings: Annotated[
        int | None, Option(min=1, metavar="N", help="Take the first N vectors of the file only.")
    ] = None,
    embedding_bits: Annotated[
        int,
        Option(metavar="8|4", help="The bits per number of frozen vectors; with 4 the model is smaller."),
    ] = 8,
    freeze_embeddings: Annotated[
        bool, Option("--freeze-embeddings", help="Freeze the word vectors (always on with a tagger).")
    ] = False,
    encoder: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="A transformer that the parser reads: the directory of a Hugging Face model, which is fine-tuned. The "
            "preset is then strong, and no tags are read, unless --preset and --tags say otherwise.",
        ),
    ] = None,
    freeze_encoder: Annotated[
        bool, Option("--freeze-encoder", help="Leave the weights of the transformer as they are.")
    ] = False,
    device: Annotated[
        str, Option(metavar="NAME", help="Where the transformer is trained: cpu, or cuda for a GPU.")
    ] = "cpu",
    no_dynamic_oracle: Annotated[
        bool, Option("--no-dynamic-oracle", help="Follow correct actions only while training.")
    ] = False,
    projective: Annotated[
        bool,
        Option(
            "--projective",
            help="Build projective trees only, and skip training sentences with crossing arcs.",
        ),
    ] = False,
    constituency: Annotated[
        bool,
        Option("--constituency", help="Learn constituency trees: TRAIN and --dev are in Penn-style brackets."),
    ] = False,
    strip: Annotated[
        str | None,
        Option(
            metavar="WHAT",
            help="With --constituency, what to remove from the trees: traces, functions (as in NP-SBJ), both with a "
            "comma between, or none (the default).",
        ),
    ] = None,
    no_spaces: Annotated[
        bool, Option("--no-spaces", help="For the tokenizer: the treebank's language is written without spaces.")
    ] = False,
    text: Annotated[
        Path | None,
        Option(metavar="FILE", help="For the tokenizer: plain text, whose frequent words it learns."),
    ] = None,
    epochs: Annotated[
        int | None,
        Option(
            help="The parser's passes over the treebank. Default: 20; strong 12; pipeline 12, more for a small "
            "treebank, and fewer if dev stops improving."
        ),
    ] = None,
    seed: Annotated[int | None, Option(help="The same seed gives the same model (default 1).")] = None,
    folds: Annotated[int, Option(min=2, help="The number of jackknifing folds that predict the parser's tags.")] = 5,
    jobs: Annotated[int, Option(min=1, help="Folds to train at a time, each a process.")] = 1,
    processes: Annotated[
        int,
        Option(min=1, metavar="N", help="Train the parser with so many processes at once, one for each core."),
    ] = 1,
    setting: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other setting, e.g. network.tree_dim=100, tagger.epochs=10. Repeatable.",
        ),
    ] = None,
    licence: Annotated[str | None, Option(help="The model's licence, for its card.")] = None,
    resume: Annotated[bool, Option("--resume", help="Continue the run in DIR, or begin one.")] = False,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Train the parts again that are in DIR; other parts stay.")
    ] = False,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Train a parser, or a complete model from text to trees.

    \b
    Examples:
      easyfirst train train.conllu --dev dev.conllu --out my-model --parts all
      easyfirst train train.conllu --dev dev.conllu --out my-parser
      easyfirst train train.conllu --dev dev.conllu --out my-parser --resume
      easyfirst train train.conllu --dev dev.conllu --out my-parser --projective
      easyfirst train train.conllu --dev dev.conllu --out small --set network.tree_dim=100
      easyfirst train train.conllu --dev dev.conllu --out my-beam --init my-parser --preset beam
      easyfirst train trees.ptb --dev dev.ptb --out my-trees --constituency --strip traces,functions
      easyfirst train train.conllu --dev dev.conllu --out my-large-parser --encoder bert-base-cased --device cuda

    DIR can be used as a model after the parser's first epoch; until then, --overwrite leaves the old model in place.
    DIR/training/metrics.jsonl has a line for each epoch. With --resume, the same command continues a training that was
    interrupted at any time.
    A tokenizer and a tagger are trained before the parser, which then learns from predicted tags, even if DIR already
    has a tagger.
    """
    set_threads(threads)
    require_torch("training")
    from easyfirst.model.parser_config import NO_CROSSING
    from easyfirst.model.parser_config import preset as make_config

    tables = split_settings(setting or [])
    set_by_name = [f"{table}.{name}" for table, settings in tables.items() for name in settings]
    oracle, frozen = False if no_dynamic_oracle else None, freeze_embeddings or None
    options = {"use_dynamic_oracle": oracle, "freeze_external": frozen, "epochs": epochs, "seed": seed}
    for option, name, is_given in (
        ("--projective", "crossing", projective),
        ("--epochs", "min_updates", epochs is not None),
        ("--epochs", "patience", epochs is not None),
    ):
        if is_given and name in tables["training"]:
            raise ConfigError(f"{option} and --set training.{name} cannot be combined; choose one of them")
    if epochs is not None:  # exactly so many
        options |= {"min_updates": 0, "patience": 0}
    tables["training"] |= {"crossing": NO_CROSSING} if projective else {}
    tables["training"] |= {name: value for name, value in options.items() if value is not None}
    tables["network"] |= {} if tags is None else {"tags": tags}
    tuning = encoder_settings(tables["encoder"], is_given=encoder is not None, freeze=freeze_encoder, device=device)
    if tuning is not None:
        tables["network"] = {"tags": "none", **tables["network"]}  # a transformer hardly needs them
    trees = constituency_settings(tables["constituency"], strip, is_given=constituency)
    if trees is not None and not _has_tagger(parts, out):
        tables["network"] = {"tags": "xpos", **tables["network"]}  # the tags of brackets
    if seed is not None:
        tables |= {part: {"seed": seed, **tables[part]} for part in ("tagger", "tokenizer")}
    _check_embeddings(embeddings, freeze=freeze_embeddings, limit=max_embeddings, bits=embedding_bits)
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite cannot be combined; choose one of them")
    if no_dev and dev is not None:
        raise ConfigError("--no-dev and --dev cannot be combined; choose one of them")
    name = preset or ("strong" if tuning else "pipeline" if _has_tagger(parts, out) else "paper")
    config = make_config(name, network=tables["network"], training=tables["training"])
    _check_init(init, name, parts, changes_network=bool(tables["network"]), has_encoder=tuning is not None)
    config = replace(config, constituency=trees, encoder=tuning)

    from easyfirst.training.data import Job  # only after the settings are checked: PyTorch starts slowly

    job = Job(
        treebank,
        out,
        dev,
        embeddings,
        max_vectors=max_embeddings,
        vector_bits=embedding_bits,
        licence=licence,
        text=text,
        holds_out=not no_dev,
        init=None if init is None else find_model(init),
        constituency=trees,
        encoder=encoder,
        device=device,
    )
    pipeline = _pipeline(job, config, tables, parts, gold_tags=gold_tags, no_spaces=no_spaces)
    pipeline = replace(pipeline, folds=folds, jobs=jobs, processes=processes)
    with TrainingReport(is_quiet=quiet) as report:
        for name, part in unused_settings(set_by_name, pipeline):
            report.note(f"warning: --set {name} is for the {part}, which is not trained")
        _run(job, pipeline, report, resume=resume, overwrite=overwrite)


def _has_tagger(parts: str, out: Path) -> bool:
    """Return whether the model will have a tagger: it is trained now, or was before."""
    return parts == "all" or "tagger" in parts or (out / "tagger" / "config.json").is_file()


def _check_init(init: str | None, preset: str, parts: str, *, changes_network: bool, has_encoder: bool) -> None:
    if init is not None and has_encoder:
        raise ConfigError("--init and --encoder cannot be combined; choose one of them")
    if init is None and preset == "beam":
        raise ConfigError("the preset beam trains a parser further; name its model with --init")
    if init is not None and parts != "parser":
        raise ConfigError("--init is for the parser alone; leave out --parts")
    if init is not None and changes_network:
        raise ConfigError("--init keeps the network of the model; leave out --tags and --set network.*")


def _check_embeddings(path: Path | None, *, freeze: bool, limit: int | None, bits: int) -> None:
    given = {"--freeze-embeddings": freeze, "--max-embeddings": limit is not None, "--embedding-bits": bits != 8}
    for option, is_given in given.items():
        if is_given and path is None:
            raise ConfigError(f"{option} needs --embeddings")
    if bits not in (8, 4):
        raise ConfigError(f"--embedding-bits is 8 or 4, not {bits}")


def _pipeline(
    job: Job, config: ParserConfig, tables: dict[str, dict[str, Any]], parts: str, *, gold_tags: bool, no_spaces: bool
) -> PipelineConfig:
    """Return the parts to train and their settings, after checks that need to know the parts."""
    from easyfirst.training.pipeline import PipelineConfig
    from easyfirst.training.run_folders import PARTS

    named = PARTS if parts == "all" else tuple(part.strip() for part in parts.split(","))
    if not set(named) <= set(PARTS):
        raise ConfigError(f"--parts {parts}: choose from {', '.join(PARTS)}, or all")
    with_tagger = _has_tagger(parts, job.out)
    if job.vector_bits != 8 and not (with_tagger or config.training.freeze_external):
        raise ConfigError("--embedding-bits is for frozen vectors; add --freeze-embeddings")
    if gold_tags and not with_tagger:
        raise ConfigError("--gold-tags is for models with a tagger; without one, the parser learns from them anyway")
    if job.encoder is not None and "parser" not in named:
        raise ConfigError("--encoder is for the parser, which is not trained; leave it out, or name it in --parts")
    if no_spaces and "tokenizer" not in named:
        raise ConfigError("--no-spaces is for the tokenizer, which is not trained; leave it out, or name it in --parts")
    if job.text is not None and "tokenizer" not in named:
        raise ConfigError("--text is for the tokenizer, which is not trained; leave it out, or name it in --parts")
    return PipelineConfig(
        parts=named,
        parser=config,
        reads_all_tags=with_tagger and "tags" not in tables["network"],
        predicted_tags=with_tagger and not gold_tags,
        spaces="none" if no_spaces else "given",
        **part_settings("tagger", tables["tagger"]),
        **part_settings("tokenizer", tables["tokenizer"]),
    )


def _run(job: Job, pipeline: PipelineConfig, report: TrainingReport, *, resume: bool, overwrite: bool) -> None:
    """Train the parts, and report where the model is."""
    from easyfirst.training.checkpoint import FILE
    from easyfirst.training.pipeline import train_pipeline
    from easyfirst.training.run_folders import FOLDER

    out, parts = job.out, pipeline.parts
    try:
        histories = train_pipeline(job, pipeline, report, resume=resume, overwrite=overwrite)
    except KeyboardInterrupt:
        has_epoch = any((out / FOLDER).rglob(FILE))
        hint = f"continue with --resume (finished epochs are in {out})" if has_epoch else "no epoch was finished"
        report.note(f"stopped; {hint}")
        raise
    if "parser" in histories and not report.has_trained_parser:
        report.note(f"already trained for {count(len(histories['parser']), 'epoch')}; raise --epochs to continue")
    if not (out / "config.json").is_file():
        there = [part for part in ("tokenizer", "tagger") if (out / part / "config.json").is_file()]
        places = ", ".join(f"the {part} is in {out / part}" for part in there)
        report.note(f"{places}; a parser is still missing")
        return
    report.note(f"the model is in {out}")
    if "tagger" in parts and "parser" not in parts:
        report.note(
            "the scores and the confidence of its parser are from before this tagger; to calibrate it again: "
            f"easyfirst calibrate {out} DEV --predicted-tags"
        )
