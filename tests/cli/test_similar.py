"""``easyfirst similar``: a phrase and a corpus in, subtrees out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands import Run


@pytest.fixture
def corpus(data: Path) -> Path:
    return data / "multiword.conllu"


def test_a_table_is_the_default(run: Run, text_model: Path, corpus: Path) -> None:
    done = run("similar", "the soup", corpus, "--model", text_model, "--top", "3")
    assert done.returncode == 0
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert len(lines) == 3
    assert all(re.fullmatch(r"-?\d\.\d{3}  .+  \(kitchen-[12]\)", line) for line in lines)
    assert lines == sorted(lines, reverse=True)


def test_json_has_the_places(run: Run, text_model: Path, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "hits.jsonl"
    done = run("similar", "the soup", corpus, "--model", text_model, "--to", "json", "-n", "50", "-o", output)
    assert (done.returncode, done.stdout) == (0, b"")
    hits = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    [soup] = [hit for hit in hits if hit["text"] == "the soup"]
    assert (soup["words"], soup["head"], soup["sent_id"], soup["line"]) == ([4, 5], 5, "kitchen-1", 1)


def test_text_is_parsed(run: Run, text_model: Path) -> None:
    options = ("--model", text_model, "--from", "text", "--quiet", "--min-words", "2")
    done = run("similar", "the soup", "-", *options, stdin=b"Salt the soup. Ana cooks rice.")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_nothing_found_is_said(run: Run, text_model: Path, corpus: Path) -> None:
    done = run("similar", "soup", corpus, "--model", text_model, "--min-words", "30")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no subtree was found" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "{corpus}"), "PHRASE is empty"),
        (("soup", "{corpus}", "--min-words", "4", "--max-words", "2"), "--max-words 2 is less than --min-words 4"),
        (("soup", "missing.conllu"), "missing.conllu: there is no such file"),
        (("soup", "{corpus}", "-o", "{corpus}"), "this is also an input"),
    ],
)
def test_mistakes_are_named(run: Run, text_model: Path, corpus: Path, arguments: tuple[str, ...], message: str) -> None:
    given = (argument.format(corpus=corpus) for argument in arguments)
    done = run("similar", *given, "--model", text_model)
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_a_broken_tree_is_named_by_its_line(run: Run, text_model: Path) -> None:
    rows = "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
    done = run("similar", "soup", "--model", text_model, "--from", "conllu", stdin=rows.encode())
    assert done.returncode == 2
    assert "<stdin>:1: no word has HEAD 0" in done.stderr.decode()


def test_help_has_examples(run: Run) -> None:
    done = run("similar", "--help")
    assert done.returncode == 0
    assert b'easyfirst similar "a terrible restaurant" corpus.conllu' in done.stdout
