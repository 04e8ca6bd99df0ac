"""The runner trains every run once, tests it once, records it and renders it. Ensembles wait for their members."""

from __future__ import annotations

import dataclasses
import shutil
import threading
from pathlib import Path

import pytest

from bench.tables.execution import METRICS, Execution, Folders
from bench.tables.plan_files import read_plan
from bench.tables.records import read_lines
from tests.bench.toy_runs import DECLARED, ROOT, SIZES, declare, finish, recorded, rendered, run_module, start


def test_trains_tests_once_and_renders(place: Path) -> None:
    declare(place, epochs=2)
    output = finish(start(place))
    assert "done   t.a.en.1" in output
    [line] = recorded(place)  # shared by two rows
    assert (line["table"], line["row"], line["language"], line["seed"]) == ("t", "a", "en", 1)
    assert (line["epochs"], line["starts"]) == (2, 1)
    assert line["best_epoch"] in (1, 2)
    assert len(line["dev_by_epoch"]) == 2
    for part in ("dev", "test"):
        assert set(line[part]) == {"conllx", "ud", "full"}
        assert all(0 <= line[part][name]["LAS"] <= line[part][name]["UAS"] <= 100 for name in line[part])
    assert {"commit", "date", "cpu", "cpu_seconds", "data"} <= set(line)
    assert line["config"]["network"]["tree_dim"] == 4
    assert "seed" not in line["config"]["training"]

    [answer] = place.glob("runs/*/test.json")
    tested = answer.stat().st_mtime_ns
    page = place / "again.md"
    output = finish(start(place, "--render", "--page", str(page)))
    assert output.startswith("nothing to do: all 1 are recorded in ")
    assert page.read_text(encoding="utf-8") == rendered(place)
    assert "no/page.md: No such file" in finish(start(place, "--render", "--page", str(place / "no" / "page.md")), 2)
    assert "done     t.a.en.1" in finish(start(place, "--list"))
    check_page(place)

    (place / "results.jsonl").unlink()  # as if killed after testing, before recording
    finish(start(place))
    assert recorded(place)[0]["test"] == line["test"]
    assert answer.stat().st_mtime_ns == tested


def check_page(place: Path) -> None:
    text = rendered(place)
    test = recorded(place)[0]["test"]["conllx"]
    assert f"{test['UAS']:.2f} / {test['LAS']:.2f}" in text
    assert "| first | 90.0 / 80.0 | 91.0 / 81.0 |" in text
    assert "| another system | 70.0 / 60.0 | 71.0 / 61.0 | – |" in text
    assert "+0.00 / +0.00 | one seed: spread not known" in text
    assert "1 of 1 runs are done" in text


def test_no_page_without_a_results_file(place: Path) -> None:
    declare(place, epochs=1)
    files = ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "result.jsonl")]
    done = run_module("tables.render", str(place / "toy.toml"), "--page", str(place / "page.md"), *files)
    assert (done.returncode, done.stderr) == (2, f"error: --results: {place / 'result.jsonl'} does not exist\n")
    assert not (place / "page.md").exists()


ENSEMBLE = """
[[table.row]]
id = "both"
label = "ensemble"
combines = "a"
"""


def test_ensemble_of_seeds(place: Path) -> None:
    text = DECLARED.format(epochs=1, sizes=SIZES).replace('label = "first"', 'label = "first"\nseeds = [1, 2]')
    tables, finding, rest = text.partition("[[finding]]")
    (place / "toy.toml").write_text(tables + ENSEMBLE + finding + rest, encoding="utf-8")
    output = finish(start(place, "--only", "t.both.*"))  # and its members
    assert output.index("done   t.a.en.2") < output.index("done   t.both.en.1+2")
    first, second, both = recorded(place)
    assert (first["seed"], second["seed"], both["seed"]) == (1, 2, [1, 2])
    assert both["members"] == [first["key"], second["key"]]
    assert both["cpu_seconds"] == pytest.approx(first["cpu_seconds"] + second["cpu_seconds"], abs=0.2)
    assert all(set(both[part]) == {"conllx", "ud", "full"} for part in ("dev", "test"))
    assert finish(start(place, "--only", "t.both.*")).startswith("nothing to do: all 3")
    assert "done     t.both.en.1+2" in finish(start(place, "--list"))
    assert "| ensemble |" in rendered(place)

    answers = {path: path.stat().st_mtime_ns for path in place.glob(f"runs/*-{both['key']}/*.json")}
    path = place / "results.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))  # as if killed before recording
    finish(start(place, "--only", "t.both.*"))
    assert recorded(place)[-1]["test"] == both["test"]
    assert {path.name for path in answers} == {"dev.json", "test.json"}
    assert all(path.stat().st_mtime_ns == when for path, when in answers.items())

    assert "t.a.en.1" in finish(start(place, "--list", "--only", "t.both.*"))
    for path in (place / "runs").glob(f"*-{first['key']}/model"):
        path.rename(path.with_name("elsewhere"))
    (place / "results.jsonl").write_text("".join((place / "results.jsonl").read_text().splitlines(True)[:2]))
    assert f"the model of t.a.en.1 is recorded but not in {place / 'runs'}" in finish(
        start(place, "--only", "t.both.*"), code=1
    )

    (place / "results.jsonl").unlink()
    (place / "train.conllu").write_text("not CoNLL-U\n", encoding="utf-8")
    output = finish(start(place, "--only", "t.both.*"), code=1)
    assert output.count("FAILED t.a.en.1") == output.count("FAILED t.a.en.2") == 1
    assert "FAILED t.both.en.1+2: some members of the ensemble are not trained" in output


