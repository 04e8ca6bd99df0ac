"""Toy data. The tests of bench need Python 3.11 (for TOML) and a POSIX system."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HAS_ALL = all(importlib.util.find_spec(name) for name in ("tomllib", "fcntl"))
collect_ignore_glob = [] if HAS_ALL else ["test_*.py"]
TREEBANKS = """
[en]
name = "toy"
tags = "gold UPOS tags"
train = "train.conllu"
dev = "dev.conllu"
test = "test.conllu"
vectors = "none.txt"
licence = "Apache-2.0"
minutes = 1
"""


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A folder with train, dev and test, two sentences each."""
    blocks = (ROOT / "examples" / "toy" / "dev.conllu").read_text(encoding="utf-8").split("\n\n")
    for number, name in enumerate(("train", "dev", "test")):
        text = "".join(f"{block}\n\n" for block in blocks[2 * number : 2 * number + 2])
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def place(toys: Path) -> Path:
    """The toy data with a file that declares the treebank."""
    (toys / "treebanks.toml").write_text(TREEBANKS, encoding="utf-8")
    return toys
