"""``easyfirst evaluate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from easyfirst.parser import Parser, load
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.raw_text import raw_text, read_paragraphs
from easyfirst.treebank.scores import score
from easyfirst.treebank.text_scores import score_text
from tests.commands import Run
from tests.small_models import small_model, small_tagger
from tests.treebank.texts import official_scores


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
    assert values.pop("columns") == dict.fromkeys(["LEMMA", "UPOS", "XPOS", "FEATS", "DEPREL"], "scored")
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


def test_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_bytes(b"1\tYes\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert b"1 sentence; whole trees right" in run("evaluate", *(tmp_path / "a.conllu",) * 2).stdout


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


# All metrics of the CoNLL 2018 shared task


def check_metrics(values: dict[str, Any], gold: bytes, system: bytes) -> None:
    """The figures that are not left out are those of the official scorer."""
    official = official_scores(gold.decode(), system.decode())
    for name, metric in values.items():
        if metric is not None:
            theirs = official[name]
            shares = (theirs.precision, theirs.recall, theirs.f1)
            assert [metric[key] / 100 for key in ("precision", "recall", "f1")] == pytest.approx(shares), name
            assert metric.get("aligned") == theirs.aligned_total


def without(content: bytes, column: int) -> bytes:
    """Return CoNLL-U with a column, counted from 0, of which nothing is given."""
    rows = [line.split(b"\t") for line in content.split(b"\n")]
    return b"\n".join(b"\t".join([*row[:column], b"_", *row[column + 1 :]]) if row[1:] else row[0] for row in rows)


def test_metrics_of_files(run: Run, data: Path, tmp_path: Path) -> None:
    gold, wrong = data / "morphology.conllu", tmp_path / "wrong.conllu"
    changes = {b"\tgato\t": b"\tgatos\t", b"Tense=Pres": b"Tense=Past", b"\taux:pass\t": b"\tcop\t", b"SCONJ": b"PRON"}
    content = gold.read_bytes()
    for old, new in changes.items():
        assert content.count(old) == 1
        content = content.replace(old, new)
    wrong.write_bytes(content)
    for options, key in (((), "conll18"), (("--text",), "text")):
        values = json.loads(run("evaluate", gold, wrong, "--json", *options).stdout)[key]
        names = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX"
        assert list(values) == names.split()
        check_metrics(values, gold.read_bytes(), content)
        found = {name: metric["gold"] - metric["correct"] for name, metric in values.items()}
        assert {name: errors for name, errors in found.items() if errors} == {
            **{"UPOS": 1, "UFeats": 1, "AllTags": 2, "Lemmas": 1, "LAS": 1},
            **{"MLAS": 2, "BLEX": 1},
        }
        text = run("evaluate", gold, wrong, *options).stdout.decode()
        rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
        for name, metric in values.items():
            keys = ("precision", "recall", "f1", "aligned_accuracy")
            shown = [f"{metric[key]:.2f}" for key in keys if key in metric]
            assert rows[name] == [*shown, str(metric["gold"]), str(metric["system"])]


@pytest.mark.parametrize("options", [[], ["--text"]], ids=["words", "text"])
def test_a_column_without_values_is_not_predicted(run: Run, gold: Path, tmp_path: Path, options: list[str]) -> None:
    system = tmp_path / "system.conllu"
    system.write_bytes(without(gold.read_bytes(), 5))
    values = json.loads(run("evaluate", gold, system, "--json", *options).stdout)
    metrics = values["text" if options else "conll18"]
    assert [name for name, metric in metrics.items() if metric is None] == ["UFeats", "AllTags", "MLAS"]
    assert values["columns"]["FEATS"] == "not predicted"
    check_metrics(metrics, gold.read_bytes(), system.read_bytes())
    text = run("evaluate", gold, system, *options).stdout.decode()
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    assert rows["UFeats"] == ["-"] * 4 + ["16", "16"]
    assert rows["UPOS"] == ["100.00"] * 4 + ["16", "16"]
    assert "FEATS not predicted: no figures for UFeats, AllTags, MLAS.\n" in text


def test_a_column_that_gold_lacks_is_named(run: Run, gold: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.conllu"
    bare.write_bytes(without(gold.read_bytes(), 2))
    assert "LEMMA not in gold: Lemmas, BLEX say nothing about it.\n" in run("evaluate", bare, gold).stdout.decode()
    assert json.loads(run("evaluate", bare, bare, "--json").stdout)["columns"]["LEMMA"] == "not in gold"


def test_metrics_of_a_model_with_gold_tags(run: Run, gold: Path, text_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    assert run("parse", gold, "--model", text_model, "-o", out).returncode == 0
    values = json.loads(run("evaluate", gold, "--model", text_model, "--json").stdout)
    assert values["columns"] == dict.fromkeys(["LEMMA", "UPOS", "XPOS", "FEATS"], "given") | {"DEPREL": "scored"}
    assert None not in values["conll18"].values()
    check_metrics(values["conll18"], gold.read_bytes(), out.read_bytes())
    text = run("evaluate", gold, "--model", text_model).stdout.decode()
    assert "\nLEMMA, UPOS, XPOS, FEATS given: these are the values of GOLD; use --predicted-tags" in text


def test_metrics_of_a_model_with_predicted_tags(run: Run, gold: Path, text_model: Path, tmp_path: Path) -> None:
    """The values of GOLD do not count as predictions, also those of columns that the tagger does not predict."""
    untagged, out = tmp_path / "untagged.conllu", tmp_path / "out.conllu"
    untagged.write_bytes(without(without(without(without(gold.read_bytes(), 2), 3), 4), 5))
    assert run("parse", untagged, "--model", text_model, "--write-tags", "-o", out).returncode == 0
    values = json.loads(run("evaluate", gold, "--model", text_model, "--predicted-tags", "--json").stdout)
    missing = dict.fromkeys(["LEMMA", "FEATS"], "not predicted")
    assert values["columns"] == dict.fromkeys(["UPOS", "XPOS", "DEPREL"], "scored") | missing
    metrics = values["conll18"]
    assert [name for name in metrics if metrics[name] is None] == ["UFeats", "AllTags", "Lemmas", "MLAS", "BLEX"]
    assert metrics["UPOS"]["f1"] < 100
    check_metrics(metrics, gold.read_bytes(), out.read_bytes())


def test_tags_that_only_gold_has_are_not_predicted(run: Run, gold: Path, tmp_path: Path) -> None:
    """The parser reads XPOS, and the tagger predicts UPOS alone."""
    Parser(small_model("both"), tagger=small_tagger(kinds=("upos",))).save(tmp_path / "model")
    done = run("evaluate", gold, "--model", tmp_path / "model", "--predicted-tags", "--json")
    assert json.loads(done.stdout)["columns"]["XPOS"] == "not predicted"
    assert json.loads(done.stdout)["columns"]["UPOS"] == "scored"


def test_metrics_of_a_model_from_raw_text(run: Run, gold: Path, text_model: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out.conllu"
    text.write_text(raw_text(read_paragraphs(read_conllu(gold))), encoding="utf-8")
    assert run("parse", "--from", "text", text, "--model", text_model, "-o", out).returncode == 0
    values = json.loads(run("evaluate", gold, "--model", text_model, "--text", "--json").stdout)
    assert values["columns"]["LEMMA"] == "not predicted"
    assert values["columns"]["UPOS"] == "scored"
    check_metrics(values["text"], gold.read_bytes(), out.read_bytes())


def test_stdin(run: Run, gold: Path) -> None:
    values = json.loads(run("evaluate", gold, "-", "--json", stdin=gold.read_bytes()).stdout)
    assert values["full"]["LAS"] == 100
    values = json.loads(run("evaluate", "-", gold, "--json", stdin=gold.read_bytes()).stdout)
    assert values["full"]["LAS"] == 100


def test_exactly_one_system_is_compared(run: Run, gold: Path, model: Path) -> None:
    for arguments in ([gold], [gold, gold, "--model", model], ["-", "-"]):
        done = run("evaluate", *arguments)
        assert done.returncode == 2
        assert b"SYSTEM" in done.stderr


# Raw text


@pytest.fixture
def other_tokens(gold: Path, tmp_path: Path) -> Path:
    """The first sentence's multiword token is two tokens, and the second sentence falls into two."""
    lines = gold.read_text(encoding="utf-8").splitlines(keepends=True)
    content = "".join(line for line in lines if not line.startswith("1-2"))
    content = content.replace("9\t1\t1\tNUM\tCD\tNumType=Card\t8\tnummod\t8:", "\n1\t1\t1\tNUM\tCD\t_\t0\troot\t0:")
    content = content.replace("10\t.\t.\tPUNCT\t.\t_\t2\tpunct\t2:", "2\t.\t.\tSYM\t.\t_\t1\tpunct\t1:")
    path = tmp_path / "other.conllu"
    path.write_text(content, encoding="utf-8")
    return path


