"""All parts of a model from one treebank: a tokenizer, a tagger, and a parser that learns from predicted tags.

The parser's training sentences are tagged by jackknifing and its dev sentences by the tagger, so that it meets in
training what it will meet when it parses. External vectors are shared by tagger and parser, so they are not trained
on. Every part is resumable for itself: ``training/<part>`` has its checkpoint and metrics.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model.directory import CARD, CONFIDENCE, CONFIG, VOCABULARY, WEIGHTS, from_json
from easyfirst.model.parser_config import TAGS, ParserConfig
from easyfirst.model.part import TAGGER, TOKENIZER, VECTORS
from easyfirst.model.shared_vectors import save_shared_vectors
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import join_taggers, load_tagger, save_tagger
from easyfirst.model.tokenizer_config import TokenizerConfig, TokenizerTraining
from easyfirst.text.tagging import Tagger
from easyfirst.training import supervised, trainer
from easyfirst.training.checkpoint import FILE as CHECKPOINT
from easyfirst.training.checkpoint import has_checkpoint, load_checkpoint
from easyfirst.training.data import Treebank
from easyfirst.training.jackknife import FoldReporter, check_folds, forget_folds, has_folds, jackknife
from easyfirst.training.lock import sole_training
from easyfirst.training.material import Job, Material, check_parser_data
from easyfirst.training.tagger_task import TaggerTask, accuracies
from easyfirst.training.tokenizer_task import TokenizerTask
from easyfirst.treebank.sentence import Sentence

PARSER = "parser"
PARTS = (TOKENIZER, TAGGER, PARSER)
"""In the order they are trained."""
JACKKNIFE = "jackknife"
MEMBER = "member-"
"""The folder of a tagger's run has those of its other members in it, from ``member-2`` on."""


@dataclass(frozen=True, slots=True)
class PipelineConfig:
    """Which parts are trained, and how."""

    parts: tuple[str, ...] = PARTS
    parser: ParserConfig = field(default_factory=ParserConfig)
    reads_all_tags: bool = False
    """The parser reads all kinds of tags that the treebank has, whatever its own settings say."""
    predicted_tags: bool = True
    """The parser learns from predicted tags; False: from those of the treebank."""
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    tokenizer_learning: TokenizerTraining = field(default_factory=TokenizerTraining)
    spaces: str = "given"
    """``none``: the treebank says nothing of white space because its language is written without."""
    tagger: TaggerConfig = field(default_factory=TaggerConfig)
    tagger_learning: TaggerTraining = field(default_factory=TaggerTraining)
    folds: int = 5
    """Of the jackknifing."""
    jobs: int = 1
    """Folds that are trained at a time."""

    def __post_init__(self) -> None:
        if not self.parts or any(part not in PARTS for part in self.parts):
            raise ConfigError(f"parts must be some of {', '.join(PARTS)}")


class Reporter(trainer.Reporter, Protocol):
    """Is told how training goes: of the parser as ever, of each other part by a reporter of its own."""

    def part(self, name: str, n_epochs: int) -> FoldReporter:
        """A part begins: ``tokenizer``, ``tagger`` (or ``tagger 1 of 2``) or ``jackknife``."""
        ...

    def members_joined(self, n_members: int, accuracy: Mapping[str, float]) -> None:
        """A tagger of several members is complete, and tags the dev sentences this well."""
        ...


