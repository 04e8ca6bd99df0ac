"""Writing a model can stop anywhere: a mixture of two models never loads."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easyfirst.errors import ModelError
from easyfirst.model.parser_store import load_parser, save_parser
from tests.model.conftest import MakeModel
from tests.model.stored import FILES, assert_same


def replace_that_stops_at(n: int, error: BaseException) -> Callable[[Path, Path], Path]:
    calls = iter(range(100))
    really_replace = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if next(calls) == n:
            raise error
        return really_replace(self, target)

    return replace


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("stop", range(4))
def test_weights_are_replaced_alone(
    saved: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    """After each epoch: whenever the process is killed, the old or the new weights load."""
    old, new = make_model(), make_model(seed=1)
    training = dataclasses.replace(new.config.training, epochs=30)
    new = dataclasses.replace(new, config=dataclasses.replace(new.config, training=training), card="# Better\n")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_that_stops_at(stop, Killed()))
        with pytest.raises(Killed):
            save_parser(saved, new)
    expected = new if stop > 2 else old
    loaded = load_parser(saved)
    assert all(np.array_equal(loaded.arrays[name], array) for name, array in expected.arrays.items())
    assert loaded.config == (new.config if stop > 0 else old.config)
    assert loaded.card == old.card
    save_parser(saved, new)
    assert_same(load_parser(saved), new)


@pytest.mark.parametrize(
    ("network", "mixed"),
    [
        ({"hidden_dim": 5}, {1, 2}),  # another network, the same vocabulary
        ({"external": ["a"]}, {2}),  # the same network, another vocabulary
        ({"external": ["a"], "word_dim": 9}, {1, 2}),
    ],
)
@pytest.mark.parametrize("stop", range(4))
def test_a_mixture_of_two_models_never_loads(
    saved: Path,
    make_model: MakeModel,
    monkeypatch: pytest.MonkeyPatch,
    stop: int,
    network: dict[str, Any],
    mixed: set[int],
) -> None:
    old, new = make_model(), make_model(seed=1, **network)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_that_stops_at(stop, Killed()))
        with pytest.raises(Killed):
            save_parser(saved, new)
    if stop in mixed:
        with pytest.raises(ModelError, match="of different models"):
            load_parser(saved)
    else:
        assert_same(load_parser(saved), old if stop < 3 else dataclasses.replace(new, card=old.card))
    save_parser(saved, new)
    assert_same(load_parser(saved), new)


@pytest.mark.parametrize("stop", range(4))
def test_a_first_save_that_stops_can_be_repeated(
    tmp_path: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_that_stops_at(stop, Killed()))
        with pytest.raises(Killed):
            save_parser(tmp_path, make_model())
    if stop < 3:
        with pytest.raises(ModelError, match=r"weights\.safetensors missing"):
            load_parser(tmp_path)
    save_parser(tmp_path, make_model())
    assert_same(load_parser(tmp_path), make_model())


@pytest.mark.parametrize("stop", range(4))
def test_a_full_disk_is_reported_and_leaves_no_litter(
    saved: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(Path, "replace", replace_that_stops_at(stop, full))
    with pytest.raises(ModelError, match=f"cannot be written: {os.strerror(errno.ENOSPC)}"):
        save_parser(saved, make_model(seed=1))
    assert sorted(path.name for path in saved.iterdir()) == FILES
    load_parser(saved)


def test_what_a_killed_process_left_behind_is_no_harm(saved: Path, make_model: MakeModel) -> None:
    (saved / "weights.safetensors.tmp").write_bytes(b"half a fi")
    load_parser(saved)
    save_parser(saved, make_model(seed=1))
    assert sorted(path.name for path in saved.iterdir()) == FILES


def test_a_system_that_cannot_open_directories_still_saves(
    tmp_path: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        save_parser(tmp_path, make_model())
    assert_same(load_parser(tmp_path), make_model())
