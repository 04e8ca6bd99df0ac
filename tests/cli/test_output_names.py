"""Outputs without ``--to``: the name decides on the format, and every format has the same ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.rows import ROWS
from tests.commands import Run

TEXT = b"The fox jumps. It likes apples.\n\nThe fox.\n"


@pytest.mark.parametrize(
    ("name", "target"), [("a.jsonl", "json"), ("a.JSON", "json"), ("a.conllu.gz", "conllu"), ("a.out", "conllu")]
)
def test_parse(run: Run, text_model: Path, tmp_path: Path, name: str, target: str) -> None:
    (tmp_path / "notes.txt").write_bytes(TEXT)
    command = ("parse", "-q", "-m", text_model, tmp_path / "notes.txt")
    ending = Path(name).suffix if name.endswith(".gz") else ""
    assert run(*command, "-o", tmp_path / name).returncode == 0
    assert run(*command, "--to", target, "-o", tmp_path / f"other{ending}").returncode == 0
    assert (tmp_path / name).read_bytes() == (tmp_path / f"other{ending}").read_bytes()


def test_an_option_decides_before_the_name(run: Run, text_model: Path, tmp_path: Path) -> None:
    command = ("parse", "-q", "-m", text_model, "--text", "The fox.", "-o", tmp_path / "a.json")
    assert run(*command, "--to", "conllu").returncode == 0
    assert (tmp_path / "a.json").read_bytes().startswith(b"# newdoc id")
    assert run(*command, "--show", "upos").returncode == 0
    assert not (tmp_path / "a.json").read_bytes().startswith((b"{", b"#"))
    done = run(*command, "--deps")
    assert (done.returncode, b"--deps is for CoNLL-U" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("verb", "name", "begin"),
    [
        ("render", "a.html", b"<!DOCTYPE html>"),
        ("render", "a.svg", b"<svg"),
        ("render", "a.tex", b"\\documentclass"),
        ("render", "a.dot", b"digraph"),
        ("explain", "a.html", b"<!DOCTYPE html>"),
        ("explain", "a.jsonl", b"{"),
    ],
)
def test_pictures(run: Run, model: Path, tmp_path: Path, verb: str, name: str, begin: bytes) -> None:
    (tmp_path / "trees.conllu").write_bytes(ROWS)
    options = ("-m", model) if verb == "explain" else ()
    assert run(verb, tmp_path / "trees.conllu", *options, "-o", tmp_path / name).returncode == 0
    assert begin in (tmp_path / name).read_bytes()[:300]


@pytest.mark.parametrize("source", ["text", "lines", "tokens"])
def test_json_has_the_ids_of_conllu(run: Run, text_model: Path, tmp_path: Path, source: str) -> None:
    (tmp_path / "notes.txt").write_bytes(TEXT)
    command = ("parse", "-q", "-m", text_model, tmp_path / "notes.txt", "--from", source)
    objects = [json.loads(line) for line in run(*command, "--to", "json").stdout.splitlines()]
    lines = run(*command, "--to", "conllu").stdout.decode().splitlines()
    expected = [line.removeprefix("# sent_id = ") for line in lines if line.startswith("# sent_id")]
    documents = [line.removeprefix("# newdoc id = ") for line in lines if line.startswith("# newdoc id")]
    assert [each["sent_id"] for each in objects] == expected
    assert list(dict.fromkeys(each["doc_id"] for each in objects)) == documents


def test_json_of_conllu_names_its_document(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_bytes(b"# newdoc id = d1\n" + ROWS + b"\n" + ROWS)
    found = run("parse", "-q", "-m", model, tmp_path / "a.conllu", "--to", "json").stdout.splitlines()
    assert [json.loads(line).get("doc_id") for line in found] == ["d1"] * len(found)
    assert found
