"""``easyfirst info``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from easyfirst import __version__
from easyfirst.cli.info import describe
from easyfirst.cli.loading import warn_of_name
from easyfirst.model import bundled
from easyfirst.model.parser_store import load_parser
from easyfirst.parser import load
from tests.commands import Run


def test_json(run: Run, xpos_model: Path) -> None:
    done = run("info", xpos_model, "--json")
    assert done.returncode == 0
    facts = json.loads(done.stdout)
    assert facts == describe(xpos_model)
    model = load_parser(xpos_model)
    assert facts["parameters"] == sum(array.size for array in model.arrays.values())
    assert facts["needs_tags"] == ["xpos"]
    assert facts["format_version"] == 1
    assert facts["config"] == model.config.to_dict()
    assert facts["relations"][-1] == "root"
    assert facts["licence"] == "Apache-2.0"
    assert [(row["UAS"], row["LAS"], row["words"]) for row in facts["scores"]] == [
        (100, 100, 16),
        (100, 100, 12),
        (100, 100, 16),
    ]
    assert facts["scores"][0]["convention"].startswith("UD: all words")
    assert set(facts["files"]) == {"config.json", "vocab.json", "weights.safetensors", "README.md"}


def test_text(run: Run, model: Path, xpos_model: Path) -> None:
    text = " ".join(run("info", xpos_model).stdout.decode().split())
    for part in (
        "preset paper",
        "needs tags XPOS",
        "15 words, 12 XPOS tags",
        "LSTM 2 x 5",
        "window of 6 subtrees, 7 hidden units",
        "weights.safetensors",
        "100.00 UAS, 100.00 LAS CoNLL-X",
        "licence Apache-2.0",
        "nsubj",
    ):
        assert part in text
    assert "needs tags none" in " ".join(run("info", model).stdout.decode().split())


def test_of_all_parts_something_is_said(run: Run) -> None:
    facts = json.loads(run("info", "en", "--json").stdout)
    assert facts["tagger"]["network"]["members"] == 2
    for part in ("tagger", "tokenizer"):
        assert facts[part]["parameters"] == sum(a.size for a in getattr(load("en"), part).model.arrays.values())
    assert facts["formats_of_parts"] == {"tokenizer": 2, "tagger": 4, "vectors": 3}
    lines = run("info", "en").stdout.decode().splitlines()
    assert "(format 4, tokenizer 2, tagger 4, vectors 3; easyfirst 0." in lines[0]
    assert f"tagger      2 members, BiLSTM 2 x 128; {facts['tagger']['parameters']:,} parameters" in lines
    assert any(line.startswith("tokenizer   BiLSTMs of ") for line in lines)
    assert any(facts["path"] in line for line in lines)  # however long it is
    assert not any(line.endswith(" ") for line in lines)
    head, english, *_ = run("models").stdout.decode().splitlines()
    assert head.split() == ["model", "version", "languages", "reads", "size", "from", "licence"]
    assert english.split()[:5] == ["en", __version__, "en", "raw", "text,"]


def test_a_model_without_a_card(run: Run, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    (tmp_path / "model" / "README.md").unlink()
    facts = json.loads(run("info", tmp_path / "model", "--json").stdout)
    assert (facts["scores"], facts["licence"], "README.md" in facts["files"]) == ([], None, False)
    assert "none in the model's card" in run("info", tmp_path / "model").stdout.decode()


def test_a_directory_with_the_name_of_a_bundled_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path / "bundled" / "xx", tmp_path / "here" / "xx"):
        path.mkdir(parents=True)
        (path / "config.json").write_text("{}")
    monkeypatch.setattr(bundled, "FOLDER", tmp_path / "bundled")
    monkeypatch.chdir(tmp_path / "here")
    for name in ("xx", "./xx", "yy"):
        warn_of_name(name)
    assert capsys.readouterr().err == "warning: xx is the bundled model; write ./xx for the directory\n"
    monkeypatch.chdir(tmp_path / "bundled")
    warn_of_name("xx")
    assert capsys.readouterr().err == ""


def test_the_warning_is_printed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(iter(bundled.bundled_models()), None)
    if name is None:
        pytest.skip("no model is bundled")
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    warning = f"warning: {name} is the bundled model; write ./{name} for the directory\n".encode()
    for command in (["info", name], ["parse", "--model", name, "--text", "A fox."]):
        done = run(*command)
        assert (done.returncode, done.stderr) == (0, warning)


def test_errors(run: Run, tmp_path: Path) -> None:
    half = tmp_path / "half"
    shutil.copytree(bundled.find_model("en") / "tagger", half / "tagger")
    for path, message in (
        (tmp_path / "none", "there is no model"),
        (tmp_path, "not an easyfirst model"),
        (half, "has a tagger, but no parser yet; train one with 'easyfirst train TREEBANK --parts parser --out"),
        (half, "or continue an interrupted training with --resume"),
    ):
        done = run("info", path)
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: ")
        assert message in done.stderr.decode()
