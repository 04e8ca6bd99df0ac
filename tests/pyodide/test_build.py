"""Building the page: which files it has, and what is refused. No copy of Pyodide is needed."""

from __future__ import annotations

import json
import os
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from tests.pyodide.sites import BUILD, EXAMPLE, FETCH

CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "easyfirst-1.0-py3-none-any.whl"
    path.write_bytes(b"wheel")
    return path


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Something that looks like a copy of Pyodide."""
    directory = tmp_path / "pyodide"
    directory.mkdir()
    for name in (*CORE, "other.whl", "numpy.whl", "blas.zip"):
        (directory / name).write_bytes(name.encode())
    packages = {
        "numpy": {"file_name": "numpy.whl", "depends": ["blas"]},
        "blas": {"file_name": "blas.zip", "depends": []},
        "other": {"file_name": "other.whl", "depends": ["numpy"]},
    }
    (directory / "pyodide-lock.json").write_text(json.dumps({"packages": packages}))
    return directory


def files(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def test_the_default_is_the_cdn(tmp_path: Path, wheel: Path) -> None:
    BUILD.build(tmp_path / "site", wheel=wheel)
    page = {"index.html", "page.js", "worker.js", "trees.py", "site.json", "easyfirst-1.0-py3-none-any.whl"}
    assert files(tmp_path / "site") == page
    assert json.loads((tmp_path / "site" / "site.json").read_text()) == {
        "wheel": "easyfirst-1.0-py3-none-any.whl",
        "pyodide": f"https://cdn.jsdelivr.net/pyodide/v{FETCH.PYODIDE.version}/full/",
    }
    for name in ("index.html", "page.js", "worker.js"):
        assert "://" not in (EXAMPLE / name).read_text(encoding="utf-8")  # only site.json names other servers


def test_a_copy_is_served_with_the_page(tmp_path: Path, wheel: Path, copy: Path) -> None:
    site = tmp_path / "site"
    BUILD.build(site, str(copy), wheel)
    needed = {f"pyodide/{name}" for name in (*CORE, "pyodide-lock.json", "numpy.whl", "blas.zip")}
    assert {name for name in files(site) if "/" in name} == needed
    assert json.loads((site / "site.json").read_text())["pyodide"] == "pyodide/"


def test_a_page_is_built_again(tmp_path: Path, wheel: Path, copy: Path) -> None:
    BUILD.build(tmp_path / "site", str(copy), wheel)
    newer = wheel.rename(tmp_path / "easyfirst-2.0-py3-none-any.whl")
    BUILD.build(tmp_path / "site", "https://example.org/pyodide", newer)
    assert {name for name in files(tmp_path / "site") if name.endswith(".whl")} == {newer.name}
    assert json.loads((tmp_path / "site" / "site.json").read_text())["pyodide"] == "https://example.org/pyodide/"


def test_other_directories_are_left_alone(tmp_path: Path, wheel: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "thesis.txt").touch()
    with pytest.raises(BUILD.BuildError, match="site holds something other than this page; choose another directory"):
        BUILD.build(tmp_path / "site", wheel=wheel)
    assert files(tmp_path / "site") == {"thesis.txt"}
    with pytest.raises(BUILD.BuildError, match="holds something other"):
        BUILD.build(wheel, wheel=wheel)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("pyodide.mjs", r"is not a copy of Pyodide: it lacks pyodide\.mjs; make one with fetch\.py"),
        ("pyodide-lock.json", r"it lacks pyodide-lock\.json"),
        ("numpy.whl", r"has no numpy; make a copy that has it with fetch\.py"),
        ("blas.zip", "has no blas"),
    ],
)
def test_incomplete_copies_are_refused(tmp_path: Path, wheel: Path, copy: Path, missing: str, message: str) -> None:
    (copy / missing).unlink()
    with pytest.raises(BUILD.BuildError, match=message):
        BUILD.build(tmp_path / "site", str(copy), wheel)
    assert not (tmp_path / "site").exists()


def test_wheels_with_compiled_code_are_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "easyfirst-1.0-py3-none-linux_x86_64.whl"
    wheel.touch()
    with pytest.raises(BUILD.BuildError, match="is not a pure wheel"):
        BUILD.build(tmp_path / "site", wheel=wheel)


def test_archives_with_another_checksum_are_refused() -> None:
    with pytest.raises(FETCH.FetchError, match="its checksum differs"):
        FETCH.check(FETCH.PYODIDE, b"something else")


def test_archives_depend_on_nothing_but_their_files() -> None:
    made = FETCH.zipped({"b": b"2", "a": b"1"})
    assert made == FETCH.zipped({"a": b"1", "b": b"2"})
    with zipfile.ZipFile(BytesIO(made)) as archive:
        assert archive.namelist() == ["a", "b"]
        assert archive.read("b") == b"2"


def test_packages_without_npm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FETCH.FetchError, match=r"npm is not installed; it comes with Node\.js"):
        FETCH.download(FETCH.PYODIDE)


@pytest.mark.skipif(os.name != "posix", reason="the program is a shell script")
def test_packages_that_npm_cannot_fetch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "npm").write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FETCH.FetchError, match=r"pyodide@.* cannot be fetched: npm pack ended with exit code 7"):
        FETCH.download(FETCH.PYODIDE)
