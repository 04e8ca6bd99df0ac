"""A copy of Pyodide, which ``examples/pyodide/fetch.py`` makes, and the page with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.pyodide.sites import BUILD

VARIABLE = "EASYFIRST_PYODIDE"


@pytest.fixture(scope="session")
def pyodide() -> Path:
    """The copy of Pyodide that a variable names."""
    if not (directory := os.environ.get(VARIABLE)):
        pytest.skip(f"{VARIABLE} does not name a copy of Pyodide (python examples/pyodide/fetch.py DIRECTORY)")
    return Path(directory)


@pytest.fixture(scope="session")
def site(pyodide: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, with a wheel of this source tree."""
    made = tmp_path_factory.mktemp("page") / "site"
    BUILD.build(made, str(pyodide))
    return made


@pytest.fixture(scope="session")
def wheel(site: Path) -> Path:
    [found] = site.glob("easyfirst-*.whl")
    return found
