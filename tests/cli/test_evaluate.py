"""``easyfirst evaluate`` as a process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from easyfirst.parser import load
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import score

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def gold(data: Path) -> Path:
    return data / "multiword.conllu"


@pytest.fixture
def wrong(gold: Path, tmp_path: Path) -> Path:
    """One head wrong, and one relation, of 16."""
    content = gold.read_bytes().replace(b"\t5\tdet\t", b"\t3\tdet\t").replace(b"\t2\tobj\t", b"\t2\tiobj\t")
    path = tmp_path / "wrong.conllu"
    path.write_bytes(content)
    return path


def test_a_file_as_json(run: Run, gold: Path, wrong: Path) -> None:
    done = run("evaluate", gold, wrong, "--json")
    assert done.returncode == 0
    values = json.loads(done.stdout)
    assert values == json.loads(json.dumps(score(read_conllu(gold), read_conllu(wrong)).to_dict()))
    assert values["ud"] == {"UAS": 93.75, "LAS": 87.5, "words": 16}
    assert {"ud", "conllx", "full", "relations", "lengths"} <= values.keys()


def test_a_file_as_tables(run: Run, gold: Path, wrong: Path) -> None:
    text = run("evaluate", gold, wrong).stdout.decode()
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["UD"][1:4] == ["93.75", "87.50", "16"]
    assert rows["CoNLL-X"][3] == "12"
    assert rows["full"][1:4] == ["93.75", "87.50", "16"]
    assert "2 sentences; whole trees right: 50.00 % of heads, 0.00 % with relations" in text
    assert "nsubj" not in text
    assert "1-10" not in text


def test_tables_are_whole_in_a_narrow_terminal(
    run: Run, gold: Path, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    text = run("evaluate", gold, wrong).stdout.decode()
    assert "all words, subtypes of relations ignored" in text
    assert "…" not in text


def test_more_tables(run: Run, gold: Path, wrong: Path) -> None:
    text = run("evaluate", gold, wrong, "--by-relation", "--by-length").stdout.decode()
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["iobj"] == ["iobj", "0", "1", "0.00", "0.00", "0.00"]
    assert rows["1-10"] == ["1-10", "2", "16", "93.75", "87.50"]


def test_a_model(run: Run, gold: Path, model: Path) -> None:
    done = run("evaluate", gold, "--model", model, "--json", "--threads", "1")
    parses = load(model).parse(read_conllu(gold))
    system = [parse.sentence.with_tree(parse.heads, parse.relations) for parse in parses]
    assert json.loads(done.stdout)["full"] == score(read_conllu(gold), system).to_dict()["full"]


def test_stdin(run: Run, gold: Path) -> None:
    values = json.loads(run("evaluate", gold, "-", "--json", stdin=gold.read_bytes()).stdout)
    assert values["full"]["LAS"] == 100
    values = json.loads(run("evaluate", "-", gold, "--json", stdin=gold.read_bytes()).stdout)
    assert values["full"]["LAS"] == 100


def test_exactly_one_side_to_judge(run: Run, gold: Path, model: Path) -> None:
    for arguments in ([gold], [gold, gold, "--model", model], ["-", "-"]):
        done = run("evaluate", *arguments)
        assert done.returncode == 2
        assert b"SYSTEM" in done.stderr


def test_errors(run: Run, gold: Path, xpos_model: Path, data: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.conllu"
    empty.write_bytes(b"")
    for arguments, message in (
        ([gold, "missing"], "missing: there is no such file"),
        ([gold, data / "scripts.conllu"], "differs at word 1"),
        ([empty, empty], "no sentences to compare"),
        ([gold, "--model", tmp_path], "not an easyfirst model"),
        ([data / "scripts.conllu", "--model", xpos_model], "scripts.conllu:3: the model needs XPOS tags"),
    ):
        done = run("evaluate", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: ")
        assert message in done.stderr.decode()
