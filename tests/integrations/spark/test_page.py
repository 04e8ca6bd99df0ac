"""The examples of the page about Spark run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.integrations.pages import run_page

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    shown = run_page("spark.md", "run by the tests of Spark", tmp_path)
    assert "10 sentences" in shown
    assert "1 ['The', 'fox', 'jumps', '.'] [2, 3, 0, 3]" in shown
    assert [line.split("|")[1].strip() for line in shown.splitlines() if line.endswith("|    5|")] == ["fox", "It"]
