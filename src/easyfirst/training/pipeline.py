"""Training all parts of a model from one treebank: a tokenizer, a tagger, and a parser that reads predicted tags.

The parser's training sentences are tagged by jackknifing and its dev sentences by the tagger, so that it is trained on
the kind of tags that it will read. Tagger and parser share the external vectors, which are frozen. The run of each
part can be resumed (``easyfirst.training.run_folders``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model.directory import from_json, read_file
from easyfirst.model.parser_config import NO_CROSSING, TAGS, ParserConfig
from easyfirst.model.part import TAGGER, TOKENIZER, VECTORS
from easyfirst.model.shared_vectors import save_shared_vectors
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import join_taggers, load_tagger, save_tagger
from easyfirst.model.tokenizer_config import TokenizerConfig, TokenizerTraining
from easyfirst.native.backend import Backend
from easyfirst.text.tagging import Tagger
from easyfirst.training.checkpoint import has_checkpoint
from easyfirst.training.data import DataReport, Job, TrainingData, Treebank
from easyfirst.training.initial_model import with_initial_model
from easyfirst.training.jackknife import FoldProgress, check_folds, jackknife
from easyfirst.training.lock import sole_training
from easyfirst.training.parser_task import ParserTask
from easyfirst.training.processes import Group, processes
from easyfirst.training.run_folders import (
    JACKKNIFE,
    MEMBER,
    PARSER,
    PARTS,
    finish_forgetting,
    forget_runs,
    place_to_read,
    place_to_write,
    resumes,
    run_folder,
    settings_file,
    waits_for_parser,
)
from easyfirst.training.tagger_task import TaggerTask, accuracies, budgeted
from easyfirst.training.tokenizer_task import TokenizerTask
from easyfirst.training.training_loop import Task, TrainingLoop
from easyfirst.treebank.raw_text import spaces_of
from easyfirst.treebank.sentence import Sentence

MAX_TAGS = 300  # an XPOS with more tags is a copy of the features, which the parser reads anyway


@dataclass(frozen=True, slots=True)
class PipelineConfig:
    """The parts to train, and their settings."""

    parts: tuple[str, ...] = PARTS
    parser: ParserConfig = field(default_factory=ParserConfig)
    reads_all_tags: bool = False  # the parser reads all kinds of tags in the treebank, whatever its own settings say
    predicted_tags: bool = True  # the parser is trained on predicted tags, not on those of the treebank
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    tokenizer_training: TokenizerTraining = field(default_factory=TokenizerTraining)
    spaces: str = "given"  # ``none``: the language is written without spaces, and the treebank does not mark them
    tagger: TaggerConfig = field(default_factory=TaggerConfig)
    tagger_training: TaggerTraining = field(default_factory=lambda: TaggerTraining(min_updates=2500))
    folds: int = 5  # the number of jackknifing folds
    jobs: int = 1  # the number of folds that are trained in parallel
    processes: int = 1  # the number of processes that train the parser together

    def __post_init__(self) -> None:
        if not self.parts or any(part not in PARTS for part in self.parts):
            given = ", ".join(map(repr, self.parts)) or "nothing"
            raise ConfigError(f"parts: {given}; choose from {', '.join(PARTS)}")


class PipelineProgress(Protocol):
    """Progress callbacks of a whole training."""

    def part(self, name: str, n_epochs: int) -> FoldProgress:
        """Return the callbacks of a part: a name in ``PARTS``, ``tagger 1 of 2`` (and so on), or ``jackknife``."""
        ...

    def note(self, text: str) -> None:
        """Report a remark on the data of all parts."""

    def data(self, report: DataReport) -> None:
        """Report the parser's data, before it is trained."""

    def ensemble_end(self, n_members: int, accuracy: Mapping[str, float]) -> None:
        """Report that a tagger ensemble is complete, with its accuracy on the dev sentences."""


