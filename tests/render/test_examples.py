"""The examples of the guide and of the docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize("name", ["drawing", "html", "latex", "markup", "steps", "svg"])
def test_docstrings(name: str) -> None:
    results = doctest.testmod(import_module(f"easyfirst.render.{name}"))
    assert results.attempted > 0
    assert results.failed == 0


def test_pictures() -> None:
    results = doctest.testfile(str(DOCS / "pictures.md"), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert results.failed == 0
