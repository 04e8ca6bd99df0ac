"""Writing a parser can stop anywhere: a mixture of two parsers never loads."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from easyfirst.errors import ModelError
from easyfirst.model.parser_store import load_parser, save_parser
from easyfirst.replacing import create
from tests.kills import kills
from tests.model.conftest import MakeModel
from tests.model.stored import FILES, assert_same


def stops_at(n: int, error: OSError, patch: pytest.MonkeyPatch) -> None:
    """Make the n-th creation of a file, or renaming, fail."""
    calls = iter(range(100))

    def failing(really: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if next(calls) == n:
                raise error
            return really(*arguments)

        return call

    patch.setattr("easyfirst.model.transaction.create", failing(create))
    for name in ("replace", "rename"):
        patch.setattr(Path, name, failing(getattr(Path, name)))


@pytest.mark.parametrize("network", [{}, {"hidden_dim": 5}, {"external": ["a"]}, {"external": ["a"], "word_dim": 9}])
def test_killed_at_each_file_event(saved: Path, make_model: MakeModel, network: dict[str, Any]) -> None:
    """The old parser or the new one loads, with its settings, vocabulary, weights and card."""
    old, new = make_model(), dataclasses.replace(make_model(seed=1, **network), card="# Better\n")
    training = dataclasses.replace(new.config.training, epochs=30)
    new = dataclasses.replace(new, config=dataclasses.replace(new.config, training=training))
    seen: list[str] = []
    for _ in kills(lambda: save_parser(saved, new), saved, lambda: save_parser(saved, old), step=3):
        loaded = load_parser(saved)
        assert_same(loaded, old if loaded.card == old.card else new)
        seen.append(loaded.card)
    assert set(seen) == {old.card, new.card}


@pytest.mark.parametrize("stop", range(11))
def test_a_full_disk_is_reported_and_leaves_no_litter(
    saved: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    """Before the commit the old model stays. After it, the new one loads and is put in place."""
    old, new = make_model(), make_model(seed=1)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:
        stops_at(stop, full, patch)
        with pytest.raises(ModelError, match=f"cannot be written: {os.strerror(errno.ENOSPC)}"):
            save_parser(saved, new)
    loaded = load_parser(saved)
    assert_same(loaded, old if stop < 6 else new)
    assert sorted(path.name for path in saved.iterdir()) == FILES


def test_what_a_killed_process_left_behind_is_no_harm(saved: Path, make_model: MakeModel) -> None:
    (saved / ".easyfirst-0123456789abcdef").mkdir()
    (saved / ".easyfirst-0123456789abcdef" / "0").write_bytes(b"half a fi")
    (saved / ".easyfirst-0123456789abcdef.tmp").write_bytes(b"half a fi")
    load_parser(saved)
    save_parser(saved, make_model(seed=1))
    assert sorted(path.name for path in saved.iterdir()) == FILES


def test_a_system_that_cannot_open_directories_still_saves(
    tmp_path: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.platform", "win32")
        save_parser(tmp_path, make_model())
    assert_same(load_parser(tmp_path), make_model())
