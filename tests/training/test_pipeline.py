"""All parts from one treebank: trained together, one by one, interrupted and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model.config import preset
from easyfirst.parser import load
from easyfirst.text.tagger_store import TaggerConfig
from easyfirst.text.tokenizer_store import TokenizerConfig
from easyfirst.training.material import Job
from easyfirst.training.pipeline import PARSER, PARTS, PipelineConfig, train_pipeline
from easyfirst.training.supervised import Silent
from easyfirst.training.tagger import TaggerLearning
from easyfirst.training.tokenizer import TokenizerLearning
from easyfirst.treebank.conllu import read_conllu

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
TRAIN, DEV = TOY / "handwritten.conllu", TOY / "dev.conllu"
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}
CONFIG = PipelineConfig(
    parser=preset("paper", network=SMALL, training={"epochs": 2}),
    reads_all_tags=True,
    tokenizer=TokenizerConfig(character_dim=4, hidden_dim=4, token_dim=4),
    tokenizer_learning=TokenizerLearning(epochs=2),
    tagger=TaggerConfig(word_dim=4, character_dim=4, spelling_dim=4, bilstm_dim=4),
    tagger_learning=TaggerLearning(epochs=2),
    folds=2,
)


class Listener:
    """Remembers what it is told; stops when it hears what it was told to wait for."""

    def __init__(self, stop_at: str = "") -> None:
        self.heard: list[str] = []
        self.stop_at = stop_at

    def hear(self, what: str) -> None:
        self.heard.append(what)
        if what == self.stop_at:
            raise KeyboardInterrupt

    def data(self, report: object) -> None:
        self.hear("data")

    def progress(self, epoch: int, stats: object) -> None: ...

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        self.hear(f"parser {metrics['epoch']}")

    def part(self, name: str, n_epochs: int) -> PartListener:
        return PartListener(self, name)


class PartListener(Silent):
    def __init__(self, listener: Listener, name: str) -> None:
        self.listener, self.name = listener, name

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        self.listener.hear(f"{self.name} {metrics['epoch']}")

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        self.listener.hear(f"fold {fold}")


WHOLE = [
    *("tokenizer 1", "tokenizer 2", "tagger 1", "tagger 2"),
    *("jackknife 1", "jackknife 2", "fold 1", "jackknife 1", "jackknife 2", "fold 2"),
    *("data", "parser 1", "parser 2"),
]


def job_in(path: Path) -> Job:
    return Job(train=TRAIN, dev=DEV, out=path)


def files_of(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and "training" not in file.parts
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pipelines") / "whole"
    listener = Listener()
    histories = train_pipeline(job_in(path), CONFIG, listener)
    assert listener.heard == WHOLE
    assert {part: len(history) for part, history in histories.items()} == dict.fromkeys(PARTS, 2)
    return path


def test_the_result_reads_text(whole: Path) -> None:
    nlp = load(whole)
    assert nlp.reads_tags == ("upos", "xpos")
    assert nlp.needs_tags == ()
    assert nlp("The fox jumps.").text == "The fox jumps."
    assert "tags predicted by jackknifing, 2 folds" in (whole / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("moment", ["tokenizer 1", "tagger 2", "fold 1", "parser 1"])
def test_resumed_from_anywhere_it_is_the_same_bit_for_bit(whole: Path, tmp_path: Path, moment: str) -> None:
    job = job_in(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train_pipeline(job, CONFIG, Listener(moment))
    listener = Listener()
    train_pipeline(job, CONFIG, listener, resume=True)
    assert listener.heard != WHOLE
    assert files_of(job.out) == files_of(whole)


def test_parts_one_by_one(tmp_path: Path) -> None:
    job = job_in(tmp_path / "m")
    for part in PARTS:
        config = replace(CONFIG, parts=(part,), predicted_tags=False)
        train_pipeline(job, config, Listener())
        with pytest.raises(ModelError, match="go on with --resume, or start anew with --overwrite"):
            train_pipeline(job, config, Listener())
    assert load(job.out)("The fox jumps.").sentences
    before = files_of(job.out)
    train_pipeline(
        job, replace(CONFIG, parts=("tagger",), tagger_learning=TaggerLearning(epochs=1)), Listener(), overwrite=True
    )
    after = files_of(job.out)
    assert {name for name in before if before[name] != after[name]} == {"tagger/weights.safetensors"}


def test_the_parser_learns_from_predicted_tags(whole: Path, tmp_path: Path) -> None:
    gold = {tag for sentence in read_conllu(TRAIN) for tag in sentence.upos}
    job = job_in(tmp_path / "m")
    train_pipeline(job, replace(CONFIG, parts=("tagger", PARSER), predicted_tags=False), Listener())
    assert set(load(job.out).model.vocabulary.tags["upos"]) == gold
    assert set(load(whole).model.vocabulary.tags["upos"]) <= gold
    assert files_of(job.out)["weights.safetensors"] != files_of(whole)["weights.safetensors"]


def test_predicted_tags_need_a_tagger(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no tagger to predict tags"):
        train_pipeline(job_in(tmp_path / "m"), replace(CONFIG, parts=(PARSER,)), Listener())


def test_bad_data_is_found_before_anything_is_trained(tmp_path: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    listener = Listener()
    with pytest.raises(DataError, match="no projective sentence of two words"):
        train_pipeline(Job(train=bad, out=tmp_path / "m"), CONFIG, listener)
    assert listener.heard == []
    assert not (tmp_path / "m").exists()


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ModelError, match="exists already; choose another"):
        train_pipeline(job_in(tmp_path), CONFIG, Listener())


def test_parts_that_there_are_not() -> None:
    with pytest.raises(ConfigError, match="parts must be some of tokenizer, tagger, parser"):
        PipelineConfig(parts=("lemmatizer",))


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no checkpoint to resume from"):
        train_pipeline(job_in(tmp_path / "m"), CONFIG, Listener(), resume=True)
