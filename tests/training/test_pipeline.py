"""All parts from one treebank: trained together, one by one, interrupted and resumed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model.parser_config import preset
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import load_tagger
from easyfirst.model.tokenizer_config import TokenizerConfig, TokenizerTraining
from easyfirst.native.backend import Backend
from easyfirst.parser import load
from easyfirst.text.tagging import Tagger
from easyfirst.training.data import Job
from easyfirst.training.lock import sole_training
from easyfirst.training.pipeline import PipelineConfig, train_pipeline
from easyfirst.training.run_folders import PARSER, PARTS
from easyfirst.training.tagger_task import accuracies
from easyfirst.training.training_loop import Silent
from easyfirst.treebank.conllu import read_conllu

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
TRAIN, DEV = TOY / "handwritten.conllu", TOY / "dev.conllu"
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}
CONFIG = PipelineConfig(
    parser=preset("paper", network=SMALL, training={"epochs": 2}),
    reads_all_tags=True,
    tokenizer=TokenizerConfig(character_dim=4, hidden_dim=4, token_dim=4),
    tokenizer_training=TokenizerTraining(epochs=2),
    tagger=TaggerConfig(word_dim=4, character_dim=4, spelling_dim=4, bilstm_dim=4),
    tagger_training=TaggerTraining(epochs=2),
    folds=2,
)


class Listener:
    """Records the callbacks, and stops the training at a given one."""

    def __init__(self, stop_at: str = "") -> None:
        self.heard: list[str] = []
        self.joined: list[tuple[int, dict[str, float]]] = []
        self.stop_at = stop_at

    def hear(self, what: str) -> None:
        self.heard.append(what)
        if what == self.stop_at:
            raise KeyboardInterrupt

    def data(self, report: object) -> None:
        self.hear("data")

    def note(self, text: str) -> None:
        """Ignore it."""

    def part(self, name: str, n_epochs: int) -> PartListener:
        return PartListener(self, name)

    def ensemble_end(self, n_members: int, accuracy: Mapping[str, float]) -> None:
        self.joined.append((n_members, dict(accuracy)))


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


PAIR = replace(CONFIG, parts=("tagger",), tagger=replace(CONFIG.tagger, members=2))
EPOCHS_OF_PAIR = [f"tagger {member} of 2 {epoch}" for member in (1, 2) for epoch in (1, 2)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with nothing but a tagger of two members."""
    path = tmp_path_factory.mktemp("pairs") / "pair"
    listener = Listener()
    histories = train_pipeline(job_in(path), PAIR, listener)
    assert listener.heard == EPOCHS_OF_PAIR
    assert [line["epoch"] for line in histories["tagger"]] == [1, 2, 1, 2]
    dev = list(read_conllu(DEV))
    tagger = Tagger(load_tagger(path / "tagger", None), Backend.exact())
    predicted = tagger.predict([sentence.forms for sentence in dev])
    assert listener.joined == [(2, accuracies(dev, predicted))]
    return path


def test_members_are_taggers_of_one_seed_after_the_other(pair: Path, tmp_path: Path) -> None:
    joined = load_tagger(pair / "tagger", None)
    for number, prefix in enumerate(("", "member1.")):
        training = replace(CONFIG.tagger_training, seed=CONFIG.tagger_training.seed + number)
        job = job_in(tmp_path / str(number))
        train_pipeline(job, replace(CONFIG, parts=("tagger",), tagger_training=training), Listener())
        alone = load_tagger(job.out / "tagger", None)
        assert all(np.array_equal(joined.arrays[prefix + name], array) for name, array in alone.arrays.items())


@pytest.mark.parametrize("moment", EPOCHS_OF_PAIR)
def test_members_are_resumed_from_anywhere(pair: Path, tmp_path: Path, moment: str) -> None:
    job = job_in(tmp_path / "pair")
    with pytest.raises(KeyboardInterrupt):
        train_pipeline(job, PAIR, Listener(moment))
    assert not (job.out / "tagger").exists()
    listener = Listener()
    train_pipeline(job, PAIR, listener, resume=True)
    assert listener.heard == EPOCHS_OF_PAIR[EPOCHS_OF_PAIR.index(moment) + 1 :]
    assert files_of(job.out) == files_of(pair)


def test_members_of_an_old_run_are_not_gone_on_with(pair: Path, tmp_path: Path) -> None:
    job = job_in(shutil.copytree(pair, tmp_path / "pair"))
    with pytest.raises(KeyboardInterrupt):
        train_pipeline(job, PAIR, Listener("tagger 1 of 2 1"), overwrite=True)
    listener = Listener()
    train_pipeline(job, PAIR, listener, resume=True)
    assert listener.heard == EPOCHS_OF_PAIR[1:]


def test_folds_are_tagged_by_one_member_each(pair: Path, tmp_path: Path) -> None:
    job = job_in(shutil.copytree(pair, tmp_path / "pair"))
    train_pipeline(job, replace(PAIR, parts=(PARSER,)), Listener())
    fold = load_tagger(job.out / "training" / "jackknife" / "fold-1" / "tagger", None)
    assert fold.config.members == 1
    assert load(job.out).tagger is not None


