"""The examples of the README and of every page of the documentation run, on small files under the names they use.

A block that follows an HTML comment is not run here: CI runs the two set-up commands of the README, the tests of the
server, of Ray, of Spark and of Pyodide run the examples of their pages, and some commands cannot run in a test. The
shell commands of the pages for developers need treebanks, so they are not run either.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from easyfirst.cli import build_app
from easyfirst.parser import Parser, load
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.projective import is_projective
from tests.small_models import TREEBANK, small_model

ROOT = Path(__file__).resolve().parent.parent
USER_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
DEVELOPER_PAGES = sorted(
    path for folder in ("development", "reference") for path in (ROOT / "docs" / folder).glob("*.md")
)
MARKS = {
    *("first command", "second command", "while the server runs", "not run by the tests"),
    *("run by the tests of Ray", "run by the tests of Spark", "run by the tests of Pyodide"),
    "run by the tests of the tree encoder",
}
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```(?P<language>\w*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
NEEDS = {"docs/spacy.md": ("spacy",), "docs/tables.md": ("pyarrow", "pandas"), "docs/trees.md": ("networkx",)}
"""The packages of extras that the examples of a page need."""
SMALL = ["--epochs=1", "--folds=2", "--set=tagger.epochs=1", "--set=tokenizer.epochs=1"]
SMALL += [f"--set=network.{name}_dim=8" for name in ("word", "vector", "tree", "hidden")]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def require_packages(page: Path) -> None:
    """Skip a page whose examples need a package that is not installed."""
    for package in NEEDS.get(name_of(page), ()):
        pytest.importorskip(package, reason=f"an example needs {package}")


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of one language that are to be run."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [match["code"] for match in found if match["language"] == language and not match["mark"]]


@pytest.fixture(scope="module")
def treebank() -> bytes:
    """Trees that the bundled model can keep: projective, with relations that it knows."""
    known = set(load("en").relations)
    trees = [
        sentence
        for sentence in read_conllu(TREEBANK)
        if is_projective([head or 0 for head in sentence.heads]) and known.issuperset(sentence.relations)
    ]
    return b"".join(sentence.to_bytes() for sentence in trees)


@pytest.fixture
def place(tmp_path: Path, treebank: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that the pages name."""
    (tmp_path / "examples" / "toy").mkdir(parents=True)
    for name in ("train", "dev", "input", "gold", "trees", "examples/toy/train", "examples/toy/dev"):
        (tmp_path / f"{name}.conllu").write_bytes(treebank)
    for phrases in (ROOT / "examples" / "toy").glob("*.ptb"):
        (tmp_path / "examples" / "toy" / phrases.name).write_bytes(phrases.read_bytes())
    (tmp_path / "README.md").write_text("# Foxes\n\nThe fox jumps. It likes apples.\n", encoding="utf-8")
    (tmp_path / "letters.txt").write_text("Dear fox,\n\nI like apples. Do you?\n", encoding="utf-8")
    (tmp_path / "news.txt").write_text("The fox likes apples.\n" * 100, encoding="utf-8")
    (tmp_path / "corpus.txt").write_text("The fox likes apples .\nThe dog likes foxes .\n" * 3, encoding="utf-8")
    for year in ("2025", "2026"):
        (tmp_path / "corpus" / year).mkdir(parents=True)
        (tmp_path / "corpus" / year / "fox.txt").write_text("The fox likes apples.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str) -> None:
    """Run a shell command that is, or ends with, a command of easyfirst; training makes small networks."""
    shell, _, arguments = command.rpartition("easyfirst ")
    given = b""
    if before := shell.rstrip("|& "):
        given = subprocess.run(["bash", "-euo", "pipefail", "-c", before], capture_output=True, check=True).stdout
    words = shlex.split(arguments)
    words += {"train": SMALL, "vectors": ["--dim", "4"]}.get(words[0], [])
    result = CliRunner().invoke(build_app(), words, input=given)
    assert result.exit_code == 0, f"{command}: {result.output} {result.exception}"


def test_pages_are_found() -> None:
    names = {name_of(page) for page in (*USER_PAGES, *DEVELOPER_PAGES)}
    assert {"README.md", "docs/tutorial.md", "docs/confidence.md", "docs/development/decisions.md"} <= names


@pytest.mark.parametrize("page", [*USER_PAGES, *DEVELOPER_PAGES], ids=name_of)
def test_every_block_is_of_a_known_kind(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    assert {match["language"] for match in found} <= {"python", "pycon", "sh", "js", "text", "toml", "ini"}
    if page in USER_PAGES:
        assert {match["mark"] for match in found} <= {None, *MARKS}
        assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(found)


@pytest.mark.parametrize("page", USER_PAGES[1:], ids=name_of)
def test_every_page_shows_it_working_in_the_first_ten_lines(page: Path) -> None:
    assert any(line.startswith("```") for line in page.read_text(encoding="utf-8").splitlines()[:10])


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
@pytest.mark.parametrize("page", [page for page in USER_PAGES if blocks(page, "sh")], ids=name_of)
def test_commands(page: Path, place: Path) -> None:
    """Run all commands of a page one after the other, then its Python programs."""
    require_packages(page)
    code = "".join(blocks(page, "sh"))
    if "my-model" in code and "--out my-model" not in code:
        Parser(small_model("upos")).save(place / "my-model")
    for command in code.replace("\\\n", " ").splitlines():
        run(command)
    for written in re.findall(r"(?:-o|--out) (\S+)", code):
        assert (place / written).exists(), written
    for program in blocks(page, "python"):
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout
        assert "torch" not in program


@pytest.mark.parametrize(
    "page", [page for page in (*USER_PAGES, *DEVELOPER_PAGES) if blocks(page, "pycon")], ids=name_of
)
@pytest.mark.usefixtures("place")
def test_python(page: Path) -> None:
    require_packages(page)
    if ">>> import spacy" in page.read_text(encoding="utf-8"):
        import_module("easyfirst.spacy")  # as spaCy does, if the package is installed
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0


def test_programs_follow_commands() -> None:
    """Python programs are run with the commands of their page."""
    assert all(blocks(page, "sh") for page in USER_PAGES if blocks(page, "python"))


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_every_option_it_names_exists(page: Path) -> None:
    group = typer.main.get_command(build_app())
    own = {option for parameter in group.params for option in parameter.opts}
    verbs = group.commands.values()  # type: ignore[attr-defined]
    parameters = [parameter for verb in verbs for parameter in verb.params]
    options = {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}
    programs = [ROOT / "examples" / "pyodide" / "build.py", ROOT / "bench" / "peers" / "__main__.py"]
    for program in (*programs, *(ROOT / "bench" / "campaign").glob("*.py")):
        options.update(OPTION.findall(program.read_text(encoding="utf-8")))
    assert set(OPTION.findall(page.read_text(encoding="utf-8"))) <= {*options, *own, "--help"}


def test_the_toy_treebank_is_where_the_tutorial_says() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    files = set(re.findall(r"examples/toy/\w+\.conllu", text))
    assert len(files) == 2
    assert all((ROOT / file).is_file() for file in files)
