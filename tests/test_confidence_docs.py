"""The guide to confidence: its Python and its commands run."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst.parser import Parser
from tests.small_models import TREEBANK, small_model

GUIDE = Path(__file__).parent.parent / "docs" / "confidence.md"


def test_python() -> None:
    results = doctest.testfile(str(GUIDE), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert results.failed == 0


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
def test_commands(tmp_path: Path) -> None:
    for name in ("input.conllu", "dev.conllu", "gold.conllu"):
        shutil.copy(TREEBANK, tmp_path / name)
    Parser(small_model("upos")).save(tmp_path / "my-model")
    command = tmp_path / "bin" / "easyfirst"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m easyfirst "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    code = "\n".join(re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))
    environment = os.environ | {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"ArcConf=" in (tmp_path / "output.conllu").read_bytes()
    assert (tmp_path / "steps.html").is_file()
