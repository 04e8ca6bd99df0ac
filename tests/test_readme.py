"""The README's promises: its commands and its Python run, on small files under the names they use.

Two shell blocks are marked, for CI to run word for word on a fresh copy: of the first, only what comes after the
installation is run here, and the second, which runs these tests, is only looked at.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from easyfirst.cli import build_app
from easyfirst.parser import load
from easyfirst.treebank.conllu import ConlluReader

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOY = ROOT / "examples" / "toy"
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt {} "
SMALL = "--epochs 1 --folds 2 --set tagger.epochs=1 --set tokenizer.epochs=1 " + " ".join(
    f"--set network.{name}_dim=8" for name in ("word", "vector", "tree", "hidden")
)

BLOCK = re.compile(r"(?P<mark><!-- [^\n]* -->\n)?```(?P<language>\w+)\n(?P<code>.*?)```\n", re.DOTALL)
BLOCKS = [(match["language"], match["code"], match["mark"] or "") for match in BLOCK.finditer(README)]
PYTHON = [code for language, code, _ in BLOCKS if language == "python"]
SHELL = [code for language, code, mark in BLOCKS if language == "sh" and not mark]
MARKED = {mark.strip("<!-> \n"): code for language, code, mark in BLOCKS if language == "sh" and mark}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files that the README names, and a command that trains a small network for one epoch,
    and makes small vectors."""
    path = tmp_path_factory.mktemp("readme")
    for name in ("train.conllu", "dev.conllu", "input.conllu", "gold.conllu"):
        shutil.copy(TOY / "handwritten.conllu", path / name)
    (path / "letters.txt").write_text("Dear fox,\n\nI like apples. Do you?\n", encoding="utf-8")
    (path / "corpus.txt").write_text("The fox likes apples .\nThe dog likes foxes .\n" * 3, encoding="utf-8")
    command = path / ".venv" / "bin" / "easyfirst"
    command.parent.mkdir(parents=True)
    command.write_text(
        f'#!/bin/sh\nif [ "$1" = train ]; then set -- "$@" {SMALL}; fi\n'
        f'if [ "$1" = vectors ]; then set -- "$@" --dim 4; fi\nexec "{sys.executable}" -m easyfirst "$@"\n'
    )
    command.chmod(0o755)
    return path


def run_shell(code: str, place: Path) -> str:
    """What the code prints, run where a user would be who has installed the package."""
    environment = os.environ | {"PATH": f"{place / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", "-euo", "pipefail", "-c", code]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def first_output(place: Path) -> str:
    """What the first command writes, apart from the installation."""
    first, installation = MARKED["first command"], INSTALL.format(".") + "\\\n    && "
    assert first.startswith(installation)
    return run_shell(first.removeprefix(installation), place)


def test_all_blocks_are_known() -> None:
    assert {language for language, _, _ in BLOCKS} <= {"python", "sh", "text"}
    assert README.count("```") == 2 * len(BLOCKS)
    assert PYTHON
    assert SHELL


def test_the_two_commands_of_ci() -> None:
    assert list(MARKED) == ["first command", "second command"]
    assert MARKED["second command"] == INSTALL.format('".[train,server,dev]"') + "&& .venv/bin/python -m pytest\n"
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for name in MARKED:
        assert f'readme "{name}"' in script
        assert README.count(f"\n<!-- {name} -->\n```sh\n") == 1  # as .ci/run looks for it


def test_the_first_command(first_output: str) -> None:
    """The tree it shows is the tree that the first command gives."""
    lines = [line.encode() for line in first_output.splitlines(keepends=True)]
    [sentence] = ConlluReader(iter(lines), "output")  # type: ignore[arg-type]
    assert sentence.metadata["text"] in MARKED["first command"]
    assert list(sentence.heads).count(0) == 1
    [shown] = [code for language, code, _ in BLOCKS if language == "text"]
    assert load("en")(sentence.metadata["text"])[0].draw() == shown.rstrip("\n")


@pytest.mark.parametrize("code", PYTHON, ids=range(1, len(PYTHON) + 1))
def test_python(code: str, place: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    assert "torch" not in code


def test_shell(place: Path) -> None:
    """One block after the other, as they are read."""
    run_shell("\n".join(SHELL), place)
    assert load(place / "my-model").config.preset == "paper"
    assert load(place / "small-model").tokenizer is not None
    assert (place / "letters.conllu").read_bytes().count(b"# newdoc\n") == 2
    assert (place / "output.conllu").read_bytes().count(b"\troot\t") == 27


def test_every_option_it_names_exists() -> None:
    verbs = typer.main.get_command(build_app()).commands.values()  # type: ignore[attr-defined]
    options = {option for verb in verbs for parameter in verb.params for option in parameter.opts}
    section = README.partition("\n## On the command line\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", section))
    assert len(named) > 10
    assert named - {"--help"} <= options
