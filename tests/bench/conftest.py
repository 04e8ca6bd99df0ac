"""The scripts of bench/tables, which are no package and need Python 3.11 and a POSIX system; and some toy data."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "bench" / "tables"))
HAS_ALL = all(importlib.util.find_spec(name) for name in ("tomllib", "fcntl"))
collect_ignore = [] if HAS_ALL else ["test_declarations.py", "test_recipe.py", "test_results_page.py", "test_runner.py"]


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A folder with train, dev and test, two sentences each."""
    blocks = (ROOT / "examples" / "toy" / "dev.conllu").read_text(encoding="utf-8").split("\n\n")
    for number, name in enumerate(("train", "dev", "test")):
        text = "".join(f"{block}\n\n" for block in blocks[2 * number : 2 * number + 2])
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
    return tmp_path