def train_pipeline(
    job: Job, config: PipelineConfig, progress: PipelineProgress, *, resume: bool = False, overwrite: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Train the parts, and leave others unchanged; return the metrics of every epoch by part."""
    resumes(job.out, config.parts, resume=resume, overwrite=overwrite)  # an error now is better than one after reading
    shares = TAGGER in config.parts or settings_file(job.out, TAGGER).is_file()
    freezes = shares or config.parser.training.freeze_external
    data = TrainingData.read(job, freeze_external=freezes, needs_trees=PARSER in config.parts)
    config = replace(config, parser=_parser_config(config, data))
    if job.init is not None:
        parser, data = with_initial_model(job.init, config.parser, data)
        config = replace(config, parser=parser)
    data = _checked(job.out, config, data)
    for remark in (*data.remarks, *_remarks_on_spaces(config, data)):
        progress.note(remark)
    with sole_training(job.out):
        finish_forgetting(job.out)
        continues = resumes(job.out, config.parts, resume=resume, overwrite=overwrite)
        if resume and not continues:
            progress.note(f"there is no run to resume in {job.out}; a new one begins")
        if not continues:
            forget_runs(job.out, config.parts)
        is_early = set(config.parts) != {PARSER} and not waits_for_parser(job.out, config.parts)
        if is_early and data.shared_vectors is not None:
            save_shared_vectors(job.out / VECTORS, data.shared_vectors)
        return _Pipeline(job, config, progress, continues).train(data)


@dataclass(frozen=True, slots=True)
class _Pipeline:
    """A training of some parts."""

    job: Job
    config: PipelineConfig
    progress: PipelineProgress
    resume: bool

    def train(self, data: TrainingData) -> dict[str, list[dict[str, Any]]]:
        """Train the parts one after the other."""
        trainers = {TOKENIZER: self._train_tokenizer, TAGGER: self._train_tagger, PARSER: self._train_parser}
        return {part: trainers[part](data) for part in PARTS if part in self.config.parts}

    def _train_tokenizer(self, data: TrainingData) -> list[dict[str, Any]]:
        config, training, words = self.config, self.config.tokenizer_training, data.known_words
        text = {"text": words.sha256} if words else {}
        task = TokenizerTask(
            data.train.sentences,
            config.tokenizer,
            training,
            dev=data.dev.sentences if data.dev else None,
            spaces=config.spaces,
            known=words.counts if words else None,
            out=place_to_write(self.job.out, TOKENIZER, config.parts),
            fingerprint={**data.fingerprint, **text, TOKENIZER: asdict(config.tokenizer), "spaces": config.spaces},
        )
        report = self.progress.part(TOKENIZER, task.settings.epochs)
        return self._loop(task, run_folder(self.job.out, TOKENIZER)).run(report)

    def _train_tagger(self, data: TrainingData) -> list[dict[str, Any]]:
        """Train the members one after the other, each with its own seed, and join them."""
        out, config, n_members = self.job.out, self.config.tagger, self.config.tagger.members
        folder, place = run_folder(out, TAGGER), place_to_write(out, TAGGER, self.config.parts)
        folders = [folder, *(folder / f"{MEMBER}{number}" for number in range(2, n_members + 1))]
        history: list[dict[str, Any]] = []
        for number, run in enumerate(folders, start=1):
            training = replace(self.config.tagger_training, seed=self.config.tagger_training.seed + number - 1)
            task = TaggerTask(
                data.train.sentences,
                config,
                training,
                dev=data.dev.sentences if data.dev else None,
                vectors=data.shared_vectors,
                out=place if n_members == 1 else run / TAGGER,
                fingerprint={**data.fingerprint, TAGGER: asdict(config)},
            )
            name = TAGGER if n_members == 1 else f"{TAGGER} {number} of {n_members}"
            history += self._loop(task, run).run(self.progress.part(name, task.settings.epochs))
        if n_members > 1:
            model = join_taggers([load_tagger(run / TAGGER, data.shared_vectors) for run in folders])
            save_tagger(place, model)
            if data.dev is not None:
                predicted = Tagger(model, Backend.exact()).predict([sentence.forms for sentence in data.dev.sentences])
                self.progress.ensemble_end(n_members, accuracies(data.dev.sentences, predicted))
        return history

    def _tagged(self, data: TrainingData) -> TrainingData:
        """Replace the tags by predicted ones."""
        tagger = Tagger(load_tagger(place_to_read(self.job.out, TAGGER), data.shared_vectors), Backend.exact())
        training, n_words = self.config.tagger_training, sum(map(len, data.train.sentences))
        of_fold = budgeted(training, n_words - n_words // self.config.folds)
        train = jackknife(
            data.train.sentences,
            self.config.folds,
            # a fold sets external_dim from its vectors; one member is nearly as good as an ensemble, and faster
            replace(tagger.model.config, external_dim=0, members=1),
            training,
            vectors=tagger.model.vectors,
            folder=run_folder(self.job.out, JACKKNIFE),
            progress=self.progress.part(JACKKNIFE, of_fold.epochs),
            seed=training.seed,
            jobs=self.config.jobs,
            resume=self.resume,
        )
        dev = data.dev and _retagged(data.dev, tagger.tag([tagger.untagged(s) for s in data.dev.sentences]))
        note = f"tags predicted by jackknifing, {self.config.folds} folds"
        return replace(data, train=_retagged(data.train, train), dev=dev, note=note, has_predicted_tags=True)

    def _train_parser(self, data: TrainingData) -> list[dict[str, Any]]:
        data = self._tagged(data) if _predicts_tags(self.config) else data
        folder = run_folder(self.job.out, PARSER)
        resume = self.resume and has_checkpoint(folder)
        follow = partial(_follow, self.job, self.config.parser, data, folder, resume=resume)
        with processes(self.config.processes, follow) as group:
            task = ParserTask(self.job, self.config.parser, data, group)
            loop = TrainingLoop(task, folder, resume=resume, group=group)
            self.progress.data(task.report)
            history = loop.run(self.progress.part(PARSER, task.settings.epochs))
        task.calibrate()
        return history

    def _loop(self, task: Task, folder: Path) -> TrainingLoop:
        return TrainingLoop(task, folder, resume=self.resume and has_checkpoint(folder))


def _follow(job: Job, config: ParserConfig, data: TrainingData, folder: Path, group: Group, *, resume: bool) -> None:
    """Train a parser as one of several processes, but not the first."""
    TrainingLoop(ParserTask(job, config, data, group), folder, resume=resume, group=group).follow()


def _remarks_on_spaces(config: PipelineConfig, data: TrainingData) -> Iterator[str]:
    """Yield what users should know about the text that a tokenizer learns from."""
    if TOKENIZER in config.parts and config.spaces == "given":
        reason = "the treebank has neither '# text' comments nor SpaceAfter=No"
        match spaces_of(data.train.sentences):
            case "none":
                yield f"{reason}; its script is written without spaces"
            case "guessed":
                yield f"warning: {reason}; the tokenizer learns from spaces that are guessed from the punctuation"
            case _:
                pass


def _predicts_tags(config: PipelineConfig) -> bool:
    return PARSER in config.parts and config.predicted_tags and bool(config.parser.network.tag_kinds)


def _checked(out: Path, config: PipelineConfig, data: TrainingData) -> TrainingData:
    """Find errors in data and settings before the first part is trained."""
    _refuse_other_vectors(out, config.parts, data)
    if config.parser.encoder is not None and config.processes > 1:
        raise ConfigError("--processes and --encoder cannot be combined; use --threads for the transformer")
    if PARSER in config.parts:
        if config.parser.members > 1:
            raise ConfigError("train the members of an ensemble one at a time, then join them by 'easyfirst combine'")
        data = data.checked_for_parser(
            config.parser.network.tag_kinds,
            predicts_tags=_predicts_tags(config),
            projective=config.parser.training.crossing == NO_CROSSING,
        )
    if TAGGER in config.parts and not {"upos", "xpos"} & set(data.train.tag_kinds):
        raise DataError(
            "no UPOS or XPOS tags for a tagger to learn; fill in a column, or train without one: "
            "--parts tokenizer,parser --tags none",
            source=data.train.path,
        )
    if _predicts_tags(config):
        check_folds(config.folds, len(data.train.sentences))
        if TAGGER not in config.parts:
            _check_tagger(out, config.parser, data)
    return data


def _check_tagger(out: Path, parser: ParserConfig, data: TrainingData) -> None:
    """Raise :class:`ModelError` unless the model has a tagger that predicts the tags that the parser reads."""
    if not settings_file(out, TAGGER).is_file():
        raise ModelError(f"{out} has no tagger to predict tags; add it to --parts, or use --gold-tags")
    kinds = load_tagger(out / TAGGER, data.shared_vectors).vocabulary.kinds
    for kind in parser.network.tag_kinds:
        if kind not in kinds:
            choices = " or ".join(name for name, columns in TAGS.items() if columns and set(columns) <= set(kinds))
            raise ModelError(f"{out / TAGGER} predicts no {kind.upper()}; choose --tags {choices}, or train it again")


def _refuse_other_vectors(out: Path, parts: Sequence[str], data: TrainingData) -> None:
    """Raise :class:`ModelError` if a part that is not trained now was trained with other vectors."""
    given = data.shared_vectors.sha256 if data.shared_vectors is not None else None
    if given is None and set(parts) == {TOKENIZER}:  # a tokenizer reads no vectors, and keeps those of the model
        return
    for part in (TAGGER, PARSER):
        path = settings_file(out, part)
        if part in parts or not path.is_file():
            continue
        needed = from_json(read_file(path), path).get("vectors")
        if needed is not None and needed != given:
            raise ModelError(
                f"{out}: its {part} was trained with {'word' if given is None else 'other word'} vectors, which all "
                f"parts share; give the same --embeddings, or train the {part} too (--parts {','.join([*parts, part])})"
            )


def _retagged(treebank: Treebank, sentences: Sequence[Sentence]) -> Treebank:
    sha256 = hashlib.sha256(b"".join(sentence.to_bytes() for sentence in sentences)).hexdigest()
    return Treebank(treebank.path, sha256, tuple(sentences))


def _parser_config(config: PipelineConfig, data: TrainingData) -> ParserConfig:
    """Return the parser's settings, with the tags that it reads, and with shared vectors frozen."""
    parser = config.parser
    if data.shared_vectors is not None:
        parser = replace(parser, training=replace(parser.training, freeze_external=True))
    if config.reads_all_tags:
        kinds = tuple(kind for kind in data.train.tag_kinds if data.train.n_tags(kind) <= MAX_TAGS or kind != "xpos")
        tags = next(name for name, columns in TAGS.items() if columns == kinds)
        parser = replace(parser, network=replace(parser.network, tags=tags))
    return parser
