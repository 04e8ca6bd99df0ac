"""Constituency trees on the command line: train, parse, evaluate and draw."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from easyfirst.constituents.brackets import read_brackets
from easyfirst.constituents.stripping import STRIPPABLE, strip
from easyfirst.parser import load
from tests.cli.tiny_training import TOY, Train, train_tiny
from tests.commands import Run

TRAIN, DEV = TOY / "phrases.ptb", TOY / "phrases-dev.ptb"
ENOUGH = ("--set", "tagger.epochs=2", "--folds", "2")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with a tagger."""
    out = tmp_path_factory.mktemp("phrases") / "model"
    common = ("--constituency", "--strip", "traces,functions", "--parts", "tagger,parser", *ENOUGH)
    done = train_tiny(TRAIN, "--dev", DEV, "-o", out, "--epochs", "2", *common)
    assert done.code == 0, done.stderr
    assert re.search(r"dev UAS \d+\.\d\d LAS \d+\.\d\d F1 \d+\.\d\d", done.stderr)
    return out


def test_the_model_records_that_it_has_phrases(model: Path) -> None:
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    assert config["constituency"] == {"encoding": "levels", "heads": "ptb", "strip": "traces,functions"}
    parser = load(model)
    assert parser.config.constituency is not None
    assert parser.reads_tags == ("xpos",)
    metrics = (model / "training" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert set(json.loads(metrics[-1])["dev"]["constituents"]) == {"F1"}


def test_parse(model: Path, run: Run, tmp_path: Path) -> None:
    tokens = b"The fox likes apples .\nApples\n"
    done = run("parse", "--model", model, "--from", "tokens", "--to", "brackets", "-q", stdin=tokens)
    assert done.returncode == 0, done.stderr
    (tmp_path / "out.ptb").write_bytes(done.stdout)
    first, second = read_brackets(tmp_path / "out.ptb")
    assert first.forms == ("The", "fox", "likes", "apples", ".")
    assert [phrase.label for phrase in second] == ["FRAG", "NP"]  # as the only sentence of one word in the treebank
    by_name = run("parse", "--model", model, "--from", "tokens", "-o", tmp_path / "named.mrg", "-q", stdin=tokens)
    assert by_name.returncode == 0
    assert (tmp_path / "named.mrg").read_bytes() == done.stdout
    as_json = run("parse", "--model", model, "--from", "tokens", "--to", "json", "-q", stdin=tokens)
    found = [json.loads(line)["constituents"] for line in as_json.stdout.splitlines()]
    assert found == done.stdout.decode().splitlines()
    drawn = run("parse", "--model", model, "--from", "tokens", "--to", "tree", "-q", stdin=b"Apples\n")
    assert re.fullmatch(r"FRAG\n└─ NP\n   └─ \S+ Apples\n\n", drawn.stdout.decode())


def test_the_best_trees_of_a_beam(model: Path, run: Run) -> None:
    options = ("-q", "-m", model, "--from", "tokens", "--beam", "4", "--n-best", "2")
    drawn = run("parse", *options, "--to", "tree", stdin=b"The fox likes apples .\n").stdout.decode()
    assert re.findall(r"^tree (\d): score", drawn, re.M) == ["1", "2"]
    brackets = run("parse", *options, "--to", "brackets", stdin=b"The fox likes apples .\n").stdout.splitlines()
    assert len(brackets) == 2


def test_relations_in_conllu_encode_the_same_tree(model: Path) -> None:
    parser = load(model)
    [parse] = parser.parse([["The", "fox", "likes", "apples", "."]])
    tree = parse.constituents
    assert tree is not None
    assert tree.tags == parse.tagged.xpos
    assert parse.relations[parse.tree.root - 1] == "levels/FRAG+NP"


def test_evaluate(model: Path, run: Run, tmp_path: Path) -> None:
    gold = [strip(tree, STRIPPABLE) for tree in read_brackets(DEV)]
    system = tmp_path / "system.ptb"
    system.write_text("".join(f"{tree}\n" for tree in gold), encoding="utf-8")
    done = run("evaluate", DEV, system, "--strip", "traces,functions", "--json")
    values = json.loads(done.stdout)
    assert values["evalb"]["phrases"]["f1"] == values["all"]["phrases"]["f1"] == 100
    assert json.loads(run("evaluate", DEV, system, "--strip", "traces", "--json").stdout)["all"]["phrases"]["f1"] < 100
    shown = run("evaluate", DEV, "--model", model, "--predicted-tags", "--by-relation", "--by-length")
    assert shown.returncode == 0, shown.stderr
    text = shown.stdout.decode()
    assert re.search(r"evalb +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d +25 +\d+", text)
    assert "4 sentences; whole trees right:" in text
    assert re.search(r"\n +NP +", text)
    assert re.search(r"\n +1-10 +", text)


@pytest.mark.parametrize("target", ["terminal", "latex", "svg"])
def test_render(run: Run, target: str, tmp_path: Path) -> None:
    done = run("render", DEV, "--to", target, "--sentence", "1")
    assert done.returncode == 0
    text = done.stdout.decode()
    begins = {"terminal": "S\n├─ NP-SBJ\n│  ├─ DT The", "latex": r"\documentclass", "svg": "<svg "}
    assert text.startswith(begins[target])
    assert "soup" in text
    assert run("render", "--constituency", "--to", target, stdin=DEV.read_bytes().splitlines()[0]).stdout == done.stdout


def test_errors(run: Run, train: Train, model: Path, tmp_path: Path) -> None:
    done = train(TRAIN, "-o", tmp_path / "m", "--constituency")
    assert done.error == f"{TRAIN}:4: '*-1' is a trace, not a word; remove traces with --strip traces"
    assert "for constituency trees; add --constituency" in train(TRAIN, "-o", tmp_path / "m", "--strip", "traces").error
    given = ("--constituency", "--set", "constituency.encoding=depth")
    done = train(TRAIN, "-o", tmp_path / "m", *given)
    assert done.error == "constituency.encoding must be one of levels, index, delta, spines"
    broken = tmp_path / "broken.ptb"
    broken.write_text("(S (NP (NN a))\n", encoding="utf-8")
    assert train(broken, "-o", tmp_path / "m", "--constituency").error.startswith(
        f"{broken}:1: this tree is incomplete"
    )
    broken.write_text("\n", encoding="utf-8")
    done = train(broken, "-o", tmp_path / "m", "--constituency")
    assert done.error == f"{broken}: no trees in this file; give Penn-style brackets"
    for arguments, message in (
        (("parse", "--to", "brackets", "--text", "a"), "en makes dependency trees; for phrases, train a model"),
        (("evaluate", DEV, "--model", "en"), "en makes dependency trees"),
        (("render", DEV, "--to", "html"), "phrases cannot be drawn as html; use --to terminal, svg or latex"),
        (("render", DEV, "--to", "svg"), "an SVG holds one tree and the input has several"),
        (("render", DEV, "--sentence", "9"), "there is no such tree: the input has fewer"),
    ):
        failed = run(*arguments)
        assert failed.returncode == 2
        assert message in failed.stderr.decode()
