"""Models in installed packages: found by their metadata, without running their code."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from easyfirst.errors import ModelError
from easyfirst.model import bundled
from easyfirst.model.bundled import find_known, find_model, hidden_directory, known_models
from easyfirst.model.installed import KnownModel, installed_models
from easyfirst.model.wheel import PackageFacts, write_wheel
from easyfirst.parser import Parser, load
from tests.commands import run_here
from tests.small_models import small_model, small_tagger, small_tokenizer

BROKEN = "raise AssertionError('the code of a package was run')\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for packages on Python's path."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(path)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "my-model"
    Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(path)
    return path


def install(model: Path, site: Path, name: str, version: str = "1.0.0") -> Path:
    """Install a package as pip does, with code that must not run, and return the directory of its model."""
    facts = PackageFacts(name=name, version=version, easyfirst_version="0.3.0", languages=("pt", "gl"))
    with zipfile.ZipFile(write_wheel(model, site.parent / "dist", facts)) as wheel:
        wheel.extractall(site)
    (site / facts.module / "__init__.py").write_text(BROKEN, encoding="utf-8")
    return site / facts.module / name


def declare(site: Path, package: str, entry_points: str) -> None:
    folder = site / f"{package.replace('-', '_')}-2.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(f"[easyfirst_models]\n{entry_points}\n", encoding="utf-8")


def test_by_name(site: Path, model: Path) -> None:
    path = install(model, site, "pt-news", "1.2.0")
    assert installed_models() == [KnownModel("pt-news", path, "easyfirst-pt-news", "1.2.0")]
    assert find_model("pt-news") == path
    assert load("pt-news")("The fox jumps.").to_conllu() == load(model)("The fox jumps.").to_conllu()
    assert "easyfirst_pt_news" not in sys.modules


def test_other_names_are_not_searched_for(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    def search() -> list[KnownModel]:
        raise AssertionError("searched")

    monkeypatch.setattr(bundled, "installed_models", search)
    for name in ("en", str(model), model, "./x", "My_Model", "x.y"):
        find_known(name) if isinstance(name, str) else find_model(name)
    with pytest.raises(AssertionError, match="searched"):
        find_known("pt")


def test_a_bundled_model_comes_first(site: Path, model: Path) -> None:
    hidden = install(model, site, "en")
    own = bundled.bundled_models()["en"]
    assert find_model("en") == own
    assert [known.path for known in known_models()] == [own, hidden]
    listed = run_here("models").stdout.decode()
    assert f"easyfirst-en, hidden: {hidden}" in listed
    assert load(hidden).relations  # by its path


def test_two_packages_with_one_name(site: Path, model: Path) -> None:
    install(model, site, "pt")
    (site / "other" / "pt").mkdir(parents=True)
    declare(site, "another-package", "pt = other")
    with pytest.raises(
        ModelError, match="there are several models pt, in the packages another-package and easyfirst-pt"
    ):
        find_model("pt")
    done = run_here("parse", "--model", "pt", "--text", "a")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"pt (easyfirst-pt)" in run_here("models").stdout


@pytest.mark.parametrize("entry", ["pt = ../../pt", "pt = a.b", "pt = a:path", "PT = a", "../pt = a", "pt = a b"])
def test_odd_entry_points_are_ignored(site: Path, entry: str) -> None:
    declare(site, "odd", entry)
    assert installed_models() == []
    assert run_here("models").returncode == 0


def test_a_package_without_its_model_does_not_hide_others(site: Path, model: Path) -> None:
    install(model, site, "pt")
    declare(site, "empty", "nl = nothing_there")
    with pytest.raises(ModelError, match=r"there is no model .*nl; check the name"):
        load("nl")
    done = run_here("models")
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["model", "en", "nl", "pt"]
    assert "cannot be used: there is no model" in lines[2]


def test_an_editable_installation(site: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is elsewhere on the path than its metadata, and its code does not run either."""
    elsewhere = tmp_path / "elsewhere"
    path = install(model, elsewhere, "pt")
    for folder in elsewhere.glob("*.dist-info"):
        folder.rename(site / folder.name)
    monkeypatch.syspath_prepend(elsewhere)
    assert find_model("pt") == path


def test_a_directory_of_the_same_name(site: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = install(model, site, "pt")
    (tmp_path / "here" / "pt").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert find_model("pt") == path
    assert hidden_directory("pt") == KnownModel("pt", path, "easyfirst-pt", "1.0.0")
    assert hidden_directory("./pt") is None
    done = run_here("info", "pt")
    assert done.returncode == 0
    assert done.stderr == b"warning: pt is the model of the package easyfirst-pt; write ./pt for the directory\n"
    monkeypatch.chdir(path.parent)
    assert hidden_directory("pt") is None


def test_info(site: Path, model: Path) -> None:
    install(model, site, "pt", "1.2.0")
    shown = run_here("info", "pt").stdout.decode()
    assert "package     easyfirst-pt 1.2.0\n" in shown
    assert "languages   pt, gl\n" in shown
    done = run_here("calibrate", "pt", "dev.conllu")
    assert done.returncode == 2
    assert b"pt is part of the installed package easyfirst-pt and cannot be changed" in done.stderr


def test_unknown_names(site: Path, model: Path) -> None:
    install(model, site, "pt")
    with pytest.raises(ModelError, match=r"there is no model nl, neither .* nor installed \(there are: en, pt\)"):
        find_model("nl")