def test_text_as_json(run: Run, gold: Path, other_tokens: Path) -> None:
    done = run("evaluate", gold, other_tokens, "--text", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert list(found) == ["text", "columns"]
    values = found["text"]
    assert values == json.loads(json.dumps(score_text(read_conllu(gold), read_conllu(other_tokens)).to_dict()))
    assert values["Sentences"] == {
        "gold": 2,
        "system": 3,
        "correct": 1,
        "precision": pytest.approx(100 / 3),
        "recall": 50,
        "f1": 40,
    }
    assert (values["Words"]["f1"], values["UPOS"]["aligned_accuracy"], values["LAS"]["f1"]) == (100, 93.75, 87.5)


def test_text_as_a_table(run: Run, gold: Path, other_tokens: Path) -> None:
    text = run("evaluate", gold, other_tokens, "--text").stdout.decode()
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    assert rows["Tokens"] == ["87.50", "93.33", "90.32", "15", "16"]
    assert rows["Sentences"] == ["33.33", "50.00", "40.00", "2", "3"]
    assert rows["Words"] == ["100.00", "100.00", "100.00", "16", "16"]
    assert rows["UPOS"] == ["93.75", "93.75", "93.75", "93.75", "16", "16"]
    assert rows["LAS"] == ["87.50", "87.50", "87.50", "87.50", "16", "16"]
    assert rows["CLAS"] == ["90.00", "90.00", "90.00", "90.00", "10", "10"]
    assert "CoNLL 2018" in text
    assert "whole trees" not in text


def test_text_of_equal_words_and_from_stdin(run: Run, gold: Path, wrong: Path) -> None:
    values = json.loads(run("evaluate", "-", wrong, "--text", "--json", stdin=gold.read_bytes()).stdout)["text"]
    assert (values["Tokens"]["f1"], values["UAS"]["f1"], values["LAS"]["f1"]) == (100, 93.75, 87.5)


def test_different_tokens_without_text_name_the_option(
    run: Run, gold: Path, other_tokens: Path, tmp_path: Path
) -> None:
    shorter = tmp_path / "shorter.conllu"
    shorter.write_bytes(gold.read_bytes().partition(b"\n\n")[0] + b"\n\n")
    for system, message in ((other_tokens, "sentence 2 differs at word 9"), (shorter, "has no partner")):
        done = run("evaluate", gold, system)
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr.decode()
        assert done.stderr.endswith(b"compare files of the same text; if only tokens or sentences differ, add --text\n")


def test_errors_of_text(run: Run, gold: Path, data: Path, model: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.conllu"
    empty.write_bytes(b"")
    for arguments, message in (
        ([gold, data / "scripts.conllu"], "scripts.conllu:3: the text differs from its first character on"),
        ([gold, empty], "empty.conllu: no sentences to compare in this file"),
        ([empty, gold], "empty.conllu: no sentences to compare in this file"),
        ([gold, gold, "--by-length"], "--text"),
        ([gold, gold, "--by-relation"], "--text"),
        ([gold, "--model", model], "the model has no tokenizer"),
    ):
        done = run("evaluate", *arguments, "--text")
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr.decode()


# Errors


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
