"""Shells complete verbs, options and values."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("easyfirst expl", ["explain"]),
        ("easyfirst parse --out-d", ["--out-dir"]),
        ("easyfirst parse --to par", ["parquet"]),
    ],
)
def test_completion(typed: str, expected: list[str]) -> None:
    variables = {"_EASYFIRST_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    assert run(**variables).split() == expected
