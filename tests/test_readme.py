"""The README's set-up commands are those that CI runs, and it shows the tree that the first of them draws.

Its other examples are run by ``test_doc_examples.py``.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst.parser import load
from easyfirst.treebank.conllu import ConlluReader

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt {} "
MARKED = dict(re.findall(r"^<!-- ([^\n]*) -->\n```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE))


def test_the_two_commands_of_ci() -> None:
    assert list(MARKED) == ["first command", "second command"]
    assert MARKED["second command"] == INSTALL.format('".[train,server,dev]"') + "&& .venv/bin/python -m pytest\n"
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for name in MARKED:
        assert f'readme "{name}"' in script
        assert README.count(f"\n<!-- {name} -->\n```sh\n") == 1  # as .ci/run looks for it


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
def test_the_first_command() -> None:
    """Run the first command without the installation; the tree shown is the tree of its output."""
    installation = INSTALL.format(".") + "\\\n    && .venv/bin/easyfirst "
    assert MARKED["first command"].startswith(installation)
    arguments = shlex.split(MARKED["first command"].removeprefix(installation))
    done = subprocess.run([sys.executable, "-m", "easyfirst", *arguments], capture_output=True, check=True)
    [sentence] = ConlluReader(iter(done.stdout.splitlines(keepends=True)), "output")  # type: ignore[arg-type]
    assert sentence.metadata["text"] == arguments[-1]
    assert list(sentence.heads).count(0) == 1
    [shown] = re.findall(r"^```text\n(.*?)\n```$", README, re.DOTALL | re.MULTILINE)
    assert load("en")(sentence.metadata["text"])[0].draw() == shown


def test_it_is_a_landing_page() -> None:
    assert len(README.splitlines()) <= 140