def train_pipeline(
    job: Job, config: PipelineConfig, reporter: Reporter, *, resume: bool = False, overwrite: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Train the parts; for each the metrics of every epoch. Parts that are not named stay as they are."""
    if not resume and not overwrite:
        _refuse_to_overwrite(job.out, config.parts)
    if resume and not any(_has_run(job.out, part) for part in config.parts):
        raise ModelError(f"{job.out}: no checkpoint to resume from; start without --resume")
    shares = TAGGER in config.parts or _settings_file(job.out, TAGGER).is_file()
    material = Material.read(
        job,
        freeze_external=shares or config.parser.training.freeze_external,
        needs_trees=PARSER in config.parts,
    )
    parser = _parser_config(config, material)
    predicts_tags = PARSER in config.parts and config.predicted_tags and bool(parser.network.tag_kinds)
    _check(job.out, config, parser, material, predicts_tags=predicts_tags)
    with sole_training(job.out):
        if not resume and not overwrite:  # there may have been another training since
            _refuse_to_overwrite(job.out, config.parts)
        if not resume:
            _forget(job.out, config.parts)
        if set(config.parts) != {PARSER} and material.shared_vectors is not None:
            save_shared_vectors(job.out / VECTORS, material.shared_vectors)
        return _train_parts(job, config, reporter, material, parser, predicts_tags=predicts_tags, resume=resume)


def _train_parts(
    job: Job,
    config: PipelineConfig,
    reporter: Reporter,
    material: Material,
    parser: ParserConfig,
    *,
    predicts_tags: bool,
    resume: bool,
) -> dict[str, list[dict[str, Any]]]:
    """One after the other; for each the metrics of every epoch."""
    histories: dict[str, list[dict[str, Any]]] = {}
    if TOKENIZER in config.parts:
        histories[TOKENIZER] = _train_tokenizer(job, config, reporter, material, resume=resume)
    if TAGGER in config.parts:
        histories[TAGGER] = _train_tagger(job, config, reporter, material, resume=resume)
    if PARSER in config.parts:
        if predicts_tags:
            material = _tag(job, config, reporter, material, resume=resume)
        is_resumed = resume and has_checkpoint(_folder(job.out, PARSER))
        checkpoint = load_checkpoint(_folder(job.out, PARSER)) if is_resumed else None
        histories[PARSER] = trainer.train_parser(job, parser, reporter, material, checkpoint=checkpoint)
    return histories


def _folder(out: Path, part: str) -> Path:
    """Where the run of a part is."""
    return out / trainer.FOLDER if part == PARSER else out / trainer.FOLDER / part


def _has_run(out: Path, part: str) -> bool:
    """Whether there is something of a part's run to go on with; a parser's may begin with the jackknifing."""
    return has_checkpoint(_folder(out, part)) or (part == PARSER and has_folds(_folder(out, JACKKNIFE)))


def _settings_file(out: Path, part: str) -> Path:
    return out / CONFIG if part == PARSER else out / part / CONFIG


def _check(out: Path, config: PipelineConfig, parser: ParserConfig, material: Material, *, predicts_tags: bool) -> None:
    """Whatever can be seen to be wrong before the first part takes its time."""
    _refuse_other_vectors(out, config.parts, material)
    if PARSER in config.parts:
        check_parser_data(material, parser, predicts_tags=predicts_tags)
    if TAGGER in config.parts and not material.train.tag_kinds:
        raise DataError("no UPOS or XPOS tags for a tagger to learn; fill in a column", source=material.train.path)
    if predicts_tags:
        check_folds(config.folds, len(material.train.sentences))
        if TAGGER not in config.parts:
            _check_tagger(out, parser, material)


def _check_tagger(out: Path, parser: ParserConfig, material: Material) -> None:
    """That the tagger which is there can predict the parser's tags."""
    if not _settings_file(out, TAGGER).is_file():
        raise ModelError(f"{out} has no tagger to predict tags; train one too, or learn from the treebank's tags")
    kinds = load_tagger(out / TAGGER, material.shared_vectors).vocabulary.kinds
    for kind in parser.network.tag_kinds:
        if kind not in kinds:
            raise ModelError(
                f"{out / TAGGER} predicts no {kind.upper()} tags; choose --tags {' or '.join(kinds)}, or train it again"
            )


def _refuse_other_vectors(out: Path, parts: Sequence[str], material: Material) -> None:
    """A model has one set of shared vectors: parts that stay must have been trained with those that are given now."""
    shared = material.shared_vectors
    given = shared.sha256 if shared is not None else None
    if given is None and set(parts) == {TOKENIZER}:  # which reads none, and leaves those that are there
        return
    for part in (TAGGER, PARSER):
        path = _settings_file(out, part)
        if part in parts or not path.is_file():
            continue
        needed = from_json(path.read_bytes(), path).get("vectors")
        if needed is not None and needed != given:
            raise ModelError(
                f"{out}: its {part} was trained with {'word' if given is None else 'other word'} vectors, which all "
                f"parts share; give the same --embeddings, or train the {part} too (--parts {','.join([*parts, part])})"
            )


def _forget(out: Path, parts: Sequence[str]) -> None:
    """Do away with old runs of all parts now: if this one is killed, none of theirs is resumed."""
    if not out.is_dir():
        return
    try:
        for part in parts:
            folder = _folder(out, part)
            for path in (folder / CHECKPOINT, *folder.glob(f"{MEMBER}*/{CHECKPOINT}")):
                path.unlink(missing_ok=True)
        if PARSER in parts or TAGGER in parts:
            forget_folds(_folder(out, JACKKNIFE))
    except OSError as error:
        raise ModelError(f"{out / trainer.FOLDER} cannot be written: {error.strerror or error}") from error


def _refuse_to_overwrite(out: Path, parts: Sequence[str]) -> None:
    for part in parts:
        if _has_run(out, part):
            raise ModelError(f"{out}: a training run is there; go on with --resume, or start anew with --overwrite")
        if _settings_file(out, part).exists():
            raise ModelError(f"{out}: exists already, with a {part}; choose another --out, or use --overwrite")
    if out.is_dir() and any(_is_foreign(path.relative_to(out)) for path in out.rglob("*") if not path.is_dir()):
        raise ModelError(f"{out}: exists already; choose another --out, or use --overwrite")


def _is_foreign(path: Path) -> bool:
    """Neither of a part nor what a run leaves behind that was killed in its first epoch."""
    ours = (CONFIG, VOCABULARY, WEIGHTS, CARD, CONFIDENCE, TOKENIZER, TAGGER, VECTORS, trainer.FOLDER)
    return path.parts[0] not in ours and path.suffix != ".tmp"


def _train_tokenizer(
    job: Job, config: PipelineConfig, reporter: Reporter, material: Material, *, resume: bool
) -> list[dict[str, Any]]:
    learning = config.tokenizer_learning
    task = TokenizerTask(
        job.out / TOKENIZER,
        material.train.sentences,
        material.dev.sentences if material.dev else None,
        network=config.tokenizer,
        spaces=config.spaces,
        seed=learning.seed,
    )
    fingerprint = {**material.fingerprint, TOKENIZER: asdict(config.tokenizer), "spaces": config.spaces}
    folder, listener = _folder(job.out, TOKENIZER), reporter.part(TOKENIZER, learning.epochs)
    is_resumed = resume and has_checkpoint(folder)
    return supervised.learn(task, learning, folder, listener, resume=is_resumed, fingerprint=fingerprint)


def _train_tagger(
    job: Job, config: PipelineConfig, reporter: Reporter, material: Material, *, resume: bool
) -> list[dict[str, Any]]:
    """Each member is a run of its own, with a seed of its own; the epochs of one follow those of the other."""
    n_members, dev, vectors = config.tagger.members, material.dev, material.shared_vectors
    folder = _folder(job.out, TAGGER)
    folders = [folder, *(folder / f"{MEMBER}{number}" for number in range(2, n_members + 1))]
    history: list[dict[str, Any]] = []
    for number, run in enumerate(folders, start=1):
        learning = replace(config.tagger_learning, seed=config.tagger_learning.seed + number - 1)
        task = TaggerTask(
            material.train.sentences,
            config.tagger,
            learning,
            dev=dev.sentences if dev else None,
            vectors=vectors,
            out=job.out / TAGGER if n_members == 1 else run / TAGGER,
        )
        history += supervised.learn(
            task,
            learning,
            run,
            reporter.part(TAGGER if n_members == 1 else f"{TAGGER} {number} of {n_members}", learning.epochs),
            resume=resume and has_checkpoint(run),
            fingerprint={**material.fingerprint, TAGGER: asdict(config.tagger)},
        )
    if n_members > 1:
        model = join_taggers([load_tagger(run / TAGGER, vectors) for run in folders])
        save_tagger(job.out / TAGGER, model)
        if dev is not None:
            predicted = Tagger(model).predict([sentence.forms for sentence in dev.sentences])
            reporter.members_joined(n_members, accuracies(dev.sentences, predicted))
    return history


def _tag(job: Job, config: PipelineConfig, reporter: Reporter, material: Material, *, resume: bool) -> Material:
    """The material with predicted tags."""
    tagger = Tagger(load_tagger(job.out / TAGGER, material.shared_vectors))
    learning = config.tagger_learning
    train = jackknife(
        material.train.sentences,
        config.folds,
        # a fold sets external_dim as its vectors are; one member is nearly as good as several, and learnt sooner
        replace(tagger.model.config, external_dim=0, members=1),
        learning,
        vectors=tagger.model.vectors,
        folder=_folder(job.out, JACKKNIFE),
        reporter=reporter.part(JACKKNIFE, learning.epochs),
        seed=learning.seed,
        jobs=config.jobs,
        resume=resume,
    )
    dev = material.dev
    return replace(
        material,
        train=_retagged(material.train, train),
        dev=None if dev is None else _retagged(dev, tagger.tag([tagger.untagged(s) for s in dev.sentences])),
        note=f"tags predicted by jackknifing, {config.folds} folds",
        has_predicted_tags=True,
    )


def _retagged(treebank: Treebank, sentences: Sequence[Sentence]) -> Treebank:
    digest = hashlib.sha256()
    for sentence in sentences:
        digest.update(sentence.to_bytes())
    return Treebank(treebank.path, digest.hexdigest(), tuple(sentences))


def _parser_config(config: PipelineConfig, material: Material) -> ParserConfig:
    """The parser's settings, with the tags it is to read and the vectors it must not change."""
    parser = config.parser
    if material.shared_vectors is not None:
        parser = replace(parser, training=replace(parser.training, freeze_external=True))
    if config.reads_all_tags:
        kinds = material.train.tag_kinds
        tags = next(name for name, chosen in TAGS.items() if chosen == kinds)
        parser = replace(parser, network=replace(parser.network, tags=tags))
    return parser
