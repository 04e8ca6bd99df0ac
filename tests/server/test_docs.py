"""The examples of docs/server.md run, and it names what there is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from easyfirst.cli import build_app
from easyfirst.server.app import PAGE_WORDS, REFUSALS
from easyfirst.server.batching import PAUSE
from tests.server.conftest import Server

TEXT = (Path(__file__).parent.parent.parent / "docs" / "server.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- while the server runs -->\n```(\w+)\n(.*?)```", TEXT, re.DOTALL)
ADDRESS = "http://127.0.0.1:8000/"


def here(code: str, server: Server) -> str:
    assert ADDRESS in code
    return code.replace(ADDRESS, server.address)


def test_the_python_example(server: Server) -> None:
    code = "".join(code for language, code in BLOCKS if language == "python")
    command = [sys.executable, "-W", "error", "-c", here(code, server)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("whole\n1 ")
    assert "\n4 ['head']\nsentence 1: these cannot hold together: 4 'man' has the head 7" in done.stdout
    assert "\n1 {'4': 7, '7': 4}\n" in done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_shell_example(server: Server) -> None:
    [code] = [code for language, code in BLOCKS if language == "sh"]
    done = subprocess.run(["bash", "-c", here(code, server)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["sentences"]


def test_the_bodies_it_shows(server: Server) -> None:
    bodies = re.findall(r"^\| `\w+` \|.*\| `(\{.*\})` \|$", TEXT, re.MULTILINE)
    assert len(bodies) == 4
    assert {server.parse(body.encode()).status for body in bodies} == {200}


def test_what_it_names_is_there() -> None:
    verb = typer.main.get_command(build_app()).commands["serve"]  # type: ignore[attr-defined]
    options = {option for parameter in verb.params for option in (*parameter.opts, *parameter.secondary_opts)}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT)) - {"--to", "--json"}
    assert named <= options
    assert {"--max-bytes", "--max-words", "--max-sentence-words", "--max-waiting", "--timeout"} <= named
    statuses = {
        int(status) for row in re.findall(r"^\| ([0-9, ]+) \|", TEXT, re.MULTILINE) for status in row.split(",")
    }
    assert statuses == set(REFUSALS) | {404, 405}
    assert f"up to {PAGE_WORDS:,} words" in TEXT
    assert f"waits {1000 * PAUSE:.0f} milliseconds" in TEXT
