"""The pages for developers describe the packages as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "easyfirst"
PAGE = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def layers() -> list[str]:
    """Return the layers that import-linter checks."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [names] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [name.strip("()") for name in names if name != "(__main__)"]


def test_the_map_has_the_layers_of_import_linter() -> None:
    table = PAGE.split("## The layers")[1].split("## ")[0]
    assert [name.removesuffix(".py") for name in re.findall(r"^\| `([\w.]+)/?`", table, re.MULTILINE)] == layers()


def test_contributing_has_the_same_layers() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [chain] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert chain.replace(">", " ").split() == layers()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_is_described(package: str) -> None:
    [section] = re.findall(rf"^### `{package}/`\n(.*?)^##", PAGE, re.DOTALL | re.MULTILINE)
    named = set(re.findall(r"`(\*?_?\w+)`", section))
    parts = ("parser", "tagger", "tokenizer")
    for suffix in [name.removeprefix("*") for name in named if name.startswith("*")]:
        named |= {part + suffix for part in parts}
    modules = {path.stem for path in (SOURCE / package).glob("*.py")} - {"__init__"}
    if package == "cli":  # the verbs are named, and the rest is what they share
        modules = {name for name in modules if f'"{name}"' in (SOURCE / "cli" / "__init__.py").read_text("utf-8")}
    assert modules <= named


def test_every_function_of_the_walks_exists() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    walks = PAGE.split("## How a sentence flows through `parse`")[1].split("## Outside the package")[0]
    cells = re.findall(r"^\| *\d+ \| (.*?) \|", walks, re.MULTILINE)
    names = {name.split(".")[-1] for cell in cells for name in re.findall(r"`([\w.]+)`", cell)}
    assert len(names) > 30
    assert [name for name in sorted(names) if not re.search(rf"(def|class) {name}\b", code)] == []
