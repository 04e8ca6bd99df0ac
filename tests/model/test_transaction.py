"""A model is replaced all at once: whenever a process is killed, and whoever reads meanwhile."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from easyfirst.errors import ModelError
from easyfirst.model import transaction
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.saving import load_model
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.transaction import COMMIT, replacing, settle
from easyfirst.parser import Parser, load
from easyfirst.replacing import PREFIX
from tests.calibrations import BY_HAND
from tests.kills import kills, run_killed
from tests.model.stored import same_parts, visible
from tests.small_models import small_model, small_tagger, small_tokenizer

Made = tuple[Path, Path]


def vectors() -> SharedVectors:
    return SharedVectors.of(Embeddings(("fox", "jumps"), np.arange(6, dtype=np.float32).reshape(2, 3)))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Two models of other parts: the first has a tokenizer and a calibration, the second vectors."""
    old, new = (tmp_path_factory.mktemp("models") / name for name in ("old", "new"))
    first = replace(small_model("both"), calibration=BY_HAND)
    Parser(first, tokenizer=small_tokenizer(), tagger=small_tagger()).save(old)
    shared = vectors()
    Parser(small_model("both", shared), tagger=small_tagger(shared)).save(new, bits=16)
    return old, new


def copied(source: Path, target: Path) -> Callable[[], None]:
    """Return a function that makes a directory a copy of another one, with another file in it."""

    def copy() -> None:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        (target / "training").mkdir()
        (target / "training" / "mine.txt").write_text("stays")

    return copy


def model_in(place: Path) -> dict[str, bytes]:
    found = visible(place)
    assert found.pop("training/mine.txt", b"stays") == b"stays"
    return found


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_killed_at_each_file_event(models: Made, tmp_path: Path, order: tuple[int, int]) -> None:
    """The old model or the new one is there, with all its parts, bit for bit."""
    old, new = (models[number] for number in order)
    place, parser, before, after = tmp_path / "m", load(new), visible(old), visible(new)
    seen: list[bool] = []
    for _ in kills(lambda: parser.save(place, bits=16 if order[1] else 32), place, copied(old, place)):
        loaded = load_model(place)
        found = model_in(place)
        assert found in (before, after)
        is_new = found == after
        same_parts(loaded, load_model(new if is_new else old))
        seen.append(is_new)
        parser.save(place, bits=16 if order[1] else 32)
        assert model_in(place) == after
        assert not list(place.rglob(f"{PREFIX}*"))
    assert seen == sorted(seen)  # first the old one, and from one moment on the new one
    assert seen.count(False) > 30
    assert seen.count(True) > 30


def test_a_new_directory_killed_at_each_file_event(models: Made, tmp_path: Path) -> None:
    """There is no model, or all of it; never a parser without its tagger."""
    old, _ = models
    place, parser, expected = tmp_path / "m", load(old), visible(old)
    n_whole = 0
    for _ in kills(lambda: parser.save(place), place, lambda: shutil.rmtree(place, ignore_errors=True)):
        try:
            loaded = load_model(place)
        except ModelError:
            assert not place.exists() or visible(place) == {}
        else:
            same_parts(loaded, load_model(old))
            assert visible(place) == expected
            n_whole += 1
        parser.save(place)
        assert visible(place) == expected
        assert not list(place.rglob(f"{PREFIX}*"))
    assert n_whole > 30


