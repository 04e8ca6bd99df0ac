"""``easyfirst package``: its options and what it refuses."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.commands import Run

WHEEL = "easyfirst_pt-1.0.0-py3-none-any.whl"


def test_package(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("package", model, "--name", "pt")
    assert (done.returncode, done.stdout) == (0, b"")
    path = Path("dist") / WHEEL
    first, last = done.stderr.decode().splitlines()
    assert first == f"the package easyfirst-pt 1.0.0 is in {path}: {path.stat().st_size / 1e6:.1f} MB"
    assert last == f"install it with: pip install {path}"
    with zipfile.ZipFile(path) as wheel:
        metadata = wheel.read("easyfirst_pt-1.0.0.dist-info/METADATA").decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata  # as in the card


def test_options(run: Run, model: Path, tmp_path: Path) -> None:
    options = [
        "--version",
        "2.0.1",
        "--licence",
        "MIT",
        "--language",
        "pt",
        "--language",
        "gl",
        "-o",
        tmp_path / "a" / "b",
    ]
    assert run("package", model, "--name", "pt-news", *options).returncode == 0
    with zipfile.ZipFile(tmp_path / "a" / "b" / "easyfirst_pt_news-2.0.1-py3-none-any.whl") as wheel:
        card = wheel.read("easyfirst_pt_news/pt-news/README.md").decode()
    assert card.startswith("# easyfirst-pt-news\n")
    assert card.count("- Licence: ") == 1
    assert "- Licence: MIT\n- Languages: pt, gl\n" in card
    assert "Licence: Apache-2.0" in (model / "README.md").read_text(encoding="utf-8")  # the model itself stays as it is


def test_a_missing_licence(run: Run, text_model: Path, tmp_path: Path) -> None:
    done = run("package", text_model, "--name", "pt", "-o", tmp_path)
    assert done.returncode == 0
    assert b"warning: its licence is not stated, so others may not use it; add --licence" in done.stderr


def test_nothing_is_overwritten_unasked(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / WHEEL).write_bytes(b"old")
    done = run("package", model, "--name", "pt", "-o", tmp_path)
    assert done.returncode == 2
    expected = f"error: {tmp_path / WHEEL}: exists already; choose another --version or --out, or use --overwrite\n"
    assert done.stderr.decode() == expected
    assert (tmp_path / WHEEL).read_bytes() == b"old"
    assert run("package", model, "--name", "pt", "-o", tmp_path, "--overwrite").returncode == 0
    assert (tmp_path / WHEEL).read_bytes()[:2] == b"PK"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--name", "PT"], "'PT' cannot be the name of a model in a package"),
        (["--name", "en"], "en is the name of a bundled model, which would hide the package"),
        (["--name", "pt", "--version", "1.0-beta"], "'1.0-beta' is not a version"),
        (["--name", "pt", "--licence", ""], "the licence is empty"),
        (["--name", "pt", "--language", "a,b"], "'a,b' cannot be a language"),
    ],
)
def test_mistakes(run: Run, model: Path, tmp_path: Path, options: list[str], message: str) -> None:
    done = run("package", model, "-o", tmp_path, *options)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []


def test_no_model(run: Run, model: Path, tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none", b"there is no model"), (tmp_path, b"is not an easyfirst model")):
        done = run("package", path, "--name", "pt", "-o", tmp_path / "dist")
        assert done.returncode == 2
        assert message in done.stderr
    (tmp_path / "file").touch()
    done = run("package", model, "--name", "pt", "-o", tmp_path / "file")
    assert done.returncode == 2
    assert b"cannot be written" in done.stderr
