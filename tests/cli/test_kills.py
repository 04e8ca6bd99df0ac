"""Commands that are killed at each file event: what they replace is as before, or as it should be."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from easyfirst.errors import ModelError
from easyfirst.model.saving import load_model
from easyfirst.parser import load
from easyfirst.replacing import PREFIX
from tests.cli.corpora import TEXT
from tests.commands import run_here
from tests.kills import kills
from tests.model.stored import visible
from tests.small_models import TREEBANK

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
    pytest.mark.slow,
]


def command(*arguments: str | Path) -> Callable[[], None]:
    """Return a function that runs a command, which must succeed."""

    def run() -> None:
        done = run_here(*arguments)
        assert done.returncode == 0, done.stderr.decode()

    return run


def copy_of(source: Path | None, target: Path) -> Callable[[], None]:
    """Return a function that replaces a directory by a copy of another one, or removes it."""

    def copy() -> None:
        shutil.rmtree(target, ignore_errors=True)
        if source is not None:
            shutil.copytree(source, target)

    return copy


def check_model(action: Callable[[], None], place: Path, old: Path | None, *, step: int = 1) -> None:
    """Kill a command that writes a model at each event; the old model or the new one loads, with all its parts."""
    prepare = copy_of(old, place)
    prepare()
    action()
    after, before = visible(place), {} if old is None else visible(old)
    assert before != after
    found: list[bool] = []
    for number in kills(action, place, prepare, step):
        try:
            load_model(place)
        except ModelError:
            assert old is None, number
        now = visible(place) if place.exists() else {}
        assert now in (before, after), number
        found.append(now == after)
        if number % (5 * step) == 0:
            action()
            assert visible(place) == after
            assert not list(place.rglob(f"{PREFIX}*"))
    assert found == sorted(found)
    assert {*found} == {False, True}


def test_pack_over_a_model(text_model: Path, whole_model: Path, tmp_path: Path) -> None:
    action = command("pack", whole_model, "-o", tmp_path / "m", "--overwrite")
    check_model(action, tmp_path / "m", text_model)


def test_pack_to_a_new_directory(text_model: Path, tmp_path: Path) -> None:
    """The same command can be repeated, without --overwrite, unless the model is there."""

    def action() -> None:
        is_there = (tmp_path / "m" / "config.json").exists()
        command("pack", text_model, "-o", tmp_path / "m", *(["--overwrite"] if is_there else []))()

    check_model(action, tmp_path / "m", None, step=2)


def test_combine(text_model: Path, tmp_path: Path) -> None:
    """The ensemble appears with its calibration and its scores."""
    for seed in (1, 2):
        model = load(text_model)
        rng = np.random.default_rng(seed)
        for array in model.model.arrays.values():
            array += rng.normal(size=array.shape).astype(np.float32) / 10
        model.save(tmp_path / f"{seed}")
    members = (tmp_path / "1", tmp_path / "2")
    action = command("combine", *members, "-o", tmp_path / "m", "--overwrite", "--dev", TREEBANK, "--predicted-tags")
    check_model(action, tmp_path / "m", text_model, step=3)


def test_calibrate(text_model: Path, tmp_path: Path) -> None:
    """The figures in the card are those of the calibration."""
    action = command("calibrate", tmp_path / "m", TREEBANK, "--predicted-tags")
    check_model(action, tmp_path / "m", text_model, step=3)
    assert load(tmp_path / "m").model.calibration is not None


@pytest.mark.parametrize("verb", ["package", "parse", "parse gz"])
def test_files(text_model: Path, tmp_path: Path, verb: str) -> None:
    out = tmp_path / "out"
    (tmp_path / "input.txt").write_bytes(TEXT)
    if verb == "package":
        action = command("package", text_model, "--name", "xx", "--licence", "MIT", "-o", out, "--overwrite")
        file = out / "easyfirst_xx-1.0.0-py3-none-any.whl"
    else:
        file = out / ("output.conllu.gz" if verb.endswith("gz") else "output.conllu")
        action = command("parse", "-m", text_model, tmp_path / "input.txt", "-o", file)
    out.mkdir()
    action()
    after, found = file.read_bytes(), set[bytes]()
    for _ in kills(action, out, lambda: file.write_bytes(b"before")):
        found.add(file.read_bytes())
    assert found == {b"before", after}
    assert [path.name for path in out.iterdir()] == [file.name]
