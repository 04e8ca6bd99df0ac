"""The pure wheel under Pyodide, in Node: what it finds is what the library finds here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from easyfirst.treebank.conllu import read_conllu
from tests.patience import PATIENCE

HERE = Path(__file__).parent
TOY = HERE.parents[1] / "examples" / "toy" / "dev.conllu"
TEXTS = [
    "The black fox who really likes apples did not jump over a lazy dog yesterday. It doesn't jump.",
    "What did Anna's brother say he'd seen?\n\nNothing – he was asleep! 🦊 Ωmega costs $3.50, e.g. at example.com.",
    "",
]
NODE = shutil.which("node")


def test_the_wheel_is_pure(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_parses_are_those_of_the_library(pyodide: Path, wheel: Path) -> None:
    conllu = b"".join(sentence.to_bytes() for sentence in list(read_conllu(TOY))[:10]).decode()
    given = json.dumps({"texts": TEXTS, "conllu": conllu})
    there = run([str(NODE), str(HERE / "run.mjs"), str(pyodide), str(wheel), str(HERE / "program.py")], given)
    here = run([sys.executable, "-W", "ignore", str(HERE / "program.py")], given)
    assert (there["engine"], there["platform"]) == ("numpy", "emscripten")
    assert here["platform"] != "emscripten"
    found = there["found"]
    assert len(found["documents"][0]["sentences"]) == 2
    assert (found["is_pickled"], found["imported"]) == (True, [])
    assert "there is no model no-such-model" in found["error"]
    assert found["threads"] == found["documents"]
    assert_alike(found, here["found"])


def run(command: list[str], given: str) -> dict[str, Any]:
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def assert_alike(found: object, expected: object, place: str = "") -> None:
    """Compare values of JSON. Fractions may differ a little, because sums are taken in another order."""
    if isinstance(found, dict) and isinstance(expected, dict):
        assert found.keys() == expected.keys(), place
        for name, value in found.items():
            assert_alike(value, expected[name], f"{place}.{name}")
    elif isinstance(found, list) and isinstance(expected, list):
        assert len(found) == len(expected), place
        for number, pair in enumerate(zip(found, expected, strict=True)):
            assert_alike(*pair, f"{place}[{number}]")
    elif isinstance(found, float) and isinstance(expected, float):
        assert found == pytest.approx(expected, abs=2e-3), place
    else:
        assert found == expected, place