TAGGED = """
[[table]]
id = "t"
title = "Tagged toys"
options = {{ preset = "paper", epochs = 1, parts = "tagger,parser", folds = 2 }}
settings = {{ "tagger.seed" = 1, "tagger.epochs" = 1, {sizes} }}

[[table.row]]
id = "a"
label = "first"
options = {{}}
predicted_tags = true
seeds = [1, 2]
"""


@pytest.mark.slow
def test_a_shared_tagger_is_trained_once(place: Path) -> None:
    shutil.copy(ROOT / "examples" / "toy" / "handwritten.conllu", place / "train.conllu")
    (place / "toy.toml").write_text(TAGGED.format(sizes=SIZES), encoding="utf-8")
    finish(start(place))
    assert [line["seed"] for line in recorded(place)] == [1, 2]
    [path] = place.glob("runs/t.a.en.2-*/starts.jsonl")
    assert read_lines(path)[0]["resumed"]
    [metrics] = path.parent.rglob("metrics.jsonl")  # of the parser: the CPU time of the tagger is counted once
    spent = sum(epoch["cpu_seconds"] for epoch in read_lines(metrics))
    assert recorded(place)[1]["cpu_seconds"] == pytest.approx(spent, abs=0.1)
    alone = ("--out", str(place / "alone"), "--results", str(place / "alone.jsonl"))
    finish(start(place, "--only", "t.a.en.2", *alone))
    for name, n_different in (("model/tagger", 1), ("model", 2)):  # the copied tagger equals a trained one
        weights = [path.read_bytes() for path in place.glob(f"*/t.a.en.*/{name}/weights.safetensors")]
        assert (len(weights), len(set(weights))) == (3, n_different)


def test_a_tagger_is_copied_only_from_another_seed_of_the_same_row(tmp_path: Path) -> None:
    """It is copied as soon as the other run has finished an epoch of its parser."""
    runs = {run.name: run for run in read_plan().runs()}
    first, second, gold = (runs[f"strong.{name}"] for name in ("predicted.en.1", "predicted.en.2", "gold.en.1"))
    changed = dataclasses.replace(first, settings={**first.settings, "tagger.members": 5})
    folders = Folders(tmp_path, tmp_path, tmp_path)
    for run in (changed, gold, first):
        (folders.of(run) / "model" / "tagger").mkdir(parents=True)
        (folders.of(run) / "model" / "tagger" / "config.json").write_text(run.key, encoding="utf-8")
    folders.of(second).mkdir()

    def copied() -> Path:
        Execution(second, folders, (), threading.Event()).copy_tagger()
        return folders.of(second) / "model" / "tagger" / "config.json"

    for run in (changed, gold):
        (folders.of(run) / "model" / "training").mkdir()
        (folders.of(run) / "model" / "training" / METRICS).touch()
    assert not copied().exists()  # other rows, and a run without a finished epoch
    (folders.of(first) / "model" / "training").mkdir()
    (folders.of(first) / "model" / "training" / METRICS).touch()
    assert copied().read_text(encoding="utf-8") == first.key


def test_a_retrained_model_is_tested_again(place: Path) -> None:
    declare(place, epochs=1)
    finish(start(place))
    [line] = recorded(place)
    (place / "results.jsonl").unlink()
    [model] = place.glob("runs/*/model")
    shutil.rmtree(model)
    (model.parent / "test.json").write_text("{}", encoding="utf-8")
    finish(start(place))
    assert recorded(place)[0]["test"] == line["test"]
