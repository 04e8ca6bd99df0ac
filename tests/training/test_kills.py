"""Training that is killed at file events: a model can be used at any time, and ``--resume`` always goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from easyfirst.errors import ModelError
from easyfirst.model.saving import load_model
from easyfirst.replacing import PREFIX
from tests.cli.tiny_training import TINY, TOY, TRAIN
from tests.commands import run_here
from tests.kills import kills, run_killed
from tests.model.stored import visible

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"), pytest.mark.slow]
PARSER = ("config.json", "vocab.json", "weights.safetensors")
OTHERS = tuple(f"{part}/{name}" for part in ("tokenizer", "tagger") for name in PARSER)
DEV = TOY.parent.parent / "tests" / "data" / "multiword.conllu"
SMALL_PARTS = [
    *("--set", "tagger.word_dim=4", "--set", "tagger.spelling_dim=4", "--set", "tagger.bilstm_dim=4"),
    *("--set", "tagger.epochs=1", "--set", "tokenizer.epochs=1", "--set", "tokenizer.hidden_dim=4"),
    *("--folds", "2", "--parts", "all"),
]


def run_training(out: Path, *more: str, seed: int = 1) -> CompletedProcess[bytes]:
    return run_here("train", TRAIN, "--dev", DEV, "-q", "-o", out, "--seed", str(seed), *TINY, *more)


def train(out: Path, *more: str, seed: int = 1) -> Callable[[], None]:
    """Return a function that trains, which must succeed."""

    def run() -> None:
        done = run_training(out, *more, seed=seed)
        assert done.returncode == 0, done.stderr.decode()

    return run


def model_in(place: Path) -> dict[str, bytes]:
    """Return the files of a model without those of its training."""
    files = visible(place) if place.exists() else {}
    return {name: content for name, content in files.items() if not name.startswith("training/")}


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Models of all parts, of two seeds."""
    places = [tmp_path_factory.mktemp("whole") / "m" for _ in range(2)]
    for seed, place in enumerate(places, 1):
        train(place, "--epochs", "2", *SMALL_PARTS, seed=seed)()
    return places


def test_resume_continues_or_begins(tmp_path: Path) -> None:
    """The same command, again and again: whenever it is killed, it goes on, and the end is the same."""
    out, whole = tmp_path / "m" / "m", tmp_path / "whole" / "m"
    train(whole, "--epochs", "2")()
    action, expected = train(out, "--epochs", "2", "--resume"), model_in(whole)
    n_killed = 0
    for _ in kills(action, out, lambda: shutil.rmtree(out, ignore_errors=True), step=3):
        if "config.json" in model_in(out):
            load_model(out)
        action()
        assert model_in(out) == expected, n_killed
        assert not list(out.rglob(f"{PREFIX}*"))
        n_killed += 1
    assert n_killed > 30


def test_killed_again_and_again(tmp_path: Path) -> None:
    """A restart script brings a training to its end, though it is killed after few events each time."""
    out, whole = tmp_path / "m" / "m", tmp_path / "whole" / "m"
    train(whole, "--epochs", "2")()
    n_killed = 0
    while run_killed(train(out, "--epochs", "2", "--resume"), out, 20 + 10 * n_killed) is None:
        n_killed += 1
        assert n_killed < 20
    assert n_killed
    assert model_in(out) == model_in(whole)


def test_an_old_model_stays_until_the_new_one_is_whole(wholes: list[Path], tmp_path: Path) -> None:
    """Parser, tagger and tokenizer are all of the old model, or all of the new one."""
    out = tmp_path / "m"
    old, new = map(model_in, wholes)
    assert all(old[name] != new[name] for name in ("weights.safetensors", OTHERS[2], OTHERS[5]))
    action = train(out, "--epochs", "2", "--overwrite", *SMALL_PARTS, seed=2)

    def prepare() -> None:
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(wholes[0], out)

    seen: list[bool] = []
    for number in kills(action, out, prepare, step=9):
        load_model(out)
        found = model_in(out)
        is_new = found["weights.safetensors"] != old["weights.safetensors"]
        assert {name: found[name] for name in OTHERS} == {name: (new if is_new else old)[name] for name in OTHERS}
        seen.append(is_new)
        if number % 27 == 0:
            is_untouched = visible(out) == visible(wholes[0])
            done = run_training(out, "--epochs", "2", "--resume", *SMALL_PARTS, seed=2)
            if is_untouched:  # there is only the old run
                assert b"different settings (seed was 1)" in done.stderr
                continue
            assert done.returncode == 0, done.stderr
            assert model_in(out) == new
            assert not (out / "training" / "new").exists()
    assert {*seen} == {False, True}


def test_a_model_without_a_run_is_not_replaced(wholes: list[Path], tmp_path: Path) -> None:
    """``--resume`` does not begin where there is a model that was not trained there."""
    shutil.copytree(wholes[0], tmp_path / "m", ignore=shutil.ignore_patterns("training"))
    done = run_here("train", TRAIN, "-o", tmp_path / "m", "--resume", *TINY)
    assert done.returncode == 2
    assert b"has a parser, but no training run of it to resume; choose another --out, or start with" in done.stderr
    assert model_in(tmp_path / "m") == model_in(wholes[0])


def test_a_model_needs_all_its_parts(wholes: list[Path], tmp_path: Path) -> None:
    """A new model killed while it is trained is no model before its parser is there."""
    for _ in kills(train(tmp_path / "m", *SMALL_PARTS, "--epochs", "1"), tmp_path / "m", lambda: None, step=40):
        try:
            parts = load_model(tmp_path / "m")
        except ModelError:
            assert "config.json" not in model_in(tmp_path / "m")
        else:
            assert parts.tagger is not None
            assert parts.tokenizer is not None
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
