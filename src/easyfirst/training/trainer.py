"""Training from treebank to model (section 5, Algorithm 3): read, check, learn, evaluate, keep the best, be resumable.

The output directory is a model that can be used after the first epoch, and in its ``training`` folder the run itself:
``metrics.jsonl``, a line for every epoch, and the checkpoint.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from easyfirst.confidence.fitting import calibrate
from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.calibration_store import store_calibration
from easyfirst.model.card import CardFacts, DataFacts, write_card
from easyfirst.model.directory import prepare_directory, replace_file
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_store import ParserModel, load_parser, save_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.parser_weights import initial_parser
from easyfirst.model.part import installed_version
from easyfirst.nn.arrays import Floats
from easyfirst.parsing.engine import NumpyEngine
from easyfirst.parsing.finishing import finish
from easyfirst.results.parses import Parse
from easyfirst.training.checkpoint import FILE, Checkpoint, differences, save_checkpoint
from easyfirst.training.corpus import ParserCorpus
from easyfirst.training.data import DataReport, Treebank, describe
from easyfirst.training.epoch import EpochStats, Teacher
from easyfirst.training.learner import Learner
from easyfirst.training.material import Job, Material, check_parser_data
from easyfirst.treebank.scores import Scorer, Scores

FOLDER = "training"
METRICS = "metrics.jsonl"
SHORTEST = 1e-3
"""Seconds; some clocks are so coarse that an epoch of a few sentences takes none."""


class Reporter(Protocol):
    """Is told how training goes."""

    def data(self, report: DataReport) -> None:
        """The data has been read and checked."""

    def progress(self, epoch: int, stats: EpochStats) -> None:
        """Some sentences of the current epoch have been learnt from."""

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        """An epoch is over and, if there is a dev treebank, evaluated."""


def train_parser(
    job: Job, config: ParserConfig, reporter: Reporter, material: Material, *, checkpoint: Checkpoint | None = None
) -> list[dict[str, Any]]:
    """Train a parser on what has been read; the metrics of every epoch. If the data or the settings will not do, that
    is an :class:`EasyFirstError` before anything is written."""
    run = Run(job, config, reporter, material, checkpoint=checkpoint)
    _prepare(job.out, is_new=checkpoint is None)
    while len(run.history) < config.training.epochs:
        run.epoch()
    if material.dev is not None:
        _calibrate(job.out, material.dev, tags="predicted" if material.has_predicted_tags else "given")
    return run.history


def _calibrate(out: Path, dev: Treebank, *, tags: str) -> None:
    """Fit what makes probabilities of margins to the weights that were kept, unless that has been done."""
    model = load_parser(out)
    if model.calibration is not None or all(len(s) == 1 or None in s.heads for s in dev.sentences):
        return
    derivations = NumpyEngine.of(model.arrays, model.config, model.vocabulary).derive(dev.sentences)
    parses = [Parse.of(s, s, derivation) for s, derivation in zip(dev.sentences, derivations, strict=True)]
    store_calibration(out, *calibrate(parses, dev.sentences, file=dev.path, tags=tags))


def _prepare(out: Path, *, is_new: bool) -> None:
    """Make the directory, now rather than when an epoch is to be saved; a new run does away with an old one."""
    prepare_directory(out)
    try:
        (out / FOLDER).mkdir(exist_ok=True)
        for name in (FILE, METRICS) if is_new else ():
            (out / FOLDER / name).unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"{out / FOLDER} cannot be written: {error.strerror or error}") from error


class Run:
    """A training run between two epochs."""

    def __init__(
        self,
        job: Job,
        config: ParserConfig,
        reporter: Reporter,
        material: Material,
        *,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """``checkpoint``: of the run to go on with, whose vocabulary is used; else it is made from the sentences that
        are learnt from. Raises :class:`ConfigError` if that was another run."""
        if config.members > 1:
            raise ConfigError("the members of a parser are trained one by one, and put together by 'easyfirst combine'")
        self.job, self.config, self.reporter, self.material = job, config, reporter, material
        sentences = check_parser_data(material, config)
        if checkpoint is not None:
            self._require_same_run(checkpoint)
            self.vocabulary = load_parser(job.out).vocabulary
        else:
            self.vocabulary = ParserVocabulary.of(
                sentences,
                tag_kinds=config.network.tag_kinds,
                external=material.external_words,
                min_count=config.training.min_count,
                reads_characters=config.network.spelling_dim > 0,
            )
        self.data = describe(material.train, sentences, material.dev, self.vocabulary)
        self.licence = job.licence
        self.history: list[dict[str, Any]] = []
        self.rng = np.random.default_rng(config.training.seed)
        self.learner = Learner(self._initial_arrays(), config, self.rng)
        self.teacher = Teacher(self.learner, ParserCorpus(sentences, self.vocabulary), self.vocabulary.counts)
        if checkpoint is not None:
            self.restore(checkpoint)
        self.reporter.data(self.data)

    def _initial_arrays(self) -> dict[str, Floats]:
        table = self.material.external_table
        sizes = sizes_of(self.vocabulary, table.shape if table is not None else None)
        return initial_parser(self.config.network, sizes, self.rng, external=table)

    def epoch(self) -> None:
        """Learn for one epoch, evaluate, save."""
        number = len(self.history) + 1
        started, started_cpu = time.perf_counter(), time.process_time()
        try:
            stats = self.teacher.run_epoch(number, lambda stats: self.reporter.progress(number, stats))
        except FloatingPointError as error:
            raise ConfigError(f"epoch {number}: {error}; try a smaller training.learning_rate") from error
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - started_cpu
        scores = self.evaluate()
        metrics: dict[str, Any] = {
            "epoch": number,
            **asdict(stats),
            "loss": stats.loss / max(stats.violations, 1),
            "violations_per_sentence": stats.violations / stats.sentences,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu_seconds, 2),
            "words_per_second": round(stats.words / max(seconds, SHORTEST), 1),
            "words_per_cpu_second": round(stats.words / max(cpu_seconds, SHORTEST), 1),
            "dev": _summary(scores) if scores else None,
        }
        is_best = all(_las(metrics) > _las(past) for past in self.history) if scores else True
        self.history.append(metrics)
        if is_best:
            save_parser(self.job.out, self.model(scores))
        lines = "".join(json.dumps(line) + "\n" for line in self.history)
        replace_file(self.job.out / FOLDER / METRICS, lines.encode())
        save_checkpoint(self.job.out / FOLDER, self.checkpoint())
        self.reporter.epoch_end(metrics, is_best=is_best)

    def model(self, scores: Scores | None) -> ParserModel:
        """The parser as it is now."""
        arrays = self.learner.average.arrays
        return ParserModel(self.config, self.vocabulary, arrays, self.card(scores), self.material.shared_vectors)

    def evaluate(self) -> Scores | None:
        """The scores on the dev treebank with the weights as they are."""
        dev = self.material.dev
        if dev is None:
            return None
        engine = NumpyEngine(self.vocabulary, self.learner.averaged_network())
        scorer = Scorer()
        for gold, derivation in zip(dev.sentences, engine.derive(dev.sentences), strict=True):
            heads, relations = finish(derivation)
            scorer.add(
                gold.forms,
                gold_heads=[head or 0 for head in gold.heads],
                gold_relations=gold.relations,
                system_heads=heads,
                system_relations=relations,
            )
        return scorer.scores()

    def checkpoint(self) -> Checkpoint:
        """All that is needed to go on."""
        arrays = {f"parameters/{name}": array for name, array in self.learner.arrays.items()}
        arrays |= {f"optimizer/{name}": tensor.numpy() for name, tensor in self.learner.optimizer.state().items()}
        arrays |= {f"average/{name}": array for name, array in self.learner.average.state().items()}
        facts = {
            "config": self.config.to_dict(),
            "data": self.material.fingerprint,
            "history": self.history,
            "rng": self.rng.bit_generator.state,
            "n_averaged": self.learner.average.n_updates,
            "violation_rate": self.teacher.violation_rate,
            "licence": self.licence,
        }
        return Checkpoint(facts, arrays)

    def _require_same_run(self, checkpoint: Checkpoint) -> None:
        saved = ParserConfig.from_dict(checkpoint.facts["config"])
        same_length = replace(saved, training=replace(saved.training, epochs=self.config.training.epochs))
        if other := differences(same_length.to_dict(), self.config.to_dict()):
            raise ConfigError(f"{self.job.out}: was trained with other settings ({other}); resume with the same ones")
        if other := differences(checkpoint.facts["data"], self.material.fingerprint):
            raise ConfigError(f"{self.job.out}: was trained on other data ({other}); resume with the same files")

    def restore(self, checkpoint: Checkpoint) -> None:
        """Be where the run was that saved it, which must have had the same settings, data and vocabulary."""
        facts = checkpoint.facts
        self.licence = self.job.licence or facts.get("licence")
        for path, array in checkpoint.arrays.items():
            kind, name = path.split("/", 1)
            if kind == "parameters":
                self.learner.arrays[name][...] = array
        state = {path: array for path, array in checkpoint.arrays.items() if path.startswith("optimizer/")}
        self.learner.optimizer.load_state(
            {path.split("/", 1)[1]: torch.from_numpy(array.copy()) for path, array in state.items()}
        )
        means = {path: array for path, array in checkpoint.arrays.items() if path.startswith("average/")}
        self.learner.average.load_state(
            {path.split("/", 1)[1]: array for path, array in means.items()}, facts.get("n_averaged", 0)
        )
        self.history = facts["history"]
        self.rng.bit_generator.state = facts["rng"]
        self.teacher.violation_rate = facts["violation_rate"]

    def card(self, scores: Scores | None) -> str:
        """The model's README."""
        data = self.data
        skipped = f"{data.non_projective} non-projective sentences left out" if data.non_projective else ""
        unknown = f"{data.nothing_known} sentences without any head left out" if data.nothing_known else ""
        partial = f"{data.unknown_heads} words without a head" if data.unknown_heads else ""
        note = "; ".join(filter(None, (skipped, unknown, partial, self.material.note)))
        files = [
            DataFacts(
                use="training", file=data.train, sentences=data.train_sentences, words=data.train_words, note=note
            )
        ]
        if data.dev is not None:
            files.append(
                DataFacts(use="development", file=data.dev, sentences=data.dev_sentences, words=data.dev_words)
            )
        if self.job.vectors is not None and self.vocabulary.external is not None:
            files.append(DataFacts(use="word vectors", file=str(self.job.vectors), words=len(self.vocabulary.external)))
        return write_card(
            CardFacts(
                name=self.job.out.resolve().name,
                date=datetime.date.today(),
                easyfirst_version=installed_version(),
                config=self.config,
                data=files,
                scores=scores,
                best_epoch=len(self.history),
                licence=self.licence,
            )
        )


def _las(metrics: dict[str, Any]) -> float:
    """What decides between epochs, rounded alike for all: of equal ones the first is the best."""
    return metrics["dev"]["full"]["LAS"]


def _summary(scores: Scores) -> dict[str, dict[str, float]]:
    parts: Sequence[tuple[str, Any]] = (("ud", scores.ud), ("conllx", scores.conllx), ("full", scores.full))
    return {name: {"UAS": round(part.uas, 3), "LAS": round(part.las, 3)} for name, part in parts}
