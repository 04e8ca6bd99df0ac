"""Servers of annotation as real processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.server.conftest import Answer, Server

TOKENS = "The fox jumps .\nIt likes apples .\nThe fox likes it .\n"


@contextmanager
def annotating(corpus: Path, out: Path, model: Path, *options: str) -> Iterator[Server]:
    """Run 'easyfirst annotate', which must end well unless it is killed."""
    arguments = [str(corpus), "--out", str(out), "--model", str(model), "--port", "0", "--no-browser", "--quiet"]
    arguments += ["--from", "tokens"]
    command = [sys.executable, "-m", "easyfirst", "annotate", *arguments, "--annotator", "anna", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        try:
            assert " at http" in line, process.stderr.read()
            yield Server(process, line.split(" at ")[1].split()[0].removesuffix("annotate"))
            if process.poll() is None:
                process.terminate()
                output, errors = process.communicate()
                assert (process.returncode, errors) == (0, "")
                assert output.startswith("stopped: ")
        finally:
            if process.poll() is None:
                process.kill()


def next_sentence(server: Server, annotator: str = "anna", after: int | None = None) -> Any:
    return server.ask("POST", "/annotate/next", {"annotator": annotator, "after": after}).json["sentence"]


def save(server: Server, sentence: Any, annotator: str = "anna", **values: object) -> Answer:
    """Save a tree in which all words modify the first."""
    n = sum(line[:1].isdigit() for line in sentence["conllu"].split("\n"))
    body = {
        "annotator": annotator,
        "status": "done",
        "heads": [0, *[1] * (n - 1)],
        "relations": ["root", *["dep"] * (n - 1)],
        "checks": {"1": "seen"},
        "revision": sentence["revision"],
    }
    return server.ask("POST", f"/annotate/sentences/{sentence['number']}", body | values)