def test_parts_one_by_one(tmp_path: Path) -> None:
    job = job_in(tmp_path / "m")
    for part in PARTS:
        config = replace(CONFIG, parts=(part,), predicted_tags=False)
        train_pipeline(job, config, Listener())
        with pytest.raises(ModelError, match="continue with --resume, or start again with --overwrite"):
            train_pipeline(job, config, Listener())
    assert load(job.out)("The fox jumps.").sentences
    before = files_of(job.out)
    train_pipeline(
        job,
        replace(CONFIG, parts=("tagger",), tagger_training=TaggerTraining(epochs=1, seed=2)),
        Listener(),
        overwrite=True,
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


def test_dev_sentences_need_no_tags_that_are_predicted(tmp_path: Path) -> None:
    dev = tmp_path / "dev.conllu"
    dev.write_bytes(b"".join(s.with_tags(xpos=["_"] * len(s)).to_bytes() for s in read_conllu(DEV)))
    job = replace(job_in(tmp_path / "m"), dev=dev)
    histories = train_pipeline(job, replace(CONFIG, parts=("tagger", PARSER)), Listener())
    assert list(histories["tagger"][0]["dev"]) == ["mean", "upos", "lemmas", "all"]
    assert load(job.out).reads_tags == ("upos", "xpos")
    with pytest.raises(DataError, match="has no XPOS"):
        train_pipeline(replace(job, out=tmp_path / "n"), replace(CONFIG, predicted_tags=False), Listener())


def test_predicted_tags_need_a_tagger(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no tagger to predict tags"):
        train_pipeline(job_in(tmp_path / "m"), replace(CONFIG, parts=(PARSER,)), Listener())


def test_bad_data_is_found_before_anything_is_trained(tmp_path: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    listener = Listener()
    with pytest.raises(DataError, match="no sentence of two words"):
        train_pipeline(Job(train=bad, out=tmp_path / "m"), CONFIG, listener)
    assert listener.heard == []
    assert not (tmp_path / "m").exists()


def test_only_a_parser_needs_trees(tmp_path: Path) -> None:
    """A tagger is trained and judged by sentences without heads, which a parser's dev set must have."""
    for name, path in (("train", TRAIN), ("dev", DEV)):
        bare = [s.with_tree([None] * len(s), [None] * len(s)) for s in read_conllu(path)]
        (tmp_path / f"{name}.conllu").write_bytes(b"".join(sentence.to_bytes() for sentence in bare))
    job = Job(train=tmp_path / "train.conllu", dev=tmp_path / "dev.conllu", out=tmp_path / "model")
    histories = train_pipeline(job, replace(CONFIG, parts=("tagger",)), Listener())
    assert histories["tagger"][-1]["dev"]["upos"] > 0
    with pytest.raises(DataError, match="no head"):
        train_pipeline(replace(job, train=TRAIN), replace(CONFIG, parts=(PARSER,)), Listener(), overwrite=True)


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ModelError, match="exists already; choose another"):
        train_pipeline(job_in(tmp_path), CONFIG, Listener())


def test_parts_that_there_are_not() -> None:
    with pytest.raises(ConfigError, match=r"^parts: 'lemmatizer'; choose from tokenizer, tagger, parser$"):
        PipelineConfig(parts=("lemmatizer",))


def test_nothing_to_resume(whole: Path, tmp_path: Path) -> None:
    """Then a run begins, unless that would replace a model."""
    listener = Listener()
    train_pipeline(job_in(tmp_path / "m"), CONFIG, listener, resume=True)
    assert listener.heard == WHOLE
    shutil.copytree(whole, tmp_path / "copy", ignore=shutil.ignore_patterns("training"))
    for part in ("parser", "tokenizer"):
        with pytest.raises(ModelError, match=f"has a {part}, but no training run of it to resume"):
            train_pipeline(job_in(tmp_path / "copy"), replace(CONFIG, parts=(part,)), Listener(), resume=True)


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "whole"))


def test_a_tagger_that_is_there_predicts_the_parsers_tags(whole: Path, copy: Path) -> None:
    other = replace(CONFIG.tagger, word_dim=64)
    listener = Listener()
    train_pipeline(job_in(copy), replace(CONFIG, parts=(PARSER,), tagger=other), listener, overwrite=True)
    assert listener.heard == WHOLE[4:]
    assert files_of(copy) == files_of(whole)


def test_a_tagger_without_the_tags_that_the_parser_reads(copy: Path, tmp_path: Path) -> None:
    train = tmp_path / "upos.conllu"
    sentences = [sentence.with_tags(xpos=["_"] * len(sentence)) for sentence in read_conllu(TRAIN)]
    train.write_bytes(b"".join(sentence.to_bytes() for sentence in sentences))
    config = replace(CONFIG, tagger_training=TaggerTraining(epochs=1))
    train_pipeline(Job(train=train, out=copy), replace(config, parts=("tagger",)), Listener(), overwrite=True)
    with pytest.raises(ModelError, match="predicts no XPOS; choose --tags upos, or train it again"):
        train_pipeline(job_in(copy), replace(config, parts=(PARSER,)), Listener(), overwrite=True)


