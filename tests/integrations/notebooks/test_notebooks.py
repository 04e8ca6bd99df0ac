"""The notebooks of ``examples/`` run from top to bottom, and their stored outputs are those of this version."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
nbformat = pytest.importorskip("nbformat")

from tests.integrations.notebooks.execution import NOTEBOOKS, executed  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning")


def outputs(notebook: Any) -> list[Any]:
    """Return what the outputs show, apart from numbers, which may differ between processors."""
    found: list[Any] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text", "")})
            plain = re.sub(r"\d+\.\d+", "0.0", data.get("text/plain", ""))
            pictures = [data.get("text/html", "").count(tag) for tag in ("<svg ", "<iframe ", "<table ", "<tr")]
            found.append((output["output_type"], plain, pictures))
    return found


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS] == ["notebook.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_their_outputs_are_stored(path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    found = outputs(executed(path))
    assert not [output for output in found if output[0] == "error"]
    assert found == outputs(stored), "run: python -m tests.integrations.notebooks.execution"
    assert sum(pictures[0] for _, _, pictures in found) >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_name_no_place_of_the_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not any(str(place) in text for place in (Path.home(), Path(tempfile.gettempdir()), path.parent.parent))
