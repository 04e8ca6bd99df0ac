"""Parser training (Algorithm 3): a task for the training loop that learns from violations of the margin.

The weights are updated after more than 50 violations, or after a fixed number of sentences if the settings say so. The
running rate of violations predicts how many sentences that takes, so that they are explored as one batch. If there are
too few violations, more sentences are explored with the same weights.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor

from easyfirst.confidence.calibration import Calibration
from easyfirst.confidence.fitting import calibrate
from easyfirst.confidence.tree_lists import FITTED_WIDTH, TreeList, with_beam
from easyfirst.model.card import CardFacts, DataFacts, write_card
from easyfirst.model.card_updates import store_calibration
from easyfirst.model.parser_config import NO_CROSSING, ParserConfig, TrainingConfig
from easyfirst.model.parser_store import (
    EXTERNAL,
    TABLES,
    ParserModel,
    initial_parser,
    load_parser,
    sizes_of,
)
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.part import installed_version
from easyfirst.model.settings import within_budget
from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.engine import NumpyEngine, measure_of
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.parsing.finishing import finish
from easyfirst.results.constituents import constituent_f1
from easyfirst.results.parses import Parse
from easyfirst.training.attention import initial_attention
from easyfirst.training.checkpoint import require_same
from easyfirst.training.corpus import ParserCorpus, unknown_probabilities
from easyfirst.training.crossing import LiftedSentences
from easyfirst.training.data import DataReport, Job, TrainingData, describe
from easyfirst.training.fine_tuning import FineTuning, without_encoder
from easyfirst.training.initial_model import init_checksum, initial_model
from easyfirst.training.parser_loss import NONE, ParserLoss
from easyfirst.training.processes import ALONE, Group
from easyfirst.training.run_folders import save_with_parts
from easyfirst.training.training_loop import Step
from easyfirst.treebank.scores import Scorer, Scores
from easyfirst.treebank.sentence import Sentence

MAX_WORDS = 4000  # the largest number of words in a batch of several sentences, which bounds its memory
CAUTION = 0.85  # the share of the missing violations that a batch aims at, so that few batches overshoot
BOLDNESS = 1.1  # the same for several processes, which wait for each other in every batch, so that few updates need two
RATE_MEMORY = 0.9
MIN_RATE = 1e-4
VIOLATIONS_A_WORD = 0.2  # in an average epoch, for the number of epochs
ENDING = ("epochs", "min_updates", "patience")  # the settings that a resumed run may change


@dataclass(slots=True)
class EpochStats:
    """The statistics of an epoch."""

    sentences: int = 0
    words: int = 0
    updates: int = 0
    violations: int = 0
    loss: float = 0.0  # the hinge loss, summed over violations

    def summary(self) -> dict[str, Any]:
        """Return the statistics for the metrics, with the mean loss."""
        mean_loss = self.loss / max(self.violations, 1)
        return asdict(self) | {"loss": mean_loss, "violations_per_sentence": self.violations / self.sentences}


def expected_updates(training: TrainingConfig, sentences: Sequence[Sentence]) -> float:
    """Return about how many updates an epoch has."""
    if training.batch_sentences:
        return len(sentences) / training.batch_sentences
    return VIOLATIONS_A_WORD * sum(map(len, sentences)) / (training.update_after + 1)


class ParserTask:
    """A parser to train, with its data."""

    speeds: tuple[str, ...] = ("words_per_second", "words_per_cpu_second")
    sparse: frozenset[str] = frozenset(TABLES)

    def __init__(self, job: Job, config: ParserConfig, data: TrainingData, group: Group = ALONE) -> None:
        """``data``: checked by :meth:`TrainingData.checked_for_parser`; ``group``: the processes that train."""
        training = within_budget(config.training, expected_updates(config.training, data.parser_sentences))
        config = replace(config, training=training)
        self.job, self.config, self.data, self.settings, self._group = job, config, data, training, group
        lifted = LiftedSentences(data.parser_sentences)
        if training.crossing != NO_CROSSING:
            lifted = LiftedSentences.of(data.parser_sentences, training.crossing)
        self.rng = np.random.default_rng(config.training.seed)
        self.tuning: FineTuning | None = None
        if job.encoder is not None and config.encoder is not None:
            self.tuning = FineTuning.of(job.encoder, config.encoder, job.device)
        if job.init is None:
            self.vocabulary, self.arrays = self._new_parser(lifted)
        else:
            self.vocabulary, self.arrays = initial_model(job.init, lifted)
        self.report = describe(data.train, lifted, data.dev, self.vocabulary)
        self.corpus = ParserCorpus(lifted.sentences, self.vocabulary)
        self.frozen = frozenset({EXTERNAL} if config.training.freeze_external else ())
        if self.tuning is not None:
            self.arrays |= self.tuning.arrays
            self.frozen |= self.tuning.frozen
        vector_dim, n_relations = config.network.vector_dim, len(self.vocabulary.relations)
        second = initial_attention(vector_dim, n_relations, self.rng) if self.settings.attention else {}
        self.arrays |= second
        self.auxiliary = frozenset(second)
        self.violation_rate = 1.0  # the running mean of violations per word; untrained, every word counts as one
        self._unknown_prob = unknown_probabilities(self.vocabulary.counts, config.training.word_dropout)
        self._n_sentences = training.batch_sentences * group.size  # of an update; 0: by violations
        self._n_violations = training.update_after * group.size  # after more than so many
        self._aim = CAUTION if group.size == 1 else BOLDNESS
        self._licence = job.licence
        self._scores: Scores | None = None

    def _new_parser(self, lifted: LiftedSentences) -> tuple[ParserVocabulary, dict[str, Floats]]:
        """Return the vocabulary of the training sentences, and initial values."""
        config, data = self.config, self.data
        vocabulary = ParserVocabulary.of(
            lifted.sentences,
            tag_kinds=config.network.tag_kinds,
            external=data.external_words,
            min_count=config.training.min_count,
            reads_characters=config.network.spelling_dim > 0,
            crossing=lifted.crossing,
        )
        table = data.external_table
        contextual = 0 if self.tuning is None else self.tuning.encoder.settings.dim
        sizes = sizes_of(vocabulary, table.shape if table is not None else None, contextual)
        return vocabulary, initial_parser(config.network, sizes, self.rng, external=table)

    def steps(self, parameters: Mapping[str, Tensor]) -> Iterator[Step]:
        """Yield one epoch of batches whose sizes follow the rate of violations."""
        stats, group = EpochStats(), self._group
        order, own_rng = self.rng.permutation(len(self.corpus)), group.own_rng(self.rng)
        loss = ParserLoss(parameters, self.config, own_rng, self.tuning)
        begin = updated = n_waiting = 0
        while begin < len(order):
            end = self._batch_end(order, begin, updated, n_waiting)
            share = group.share(order[begin:end], self.corpus.lengths)
            found = (
                loss.of(self.corpus.batch(share, unknown_prob=self._unknown_prob, rng=own_rng)) if len(share) else NONE
            )
            n_found, hinge = group.sums(found.n_violations, found.hinge)
            n_words, n_violations = int(self.corpus.lengths[order[begin:end]].sum()), int(n_found)
            rate = max(n_violations / n_words, MIN_RATE)
            self.violation_rate = RATE_MEMORY * self.violation_rate + (1 - RATE_MEMORY) * rate
            n_waiting += n_violations
            is_due = end - updated >= self._n_sentences if self._n_sentences else n_waiting > self._n_violations
            is_update = is_due or end == len(order)
            stats.sentences += end - begin
            stats.words += n_words
            stats.updates += is_update and n_waiting > 0
            stats.violations += n_violations
            stats.loss += hinge
            begin = end
            done = end / len(order)
            yield Step(found.loss, n_violations, done, done, stats.summary(), is_update)
            if is_update:
                updated, n_waiting = end, 0
                loss.weights_changed()

    def _batch_end(self, order: Ints, begin: int, updated: int, n_waiting: int) -> int:
        """Return where in ``order`` the next batch ends. ``updated``: where the last update was."""
        reach = np.cumsum(self.corpus.lengths[order[begin : begin + MAX_WORDS]])
        n_possible = int(np.searchsorted(reach, MAX_WORDS, side="right"))
        if self._n_sentences:
            n_enough = updated + self._n_sentences - begin
        else:
            n_wanted = self._n_violations + 1 - n_waiting
            n_enough = 1 + int(np.searchsorted(reach, self._aim * n_wanted / self.violation_rate))
        return begin + max(1, min(n_enough, n_possible))

    def evaluate(self, arrays: Mapping[str, Floats]) -> dict[str, Any] | None:
        """Return UAS and LAS on the dev treebank under each convention."""
        if self.data.dev is None:
            return None
        sentences, scorer = self.data.dev.sentences, Scorer()
        derivations = self._parse(arrays, sentences)
        for gold, derivation in zip(sentences, derivations, strict=True):
            heads, relations = finish(derivation)
            scorer.add(
                gold.forms,
                gold_heads=[head or 0 for head in gold.heads],
                gold_relations=gold.relations,
                system_heads=heads,
                system_relations=relations,
            )
        self._scores = scores = scorer.scores()
        conventions = {"ud": scores.ud, "conllx": scores.conllx, "full": scores.full}
        found: dict[str, Any] = {
            name: {"UAS": round(part.uas, 3), "LAS": round(part.las, 3)} for name, part in conventions.items()
        }
        if self.config.constituency is not None:
            found["constituents"] = {"F1": round(constituent_f1(sentences, derivations), 3)}
        return found

    def _parse(self, arrays: Mapping[str, Floats], sentences: Sequence[Sentence]) -> list[Derivation]:
        """Parse in the way that is trained, greedily or with a beam."""
        vocabulary = self.vocabulary
        if self.tuning is not None:
            vocabulary = replace(vocabulary, reader=self.tuning.reader(arrays))
        network = without_encoder(arrays)
        if self.settings.beam == 1:
            return make_engine(network, self.config, vocabulary, Backend.exact()).derive(sentences)
        found = NumpyEngine.of(network, self.config, vocabulary).search(
            sentences, self.settings.beam, measure_of(self.config)
        )
        return [best.derivation for best, *_ in found]

    def criterion(self, scores: Mapping[str, Any]) -> float:
        """Return the LAS of all words, or the F1 of phrases."""
        return scores["full"]["LAS"] if self.config.constituency is None else scores["constituents"]["F1"]

    def save(self, arrays: Mapping[str, Floats], epoch: int) -> None:
        """Write the model with these weights. Its card has the scores of the last evaluation."""
        card, vectors, network = self._card(epoch), self.data.shared_vectors, without_encoder(arrays)
        encoder = None if self.tuning is None else self.tuning.trained(arrays)
        model = ParserModel(self.config, self.vocabulary, network, card, vectors, encoder=encoder)
        save_with_parts(self.job.out, model)

    def calibrate(self) -> None:
        """Fit the confidence of the saved weights on the dev treebank, unless an earlier run has done it."""
        dev = self.data.dev
        if dev is None or all(len(s) == 1 or None in s.heads for s in dev.sentences):
            return
        model = load_parser(self.job.out)
        if self.tuning is not None and model.encoder is not None:  # on the device of training
            reader = self.tuning.reader_of(model.encoder)
            model = replace(model, vocabulary=replace(model.vocabulary, reader=reader))
        if model.calibration is None:
            engine = make_engine(model.arrays, model.config, model.vocabulary, Backend.exact())
            derivations = engine.derive(dev.sentences)
            parses = [Parse.of(s, s, derivation) for s, derivation in zip(dev.sentences, derivations, strict=True)]
            tags = "predicted" if self.data.has_predicted_tags else "given"
            calibration, reliability = calibrate(parses, dev.sentences, file=dev.path, tags=tags)
            calibration = with_beam(calibration, self._tree_lists(model, calibration))
            store_calibration(self.job.out, calibration, reliability)

    def _tree_lists(self, model: ParserModel, calibration: Calibration) -> Iterator[TreeList]:
        """Yield the trees that a beam finds for the dev sentences whose gold trees are complete."""
        assert self.data.dev is not None
        sentences = [sentence for sentence in self.data.dev.sentences if None not in sentence.heads]
        engine = NumpyEngine.of(model.arrays, model.config, model.vocabulary)
        found = engine.search(sentences, FITTED_WIDTH, measure_of(model.config))
        for sentence, trees in zip(sentences, found, strict=True):
            parses = [Parse.of(sentence, sentence, tree.derivation) for tree in trees]
            yield TreeList.of(parses, [tree.score for tree in trees], sentence, calibration)

    def facts(self) -> dict[str, Any]:
        """Return settings, data checksums, violation rate and licence."""
        state = {"violation_rate": self.violation_rate, "licence": self._licence}
        return {"config": self.config.to_dict(), "data": self._fingerprint, **state}

    @property
    def _fingerprint(self) -> dict[str, str | None]:
        """The checksums of the data and of the models that training starts from."""
        start = {} if self.job.init is None else {"init": init_checksum(self.job.init)}
        start |= {} if self.tuning is None else {"encoder": self.tuning.sha256}
        return {**self.data.fingerprint, **start}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Restore violation rate and licence. Settings and data must be the same, but for when training ends."""
        saved = ParserConfig.from_dict(facts["config"])
        ending = {name: getattr(self.settings, name) for name in ENDING}
        saved = replace(saved, training=replace(saved.training, **ending))
        require_same("settings", saved.to_dict(), self.config.to_dict())
        require_same("data", facts["data"], self._fingerprint)
        self.violation_rate = facts["violation_rate"]
        self._licence = self.job.licence or facts.get("licence")

    def _card(self, epoch: int) -> str:
        """Return the model's README."""
        report = self.report
        notes = (
            _crossing_note(report, is_projective=self.settings.crossing == NO_CROSSING),
            f"{report.nothing_known} sentences without any head left out" if report.nothing_known else "",
            f"{report.unknown_heads} words without a head" if report.unknown_heads else "",
            self.data.note,
        )
        note = "; ".join(filter(None, notes))
        n_sentences, n_words = report.train_sentences, report.train_words
        files = [DataFacts(use="training", file=report.train, sentences=n_sentences, words=n_words, note=note)]
        if report.dev is not None:
            n_sentences, n_words = report.dev_sentences, report.dev_words
            files.append(DataFacts(use="development", file=report.dev, sentences=n_sentences, words=n_words))
        if self.job.vectors is not None and self.vocabulary.external is not None:
            files.append(DataFacts(use="word vectors", file=str(self.job.vectors), words=len(self.vocabulary.external)))
        return write_card(
            CardFacts(
                name=self.job.out.resolve().name,
                date=datetime.date.today(),
                easyfirst_version=installed_version(),
                config=self.config,
                data=files,
                scores=self._scores,
                best_epoch=epoch,
                licence=self._licence,
                encoder=None if self.tuning is None else self.tuning.description,
            )
        )


def _crossing_note(report: DataReport, *, is_projective: bool) -> str:
    """Describe for the card what was done with crossing arcs."""
    if not report.non_projective:
        return ""
    if is_projective:
        return f"{report.non_projective} non-projective sentences left out"
    note = f"{report.lifted_arcs} arcs of {report.non_projective} non-projective sentences lifted"
    if report.crossing is None:
        return f"{note}, none of them restored"
    return f"{note}, {report.restorable_arcs} of them restored by {report.marked_relations} marked relations"
