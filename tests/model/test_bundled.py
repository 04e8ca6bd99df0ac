"""What every bundled model is to be: small, complete, and with its licence."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import easyfirst
from easyfirst.model.bundled import bundled_models
from easyfirst.parser import load
from tests.commands import unmeasured
from tests.patience import PATIENCE

MAX_BYTES = 20_000_000
ROOT = Path(easyfirst.__file__).parent


@pytest.mark.parametrize("path", bundled_models().values(), ids=bundled_models().keys())
class TestBundled:
    def test_it_is_small_also_when_unpacked(self, path: Path) -> None:
        assert sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) <= MAX_BYTES

    def test_it_says_what_it_was_made_from_and_under_which_licence(self, path: Path) -> None:
        card = (path / "README.md").read_text(encoding="utf-8")
        assert "- Licence: CC BY-SA 4.0" in card
        assert "Creative Commons" in (path / "LICENSE").read_text(encoding="utf-8")

    def test_it_goes_from_text_to_trees_and_says_how_sure_it_is(self, path: Path) -> None:
        [parse] = load(path)("The fox jumps.")
        assert parse.heads == (2, 3, 0, 3)
        assert parse.confidence is not None
        assert parse.confidence.tree > 0.5


@pytest.mark.issue(22)
def test_from_a_zip(tmp_path: Path) -> None:
    """As if a wheel were on the path: models are unpacked, and removed at the end."""
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for file in ROOT.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                archive.write(file, f"easyfirst/{file.relative_to(ROOT)}")
    (tmp_path / "unpacked").mkdir()
    environment = {**unmeasured(), "PYTHONPATH": str(tmp_path / "package.zip"), "TMPDIR": str(tmp_path / "unpacked")}
    environment.pop("EASYFIRST_NATIVE_LIBRARY", None)
    program = "import easyfirst; print(easyfirst.__file__); print(easyfirst.load('en')('The fox jumps.')[0].heads)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    place, heads = done.stdout.splitlines()
    assert place.startswith(str(tmp_path / "package.zip"))
    assert heads == "(2, 3, 0, 3)"
    assert list((tmp_path / "unpacked").iterdir()) == []
