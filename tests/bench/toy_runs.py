"""Toy tables, and the runner of the tables as a real process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.tables.records import read_lines
from tests.patience import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
SIZES = ", ".join(f'"network.{name}_dim" = 4' for name in ("word", "tag", "relation", "vector", "tree", "hidden"))
DECLARED = """
[[table]]
id = "t"
title = "Toys"
options = {{ preset = "paper", epochs = {epochs} }}
settings = {{ {sizes} }}

[[table.row]]
id = "a"
label = "first"
options = {{}}
paper.en = {{ dev = [90.0, 80.0], test = [91.0, 81.0] }}

[[table.row]]
id = "same"
label = "the first again"
options = {{}}

[[table.row]]
id = "published"
label = "another system"
paper.en = {{ dev = [70.0, 60.0], test = [71.0, 61.0] }}

[[finding]]
id = "same"
claim = "Nothing changes."
pairs = [["t.a", "t.same"]]
"""


def run_module(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m bench.<name>`` from the root of the repository."""
    command = [sys.executable, "-m", f"bench.{name}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def declare(place: Path, epochs: int) -> None:
    (place / "toy.toml").write_text(DECLARED.format(epochs=epochs, sizes=SIZES), encoding="utf-8")


def start(place: Path, *options: str) -> subprocess.Popen[str]:
    """Start the runner and its children in a new process group."""
    command = [sys.executable, "-m", "bench.tables", str(place / "toy.toml")]
    command += ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "results.jsonl")]
    command += ["--data", str(place), "--vectors", str(place), "--out", str(place / "runs"), *options]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, output
    return output


def recorded(place: Path) -> list[dict[str, Any]]:
    return read_lines(place / "results.jsonl")


def wait_for_epoch(place: Path) -> None:
    """Wait until the first checkpoint is written."""
    wait_until(lambda: list(place.glob("runs/*/model/training/checkpoint.safetensors")))


def rendered(place: Path) -> str:
    """Return the page of the recorded results."""
    page = place / "page.md"
    files = ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "results.jsonl")]
    done = run_module("tables.render", str(place / "toy.toml"), "--page", str(page), *files)
    assert done.returncode == 0, done.stderr
    return page.read_text(encoding="utf-8")
