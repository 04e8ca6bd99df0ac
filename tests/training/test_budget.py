"""How long training goes on, and what it is trained and selected on without dev data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from easyfirst.errors import ConfigError, DataError
from easyfirst.model.parser_config import TrainingConfig, preset
from easyfirst.model.settings import MAX_GROWTH, TrainingSettings, within_budget
from easyfirst.model.tagger_config import TaggerTraining
from easyfirst.training.data import Job, TrainingData, Treebank, held_out, read_treebank
from easyfirst.training.parser_task import expected_updates
from easyfirst.training.pipeline import PipelineConfig
from easyfirst.training.tagger_task import BATCHES, MIN_BATCH_WORDS, budgeted
from easyfirst.training.training_loop import MIN_PATIENCE, Silent, TrainingLoop
from easyfirst.treebank.sentence import Sentence
from tests.training.test_training_loop import Signs

TREE = "1\tfoxes\tfox\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tjump\t_\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
ROOTLESS = TREE.replace("\t0\troot", "\t2\troot")
PARTIAL = TREE.replace("\t2\tnsubj", "\t_\t_")


def words(n: int) -> Sentence:
    return Sentence.from_words(["x"] * n)


@pytest.mark.parametrize(("epochs", "wanted", "an_epoch", "expected"), [
    (10, 0, 5, 10), (10, 50, 5, 10), (10, 51, 5, 11), (20, 1000, 7, 143), (10, 1000, 7, 100), (10, 1000, 0.2, 100),
    (1, 3, 4, 1),
])  # fmt: skip
def test_small_treebanks_get_more_epochs(epochs: int, wanted: int, an_epoch: float, expected: int) -> None:
    for settings in (TrainingSettings(epochs=epochs), TrainingConfig(epochs=epochs)):
        found = within_budget(replace(settings, min_updates=wanted), an_epoch)
        assert found.epochs == expected
        assert replace(found, epochs=epochs, min_updates=0) == settings


@pytest.mark.parametrize("n_words", [1, 400, 6_000, 24_000, 200_000, 5_000_000])
def test_a_tagger_makes_enough_updates_of_batches_that_fit_its_treebank(n_words: int) -> None:
    training = PipelineConfig().tagger_training
    found = budgeted(training, n_words)
    n_batches = n_words / found.batch_words
    assert found.epochs >= training.epochs
    is_capped = found.epochs == MAX_GROWTH * training.epochs
    assert found.epochs * max(n_batches, 1) >= training.min_updates or is_capped
    assert MIN_BATCH_WORDS <= found.batch_words <= training.batch_words
    assert n_batches >= BATCHES or found.batch_words == MIN_BATCH_WORDS
    assert found.epochs == training.epochs or (found.epochs - 1) * n_batches < training.min_updates
    assert budgeted(TaggerTraining(), n_words).epochs == TaggerTraining().epochs


def test_the_updates_of_a_parser_are_estimated() -> None:
    sentences = [words(10), words(40)]
    assert expected_updates(TrainingConfig(batch_sentences=2), sentences) == 1
    assert expected_updates(TrainingConfig(update_after=9), sentences) == pytest.approx(1)
    config = preset("pipeline").training
    tiny, large = ([words(20)] * n for n in (400, 12_000))
    assert within_budget(config, expected_updates(config, tiny)).epochs > 4 * config.epochs
    assert within_budget(config, expected_updates(config, large)).epochs == config.epochs


class Scored(Signs):
    """A task whose dev scores are given."""

    def __init__(self, scores: list[float], patience: float) -> None:
        super().__init__(TrainingSettings(epochs=len(scores), patience=patience))
        self._given = iter(scores)

    def evaluate(self, arrays: Any) -> dict[str, float]:
        return {"mean": next(self._given)}


class Listener(Silent):
    """Records early ends."""

    def __init__(self) -> None:
        self.best_epochs: list[int] = []

    def stalled(self, best_epoch: int) -> None:
        self.best_epochs.append(best_epoch)


@pytest.mark.parametrize(("scores", "patience", "n_epochs"), [
    ([1, 2, 3, 2, 2, 2, 2, 2, 2, 9], 0.3, 6),  # three without a better one
    ([1, 2, 3, 2, 2, 2, 2, 2, 2, 9], 0.5, 8),
    ([1, 2, 3, 3, 3, 3, 9, 9, 9, 9], 0.3, 6),  # an equal one is not better
    ([1, 2, 3, 2, 2, 4, 3, 3, 5, 3], 0.3, 10),
    ([3, 2, 2, 2, 2, 2, 2, 2, 2, 2], 0.01, 1 + MIN_PATIENCE),
    ([3, 2, 2, 2, 2, 2, 2, 2, 2, 2], 0.0, 10),
])  # fmt: skip
def test_training_stops_when_dev_does_not_improve(
    tmp_path: Path, scores: list[float], patience: float, n_epochs: int
) -> None:
    task = Scored(scores, patience)
    progress = Listener()
    assert len(TrainingLoop(task, tmp_path).run(progress)) == n_epochs
    best = 1 + scores[:n_epochs].index(max(scores[:n_epochs]))
    assert progress.best_epochs == ([best] if n_epochs < len(scores) else [])
    again = Scored(scores, patience)  # a run that has stopped does not go on when it is resumed
    assert len(TrainingLoop(again, tmp_path, resume=True).run(Silent())) == n_epochs


def test_without_dev_data_patience_has_no_effect(tmp_path: Path) -> None:
    task = Signs(TrainingSettings(epochs=5, patience=0.2), has_dev=False)
    assert len(TrainingLoop(task, tmp_path).run(Silent())) == 5


@pytest.mark.parametrize("changes", [{"patience": -0.1}, {"patience": 1.5}, {"min_updates": -1}])
def test_budgets_out_of_range_are_refused(changes: dict[str, Any]) -> None:
    for settings in (TrainingSettings, TrainingConfig):
        with pytest.raises(ConfigError, match=next(iter(changes))):
            settings(**changes)


def treebank(tmp_path: Path, text: str) -> Treebank:
    path = tmp_path / "train.conllu"
    path.write_text(text, encoding="utf-8")
    return read_treebank(path, is_partial=True, skips=True)


def test_a_tenth_is_held_out(tmp_path: Path) -> None:
    whole = treebank(tmp_path, TREE * 100)
    train, dev = held_out(whole, needs_trees=True)
    assert dev is not None
    assert (len(train.sentences), len(dev.sentences)) == (90, 10)
    lines = sorted(sentence.line or 0 for part in (train, dev) for sentence in part.sentences)
    assert lines == [sentence.line for sentence in whole.sentences]
    assert train.sha256 == whole.sha256 != dev.sha256
    assert held_out(whole, needs_trees=True) == (train, dev)


def test_whole_documents_are_held_out(tmp_path: Path) -> None:
    documents = [f"# newdoc id = {n}\n" + TREE + TREE * (n % 3) for n in range(60)]
    whole = treebank(tmp_path, "".join(documents))
    train, dev = held_out(whole, needs_trees=True)
    assert dev is not None
    numbers: dict[int, int] = {}
    n = -1
    for sentence in whole.sentences:
        n += any("newdoc" in comment for comment in sentence.comments)
        numbers[sentence.line or 0] = n
    of_train, of_dev = ({numbers[s.line or 0] for s in part.sentences} for part in (train, dev))
    assert not of_train & of_dev
    assert len(of_train | of_dev) == 60


def test_only_complete_trees_are_held_out_for_a_parser(tmp_path: Path) -> None:
    whole = treebank(tmp_path, (TREE + PARTIAL) * 50)
    _, dev = held_out(whole, needs_trees=True)
    _, tagged = held_out(whole, needs_trees=False)
    assert dev is not None
    assert tagged is not None
    assert all(None not in sentence.heads for sentence in dev.sentences)
    assert len(dev.sentences) == 5  # a tenth of those that can be
    assert len(tagged.sentences) == 10


def test_a_few_sentences_are_not_split(tmp_path: Path) -> None:
    whole = treebank(tmp_path, TREE * 19)
    assert held_out(whole, needs_trees=True) == (whole, None)
    assert held_out(treebank(tmp_path, PARTIAL * 40), needs_trees=True)[1] is None


def test_users_hear_what_is_held_out_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "train.conllu"
    path.write_text(TREE * 100 + ROOTLESS + TREE * 100, encoding="utf-8")
    job = Job(path, tmp_path / "model", holds_out=True)
    data = TrainingData.read(job, freeze_external=False)
    skipped, held = data.remarks
    assert skipped.startswith(f"warning: skipped sentences that are not trees: 1; {path}:301: no word has HEAD 0")
    assert held.startswith("no --dev: 20 of 200 sentences are held out")
    assert data.dev is not None
    assert len(data.train.sentences) + len(data.dev.sentences) == 200
    assert not TrainingData.read(replace(job, holds_out=False), freeze_external=False).dev


def test_users_hear_that_nothing_is_held_out(tmp_path: Path) -> None:
    path = tmp_path / "train.conllu"
    path.write_text(TREE * 19 + PARTIAL * 100, encoding="utf-8")
    job = Job(path, tmp_path / "model", holds_out=True)
    data = TrainingData.read(job, freeze_external=False)
    assert data.dev is None
    assert data.remarks == (
        "no --dev, and too few sentences to hold some out: the last epoch is kept, without confidence",
    )
    assert not TrainingData.read(replace(job, holds_out=False), freeze_external=False).remarks


def test_a_treebank_with_many_sentences_that_are_no_trees_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.conllu"
    for text in (TREE * 99 + ROOTLESS, ROOTLESS + TREE, ROOTLESS):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="no word has HEAD 0"):
            read_treebank(path, is_partial=True, skips=True)
    path.write_text(TREE * 1000 + ROOTLESS, encoding="utf-8")
    with pytest.raises(DataError, match="no word has HEAD 0"):
        read_treebank(path)
