"""The examples of the pages about Ray and Spark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

DOCS = Path(__file__).parents[2] / "docs"


def run_page(name: str, mark: str, place: Path) -> str:
    """Run all programs of a page that have this mark, as one program, and return what it prints."""
    text = (DOCS / name).read_text(encoding="utf-8")
    programs = re.findall(rf"^<!-- {mark} -->\n```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(programs) >= 3
    (place / "news.txt").write_text("The fox likes apples.\n" * 20, encoding="utf-8")
    records = [{"url": f"u{n}", "year": 2000 + n, "body": "The fox likes apples. It jumps."} for n in range(5)]
    (place / "texts.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    command = [sys.executable, "-c", "\n".join(programs)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
