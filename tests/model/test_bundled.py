"""What every bundled model is to be: small, complete, and with its licence."""

from __future__ import annotations

from pathlib import Path

import pytest

from easyfirst.model.bundled import bundled_models
from easyfirst.parser import load

MAX_BYTES = 15_000_000


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
