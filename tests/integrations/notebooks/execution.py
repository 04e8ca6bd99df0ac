"""Executes the notebooks of ``examples/``. Run it as a program to store their outputs:

python -m tests.integrations.notebooks.execution
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

EXAMPLES = Path(__file__).parents[3] / "examples"
NOTEBOOKS = sorted(EXAMPLES.rglob("*.ipynb"))


def executed(path: Path) -> Any:
    """Return a notebook with the outputs of all its cells; an error in a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=int(PATIENCE), resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # the times
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


if __name__ == "__main__":
    import nbformat

    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)