@pytest.fixture(scope="module")
def interrupted(models: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose replacement was committed, with some of its files in place."""
    old, new = models
    parser, place = load(new), tmp_path_factory.mktemp("interrupted") / "m"
    for _ in kills(lambda: parser.save(place, bits=16), place, copied(old, place)):
        if (place / COMMIT).is_dir() and model_in(place) not in (visible(old), visible(new)):
            return place
    raise AssertionError("no event was in the middle")


def test_a_model_that_cannot_be_changed(
    models: Made, interrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that may not write reads the new files where they are."""
    shutil.copytree(interrupted, tmp_path / "m")

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    left = visible(tmp_path / "m", hidden=True)
    with monkeypatch.context() as patch:
        patch.setattr(transaction, "_apply", refuse)
        same_parts(load_model(tmp_path / "m"), load_model(models[1]))
        with pytest.raises(ModelError, match="m cannot be written: Read-only file system"):
            load(models[0]).save(tmp_path / "m")
    assert visible(tmp_path / "m", hidden=True) == left
    settle(tmp_path / "m")
    assert model_in(tmp_path / "m") == visible(models[1])


def test_a_copy_of_an_interrupted_replacement(models: Made, interrupted: Path, tmp_path: Path) -> None:
    shutil.copytree(interrupted, tmp_path / "copy")
    same_parts(load_model(tmp_path / "copy"), load_model(models[1]))


def test_a_replacement_while_a_model_is_read(models: Made, tmp_path: Path) -> None:
    """The model is replaced at each event of a reader: it gets all of the old one, or all of the new one."""
    old, new = models
    parser, place = load(new), tmp_path / "m"
    expected = [load_model(path) for path in models]

    def read_and_replace(at: int) -> None:
        events = 0

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal events
            if event == "open" and str(arguments[0]).startswith(str(place)) and PREFIX not in str(arguments[0]):
                events += 1
                if events == at:
                    parser.save(place, bits=16)

        sys.addaudithook(hook)
        loaded = load_model(place)
        if events < at:
            os.kill(os.getpid(), signal.SIGKILL)  # there is no such event
        same_parts(loaded, expected[loaded.tokenizer is None])

    n_events = 0
    copied(old, place)()
    while run_killed(partial(read_and_replace, n_events + 1), place) is not None:
        n_events += 1
        copied(old, place)()
    assert n_events > 5


READ_AGAIN_AND_AGAIN = """
import sys
from pathlib import Path
from easyfirst.model.saving import load_model
from easyfirst.model.weight_files import checksum
for line in sys.stdin:
    parts = load_model(Path({place!r}))
    has = [part is not None for part in parts] + [parts.parser.calibration is not None]
    print(checksum(parts.parser.arrays), checksum(parts.tagger.arrays), has, flush=True)
"""


def test_readers_in_other_processes(models: Made, tmp_path: Path) -> None:
    """A reader begins whenever the model is about to be replaced."""
    place = tmp_path / "m"
    copied(models[0], place)()
    parsers = [load(path) for path in models]
    command = [sys.executable, "-c", READ_AGAIN_AND_AGAIN.format(place=str(place))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        alone: list[str] = []
        for parser in parsers:
            parser.save(place)
            print(file=reader.stdin, flush=True)
            alone.append(reader.stdout.readline())
        assert len(set(alone)) == 2
        for number in range(40):
            print(file=reader.stdin, flush=True)
            parsers[number % 2].save(place)
            assert reader.stdout.readline() in alone
        reader.stdin.close()


def test_two_writers(models: Made, tmp_path: Path) -> None:
    """The model of either is whole, and nothing is left behind."""
    save = "import sys, easyfirst\nfor _ in range(15): easyfirst.load(sys.argv[1]).save(sys.argv[2], bits=32)"
    command = [sys.executable, "-c", save]
    writers = [subprocess.Popen([*command, path, tmp_path / "m"], stderr=subprocess.PIPE) for path in models]
    for writer in writers:
        _, said = writer.communicate()
        assert writer.returncode == 0, said.decode()
    found = [load_model(path) for path in (tmp_path / "m", *models)]
    assert any(found[0].parser.arrays.keys() == each.parser.arrays.keys() for each in found[1:])
    assert not list((tmp_path / "m").rglob(f"{PREFIX}*"))


@pytest.mark.parametrize(
    "forged",
    [
        {"write": {"../victim": "0"}},
        {"write": {"config.json": "../../secret"}},
        {"write": {"tagger/../../victim": "0"}},
        {"write": {"link/config.json": "0"}},
        {"remove": ["training"]},
        {"remove": [".."]},
        {"version": 2},
        {"write": 5},
        {"write": {"tagger/config.json": "0"}},  # tagger is a link
    ],
)
def test_a_forged_journal_changes_nothing(models: Made, tmp_path: Path, forged: dict[str, object]) -> None:
    """A model from elsewhere may hold anything."""
    place, victim = tmp_path / "m", tmp_path / "victim"
    copied(models[1], place)()
    victim.mkdir()
    (victim / "config.json").write_text("precious")
    shutil.rmtree(place / "tagger")
    (place / "tagger").symlink_to(victim)
    (place / "link").symlink_to(victim)
    (place / COMMIT).mkdir()
    (place / COMMIT / "0").write_text("evil")
    (place / COMMIT / "journal.json").write_text(json.dumps({"version": 1, "write": {}, "remove": []} | forged))
    before = visible(tmp_path, hidden=True)
    for _ in range(2):
        with pytest.raises(ModelError, match=r"journal\.json is damaged.*delete .*easyfirst-commit"):
            load_model(place)
    assert visible(tmp_path, hidden=True) == before


def test_a_part_that_is_a_link_is_not_replaced(models: Made, tmp_path: Path) -> None:
    copied(models[0], tmp_path / "m")()
    (tmp_path / "m" / "tagger").rename(tmp_path / "elsewhere")
    (tmp_path / "m" / "tagger").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match="tagger is a symbolic link"):
        load(models[1]).save(tmp_path / "m")
    load(tmp_path / "m")


def test_a_directory_in_the_place_of_a_file(models: Made, tmp_path: Path) -> None:
    (tmp_path / "m" / "tokenizer" / "vocab.json").mkdir(parents=True)
    (tmp_path / "m" / "tokenizer" / "config.json").write_text('{"kind": "easyfirst-tokenizer"}')
    with pytest.raises(ModelError, match=r"vocab\.json is a directory"):
        load(models[0]).save(tmp_path / "m")


def test_an_error_discards_the_changes(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing(tmp_path / "m") as changes:
            changes.write("config.json", b"{}")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not (tmp_path / "m").exists()
