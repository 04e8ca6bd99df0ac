"""The examples of the page about Ray run."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray.data")

from tests.integrations.pages import run_page

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "local")  # else Ray connects to a cluster of someone else on this machine
    shown = run_page("ray.md", "run by the tests of Ray", tmp_path)
    assert "20 sentences" in shown
    rows = [line for line in shown.splitlines() if "['" in line]
    assert [line.split(" ", 2)[1:] for line in rows[:2]] == [
        ["1", "['The', 'fox', 'jumps', '.'] [2, 3, 0, 3]"],
        ["2", "['It', 'likes', 'apples', '.'] [2, 0, 2, 2]"],
    ]
    assert len(rows) == 3
