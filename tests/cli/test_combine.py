"""``easyfirst combine``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import easyfirst
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.parser_store import initial_parser, sizes_of
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_store import initial_tagger, join_taggers
from easyfirst.parser import Parser, load
from easyfirst.text.tagging import Tagger
from easyfirst.treebank.conllu import read_conllu
from tests.commands import Run
from tests.small_models import TREEBANK, small_model, small_tagger, small_tokenizer

WORDS = ["The", "fox", "jumps", "over", "it"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same settings and treebank, other weights; the second has a tokenizer too."""
    folder = tmp_path_factory.mktemp("models")
    for seed in (1, 2, 3):
        model, tagger = small_model("both"), small_tagger().model
        sizes = sizes_of(model.vocabulary, None)
        arrays = initial_parser(model.config.network, sizes, np.random.default_rng(seed))
        tags = initial_tagger(tagger.config, tagger.vocabulary, np.random.default_rng(seed))
        parser = Parser(
            replace(model, arrays=arrays),
            tokenizer=small_tokenizer() if seed == 2 else None,
            tagger=Tagger(replace(tagger, arrays=tags)),
        )
        parser.save(folder / f"my-{seed}")
    return [folder / f"my-{seed}" for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def combined(models: list[Path], run: Run) -> Path:
    out = models[0].with_name("combined")
    done = run("combine", *models, "--out", out, "--dev", TREEBANK, "--predicted-tags")
    assert done.returncode == 0, done.stderr
    assert b"3 members" in done.stderr
    return out


def test_all_its_parts(combined: Path) -> None:
    parser = load(combined)
    assert parser.config.members == 3
    assert parser.tokenizer is not None
    assert parser.tagger is not None
    assert parser.tagger.model.config.members == 3
    assert parser.model.calibration is not None
    assert parser.model.calibration.fitted_on.tags == "predicted"
    assert parser("The fox jumps. It likes apples.").sentences


def test_python_does_the_same(combined: Path, models: list[Path]) -> None:
    [found] = easyfirst.combine(*models).parse([WORDS])
    [expected] = load(combined).parse([WORDS])
    assert (found.heads, found.relations) == (expected.heads, expected.relations)
    np.testing.assert_allclose(found.steps.scores, expected.steps.scores, atol=1e-6)


def test_the_card_tells_its_scores(combined: Path, run: Run) -> None:
    facts = json.loads(run("info", combined, "--json").stdout)
    gold = list(read_conllu(TREEBANK))
    evaluated = json.loads(run("evaluate", TREEBANK, "--model", combined, "--predicted-tags", "--json").stdout)
    [full] = [row for row in facts["scores"] if row["convention"].startswith("all words")]
    assert full["LAS"] == pytest.approx(evaluated["full"]["LAS"], abs=0.01)
    assert full["words"] == sum(map(len, gold))
    assert "3 networks" in run("info", combined).stdout.decode()


def test_verbs_take_it_like_any_other(combined: Path, run: Run, tmp_path: Path) -> None:
    parsed = run("parse", "--model", combined, "--text", "The fox jumps.")
    assert parsed.returncode == 0
    assert run("explain", "--model", combined, "--text", "The fox jumps.").returncode == 0
    assert run("pack", combined, "--out", tmp_path / "small", "--bits", "8").returncode == 0
    assert load(tmp_path / "small").config.members == 3


def test_without_dev_it_says_what_is_missing(models: list[Path], run: Run, tmp_path: Path) -> None:
    done = run("combine", models[0], models[2], "--out", tmp_path / "two")
    assert done.returncode == 0
    assert b"two DEV --predicted-tags' does that" in done.stderr
    assert load(tmp_path / "two").tokenizer is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0"], b"two models or more"),
        (["0", "nowhere"], b"there is no model"),
        (["0", "0"], b"is the same parser as"),
        (["0", "1", "--predicted-tags"], b"goes with --dev"),
        (["0", "1", "--dev", "nowhere.conllu"], b"nowhere.conllu"),
        (["0", "untagged"], b"has no tagger, and others have one"),
    ],
)
def test_what_cannot_be(arguments: list[str], message: bytes, models: list[Path], run: Run, tmp_path: Path) -> None:
    Parser(load(models[2]).model).save(tmp_path / "untagged")
    places = {"0": models[0], "1": models[1], "untagged": tmp_path / "untagged"}
    done = run("combine", *(places.get(name, name) for name in arguments), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_another_tagger(models: list[Path], run: Run, tmp_path: Path) -> None:
    Parser(load(models[1]).model, tagger=small_tagger(kinds=("upos",))).save(tmp_path / "other")
    done = run("combine", models[0], tmp_path / "other", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert b"the tagger of " in done.stderr


def test_one_tagger_for_all_stays_one(models: list[Path], run: Run, tmp_path: Path) -> None:
    Parser(load(models[1]).model, tagger=load(models[0]).tagger).save(tmp_path / "other")
    assert run("combine", models[0], tmp_path / "other", "--out", tmp_path / "out").returncode == 0
    tagger = load(tmp_path / "out").tagger
    assert tagger is not None
    assert tagger.model.config.members == 1


def test_members_of_taggers_count_once(models: list[Path], run: Run, tmp_path: Path) -> None:
    """Seeds 1 and 2 with two members each have one in common."""
    taggers = [load(path).tagger for path in models]
    for name, pair in (("a", taggers[:2]), ("b", taggers[1:])):
        number = 0 if name == "a" else 1
        of_pair = join_taggers([tagger.model for tagger in pair if tagger is not None])
        Parser(load(models[number]).model, tagger=Tagger(of_pair)).save(tmp_path / name)
    assert run("combine", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out").returncode == 0
    tagger = load(tmp_path / "out").tagger
    assert tagger is not None
    assert tagger.model.config.members == 3


def test_vectors_of_taggers_must_be_the_same(models: list[Path], run: Run, tmp_path: Path) -> None:
    for number, value in enumerate((1.0, 2.0)):
        vectors = SharedVectors.of(Embeddings(("the", "fox"), np.full((2, 3), value, dtype=np.float32) + np.eye(2, 3)))
        Parser(load(models[number]).model, tagger=small_tagger(vectors)).save(tmp_path / str(number))
    done = run("combine", tmp_path / "0", tmp_path / "1", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert b"its word vectors are different; give all of them the same --embeddings" in done.stderr


def test_a_training_run_is_not_replaced(models: list[Path], run: Run, tmp_path: Path) -> None:
    (tmp_path / "out" / "training").mkdir(parents=True)
    for verb in (["combine", *models], ["pack", models[0]]):
        done = run(*verb, "--out", tmp_path / "out", "--overwrite")
        assert done.returncode == 2
        assert b"has a training run" in done.stderr
    (tmp_path / "file").touch()
    assert b"is a file" in run("combine", *models, "--out", tmp_path / "file", "--overwrite").stderr


def test_nothing_is_replaced_unasked(models: list[Path], run: Run, tmp_path: Path) -> None:
    Parser(small_model("none")).save(tmp_path / "out")
    refused = run("combine", *models, "--out", tmp_path / "out")
    assert refused.returncode == 2
    assert b"exists already" in refused.stderr
    assert run("combine", *models, "--out", tmp_path / "out", "--overwrite").returncode == 0
    assert load(tmp_path / "out").config.members == 3
    onto_itself = run("combine", models[0], models[1], "--out", models[0], "--overwrite")
    assert onto_itself.returncode == 2
    assert b"is one of the members" in onto_itself.stderr


def test_predicting_tags_without_a_tagger_loses_nothing(models: list[Path], run: Run, tmp_path: Path) -> None:
    """What can go wrong goes wrong before anything is written."""
    for number in (0, 1):
        Parser(load(models[number]).model).save(tmp_path / str(number))
    done = run(
        "combine", tmp_path / "0", tmp_path / "1", "--out", tmp_path / "out", "--dev", TREEBANK, "--predicted-tags"
    )
    assert done.returncode == 2
    assert b"has no tagger to predict tags" in done.stderr
    assert not (tmp_path / "out").exists()