def test_a_new_run_that_is_killed_can_be_resumed(copy: Path) -> None:
    """Nothing of the old part is left that would not match the new one."""
    config = replace(
        CONFIG, tokenizer_training=TokenizerTraining(epochs=1), tagger_training=TaggerTraining(epochs=1), folds=3
    )
    with pytest.raises(KeyboardInterrupt):
        train_pipeline(job_in(copy), config, Listener("tokenizer 1"), overwrite=True)
    listener = Listener()
    train_pipeline(job_in(copy), config, listener, resume=True)
    folds = [told for fold in (1, 2, 3) for told in ("jackknife 1", f"fold {fold}")]
    assert listener.heard == ["tagger 1", *folds, "data", "parser 1", "parser 2"]


def test_a_jackknifing_that_was_cut_off_is_not_lost_to_a_parser_alone(whole: Path, tmp_path: Path) -> None:
    job, parser_alone = job_in(tmp_path / "whole"), replace(CONFIG, parts=(PARSER,))
    with pytest.raises(KeyboardInterrupt):
        train_pipeline(job, CONFIG, Listener("fold 1"))
    with pytest.raises(ModelError, match="a training run is there; continue with --resume"):
        train_pipeline(job, parser_alone, Listener())
    listener = Listener()
    train_pipeline(job, parser_alone, listener, resume=True)
    assert listener.heard == WHOLE[WHOLE.index("fold 1") :]
    assert files_of(job.out) == files_of(whole)


def test_one_training_at_a_time_in_a_directory(copy: Path) -> None:
    before = files_of(copy)
    with sole_training(copy), pytest.raises(ModelError, match="another training is running there; wait for its end"):
        train_pipeline(job_in(copy), CONFIG, Listener(), overwrite=True)
    assert files_of(copy) == before
    train_pipeline(job_in(copy), CONFIG, Listener(), overwrite=True)


def test_a_training_that_is_refused_leaves_no_directory(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    members = replace(CONFIG.parser, members=2)
    for name, is_there in (("new", False), ("old", True)):
        with pytest.raises(ConfigError, match="join them by 'easyfirst combine'"):
            train_pipeline(
                job_in(tmp_path / name),
                PipelineConfig(parts=(PARSER,), parser=members, predicted_tags=False),
                Listener(),
            )
        assert (tmp_path / name).is_dir() == is_there


def test_vectors_that_a_part_which_stays_does_not_know(tmp_path: Path) -> None:
    some, other = tmp_path / "some.txt", tmp_path / "other.txt"
    some.write_text("the 1 2\nfox 3 4\n")
    other.write_text("the 4 3\nfox 2 1\n")
    job = replace(job_in(tmp_path / "m"), vectors=some)
    config = replace(CONFIG, predicted_tags=False)
    train_pipeline(job, replace(config, parts=("tagger", PARSER)), Listener())
    before = files_of(job.out)
    for part, stays, vectors, kind in (
        ("tagger", PARSER, other, "other word"),
        (PARSER, "tagger", None, "word"),
        ("tokenizer", "tagger", other, "other word"),
    ):
        message = f"its {stays} was trained with {kind} vectors.*; give the same --embeddings, or train the {stays} too"
        with pytest.raises(ModelError, match=message):
            train_pipeline(replace(job, vectors=vectors), replace(config, parts=(part,)), Listener(), overwrite=True)
    assert files_of(job.out) == before
    train_pipeline(replace(job, vectors=None), replace(config, parts=("tokenizer",)), Listener())
    assert load(job.out)("The fox jumps.").sentences


def test_folds_and_tags_are_checked_before_anything_is_trained(tmp_path: Path) -> None:
    untagged = tmp_path / "untagged.conllu"
    nothing = [s.with_tags(upos=["_"] * len(s), xpos=["_"] * len(s)) for s in read_conllu(TRAIN)]
    untagged.write_bytes(b"".join(sentence.to_bytes() for sentence in nothing))
    listener = Listener()
    with pytest.raises(ConfigError, match="28 folds of 27 sentences"):
        train_pipeline(job_in(tmp_path / "m"), replace(CONFIG, folds=28), listener)
    with pytest.raises(DataError, match=r"untagged\.conllu: no UPOS or XPOS tags for a tagger to learn"):
        train_pipeline(Job(train=untagged, out=tmp_path / "m"), CONFIG, listener)
    assert listener.heard == []
    assert not (tmp_path / "m").exists()


def test_no_jackknifing_for_a_parser_that_reads_no_tags(tmp_path: Path) -> None:
    parser = preset("paper", network={**SMALL, "tags": "none"}, training={"epochs": 1})
    config = replace(CONFIG, parts=("tagger", PARSER), parser=parser, reads_all_tags=False, folds=28)
    listener = Listener()
    train_pipeline(job_in(tmp_path / "m"), config, listener)
    assert listener.heard == ["tagger 1", "tagger 2", "data", "parser 1"]
