"""Shells complete verbs, options, values, models and files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst.cli.completions import complete_list, complete_model, complete_preset
from easyfirst.parser import Parser
from tests.small_models import small_model

EXPLICIT = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the shell is that of the test, which varies


def run(*arguments: str, **variables: str) -> str:
    command = [sys.executable, "-m", "easyfirst", *arguments]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("shell", "line"), [("bash", "complete -o default -F"), ("zsh", "compdef"), ("fish", "complete")]
)
def test_a_script_for_each_shell(shell: str, line: str) -> None:
    script = run("--show-completion", shell, **EXPLICIT)
    assert line in script
    assert "_EASYFIRST_COMPLETE" in script


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a model, one with a damaged model, and other files."""
    for name in ("my-model", "models/one", "models/two"):
        Parser(small_model("none")).save(tmp_path / name)
    (tmp_path / "my-damaged").mkdir()
    (tmp_path / "my-damaged" / "config.json").write_text("{", encoding="utf-8")
    (tmp_path / "mylist.txt").write_text("a", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestNames:
    @pytest.mark.parametrize(
        ("typed", "expected"),
        [
            ("e", ["en"]),
            ("", ["en", "my-model"]),
            ("my", ["my-model"]),
            ("./m", ["./my-model"]),
            ("models/", ["models/one", "models/two"]),
            ("models/t", ["models/two"]),
            ("nowhere/", []),
            ("mylist", []),
        ],
    )
    @pytest.mark.usefixtures("place")
    def test_models(self, typed: str, expected: list[str]) -> None:
        assert complete_model(typed) == expected

    def test_a_model_from_the_root_of_the_file_system(self, place: Path) -> None:
        assert complete_model(f"{place}/my-m") == [f"{place}/my-model"]

    def test_presets(self) -> None:
        assert complete_preset("p") == ["paper", "pipeline"]

    def test_lists(self) -> None:
        complete = complete_list("lemma", "upos", "none")
        assert complete("") == ["lemma", "upos", "none"]
        assert complete("lemma,") == ["lemma,upos", "lemma,none"]
        assert complete("upos,l") == ["upos,lemma"]
        assert complete("x") == []


BASH = """
source completion
read -ra COMP_WORDS <<< "$TYPED"
[[ $TYPED == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_easyfirst_completion easyfirst "${COMP_WORDS[COMP_CWORD]}"
printf '%s\\n' "${COMPREPLY[@]}"
complete -p easyfirst
"""


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="bash is not installed")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("easyfirst expl", ["explain"]),
        ("easyfirst parse --out-d", ["--out-dir"]),
        ("easyfirst parse --to par", ["parquet"]),
        ("easyfirst parse --model ", ["en", "my-model"]),
        ("easyfirst info my", ["my-model"]),
        ("easyfirst train --preset st", ["strong"]),
        ("easyfirst parse --show lemma,u", ["lemma,upos"]),
        ("easyfirst parse my", []),
        ("easyfirst train my", []),
    ],
)
def test_in_bash(typed: str, expected: list[str], place: Path) -> None:
    """Run the script as bash does. It completes the names of files itself where the script returns nothing."""
    (place / "completion").write_text(run("--show-completion", "bash", **EXPLICIT), encoding="utf-8")
    (place / "bin").mkdir()
    command = place / "bin" / "easyfirst"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m easyfirst "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    variables = {**os.environ, "TYPED": typed, "PATH": f"{command.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", BASH], capture_output=True, text=True, check=False, env=variables)
    assert (done.returncode, done.stderr) == (0, "")
    *found, registered = done.stdout.splitlines()
    assert [name for name in found if name] == expected
    assert registered == "complete -o default -F _easyfirst_completion easyfirst"
