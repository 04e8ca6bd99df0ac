"""The runner of the tables: it finishes, goes on after being killed, and never tests twice. All in real processes."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import experiments
import pytest
import results
import work

TABLES = Path(__file__).resolve().parent.parent.parent / "bench" / "tables"
SIZES = ", ".join(f'"network.{name}_dim" = 4' for name in ("word", "tag", "relation", "vector", "tree", "hidden"))
TREEBANKS = """
[en]
name = "toy"
tags = "gold UPOS tags"
train = "train.conllu"
dev = "dev.conllu"
test = "test.conllu"
vectors = "none.txt"
licence = "Apache-2.0"
minutes = 1
"""
DECLARED = """
[[table]]
id = "t"
title = "Toys"
options = {{ preset = "paper", epochs = {epochs} }}
settings = {{ {sizes} }}

[[table.row]]
id = "a"
label = "first"
options = {{}}
paper.en = {{ dev = [90.0, 80.0], test = [91.0, 81.0] }}

[[table.row]]
id = "same"
label = "the first again"
options = {{}}

[[table.row]]
id = "published"
label = "another system"
paper.en = {{ dev = [70.0, 60.0], test = [71.0, 61.0] }}

[[finding]]
id = "same"
claim = "Nothing changes."
pairs = [["t.a", "t.same"]]
"""


@pytest.fixture
def place(toys: Path) -> Path:
    """Data, and a file that names it."""
    (toys / "treebanks.toml").write_text(TREEBANKS, encoding="utf-8")
    return toys


def declare(place: Path, epochs: int) -> None:
    (place / "toy.toml").write_text(DECLARED.format(epochs=epochs, sizes=SIZES), encoding="utf-8")


def start(place: Path, *options: str) -> subprocess.Popen[str]:
    """The runner, with its children in a process group of their own."""
    command = [sys.executable, str(TABLES / "run.py"), str(place / "toy.toml")]
    command += ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "results.jsonl")]
    command += ["--data", str(place), "--vectors", str(place), "--out", str(place / "runs"), *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    output, _ = process.communicate(timeout=600)
    assert process.returncode == code, output
    return output


def recorded(place: Path) -> list[dict[str, Any]]:
    return results.read_lines(place / "results.jsonl")


def wait_for_epoch(place: Path) -> None:
    """Until the first checkpoint is written."""
    for _ in range(6000):
        if list(place.glob("runs/*/model/training/checkpoint.safetensors")):
            return
        time.sleep(0.05)
    raise AssertionError("no checkpoint in five minutes")


def starts(place: Path) -> list[bool]:
    """For each start of a training whether it went on with a run."""
    [path] = place.glob("runs/*/starts.jsonl")
    return [line["resumed"] for line in results.read_lines(path)]


def test_trains_tests_once_and_renders(place: Path) -> None:
    declare(place, epochs=2)
    output = finish(start(place))
    assert "done   t.a.en.1" in output
    [line] = recorded(place)  # two rows share the run
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


def rendered(place: Path) -> str:
    """The page of what is recorded."""
    page = place / "page.md"
    command = [sys.executable, str(TABLES / "render.py"), str(place / "toy.toml"), "--page", str(page)]
    command += ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "results.jsonl")]
    subprocess.run(command, check=True)
    return page.read_text(encoding="utf-8")


def test_a_page_of_no_results_is_not_rendered(place: Path) -> None:
    declare(place, epochs=1)
    command = [sys.executable, str(TABLES / "render.py"), str(place / "toy.toml"), "--page", str(place / "page.md")]
    command += ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "result.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"error: --results: there is no {place / 'result.jsonl'}\n")
    assert not (place / "page.md").exists()


def check_page(place: Path) -> None:
    text = rendered(place)
    test = recorded(place)[0]["test"]["conllx"]
    assert f"{test['UAS']:.2f} / {test['LAS']:.2f}" in text
    assert "| first | 90.0 / 80.0 | 91.0 / 81.0 |" in text
    assert "| another system | 70.0 / 60.0 | 71.0 / 61.0 | – |" in text
    assert "+0.00 / +0.00 | one seed: spread not known" in text
    assert "1 of 1 runs are done" in text


COMBINED = """
[[table.row]]
id = "both"
label = "both together"
combines = "a"
"""


def test_puts_seeds_together(place: Path) -> None:
    text = DECLARED.format(epochs=1, sizes=SIZES).replace('label = "first"', 'label = "first"\nseeds = [1, 2]')
    tables, finding, rest = text.partition("[[finding]]")
    (place / "toy.toml").write_text(tables + COMBINED + finding + rest, encoding="utf-8")
    output = finish(start(place, "--only", "t.both.*"))  # with all that it needs
    assert output.index("done   t.a.en.2") < output.index("done   t.both.en.1+2")
    first, second, both = recorded(place)
    assert (first["seed"], second["seed"], both["seed"]) == (1, 2, [1, 2])
    assert both["members"] == [first["key"], second["key"]]
    assert both["cpu_seconds"] == pytest.approx(first["cpu_seconds"] + second["cpu_seconds"], abs=0.2)
    assert all(set(both[part]) == {"conllx", "ud", "full"} for part in ("dev", "test"))
    assert finish(start(place, "--only", "t.both.*")).startswith("nothing to do: all 3")
    assert "done     t.both.en.1+2" in finish(start(place, "--list"))
    assert "| together |" in rendered(place)

    answers = {path: path.stat().st_mtime_ns for path in place.glob(f"runs/*-{both['key']}/*.json")}
    path = place / "results.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))  # killed before recording
    finish(start(place, "--only", "t.both.*"))
    assert recorded(place)[-1]["test"] == both["test"]
    assert {path.name for path in answers} == {"dev.json", "test.json"}
    assert all(path.stat().st_mtime_ns == when for path, when in answers.items())

    assert "t.a.en.1" in finish(start(place, "--list", "--only", "t.both.*"))
    for path in (place / "runs").glob(f"*-{first['key']}/model"):
        path.rename(path.with_name("elsewhere"))
    (place / "results.jsonl").write_text("".join((place / "results.jsonl").read_text().splitlines(True)[:2]))
    assert "trained elsewhere, or gone" in finish(start(place, "--only", "t.both.*"), code=1)

    (place / "results.jsonl").unlink()
    (place / "train.conllu").write_text("not CoNLL-U\n", encoding="utf-8")
    output = finish(start(place, "--only", "t.both.*"), code=1)
    assert output.count("FAILED t.a.en.1") == output.count("FAILED t.a.en.2") == 1
    assert "FAILED t.both.en.1+2: not all of its members have been trained" in output


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
def test_a_tagger_that_all_seeds_have_is_trained_once(place: Path) -> None:
    shutil.copy(TABLES.parent.parent / "examples" / "toy" / "handwritten.conllu", place / "train.conllu")
    (place / "toy.toml").write_text(TAGGED.format(sizes=SIZES), encoding="utf-8")
    finish(start(place))
    assert [line["seed"] for line in recorded(place)] == [1, 2]
    [path] = place.glob("runs/t.a.en.2-*/starts.jsonl")
    assert results.read_lines(path)[0]["resumed"]
    [metrics] = path.parent.rglob("metrics.jsonl")  # of the parser: what the tagger cost is counted once
    spent = sum(epoch["cpu_seconds"] for epoch in results.read_lines(metrics))
    assert recorded(place)[1]["cpu_seconds"] == pytest.approx(spent, abs=0.1)
    alone = ("--out", str(place / "alone"), "--results", str(place / "alone.jsonl"))
    finish(start(place, "--only", "t.a.en.2", *alone))
    for name, n_different in (("model/tagger", 1), ("model", 2)):  # what was taken is what training gives
        weights = [path.read_bytes() for path in place.glob(f"*/t.a.en.*/{name}/weights.safetensors")]
        assert (len(weights), len(set(weights))) == (3, n_different)


def test_a_tagger_is_taken_from_another_seed_of_the_same_row_alone(tmp_path: Path) -> None:
    """As soon as its parser has learnt for an epoch, finished or not."""
    runs = {run.name: run for run in experiments.read_plan().runs()}
    first, second, gold = (runs[f"strong.{name}"] for name in ("predicted.en.1", "predicted.en.2", "gold.en.1"))
    changed = dataclasses.replace(first, settings={**first.settings, "tagger.members": 5})
    folders = work.Folders(tmp_path, tmp_path, tmp_path)
    for run in (changed, gold, first):
        (folders.of(run) / "model" / "tagger").mkdir(parents=True)
        (folders.of(run) / "model" / "tagger" / "config.json").write_text(run.key, encoding="utf-8")
    folders.of(second).mkdir()

    def taken() -> Path:
        work.Work(second, folders, (), threading.Event()).take_tagger()
        return folders.of(second) / "model" / "tagger" / "config.json"

    for run in (changed, gold):
        (folders.of(run) / "model" / "training").mkdir()
        (folders.of(run) / "model" / "training" / work.METRICS).touch()
    assert not taken().exists()  # another row's, or one that has only begun
    (folders.of(first) / "model" / "training").mkdir()
    (folders.of(first) / "model" / "training" / work.METRICS).touch()
    assert taken().read_text(encoding="utf-8") == first.key


@pytest.mark.slow
def test_goes_on_after_everything_was_killed(place: Path) -> None:
    declare(place, epochs=100)
    runner = start(place)
    wait_for_epoch(place)
    os.killpg(runner.pid, signal.SIGKILL)
    runner.communicate()
    assert recorded(place) == []
    with (place / "results.jsonl").open("ab") as stream:
        stream.write(b'{"key": "half a li')  # what a kill while writing leaves
    assert "stopped  t.a.en.1" in finish(start(place, "--list"))
    finish(start(place))
    [line] = recorded(place)
    assert (line["epochs"], line["starts"]) == (100, 2)
    assert starts(place) == [False, True]


@pytest.mark.slow
def test_waits_for_a_training_that_outlived_its_runner(place: Path) -> None:
    declare(place, epochs=100)
    runner = start(place)
    wait_for_epoch(place)
    os.killpg(runner.pid, signal.SIGSTOP)
    runner.kill()
    runner.wait()
    assert "running  t.a.en.1" in finish(start(place, "--list"))
    other = start(place)
    os.killpg(runner.pid, signal.SIGCONT)
    finish(other)
    runner.communicate()
    [line] = recorded(place)
    assert line["epochs"] == 100


def test_failure_is_told_and_is_not_a_result(place: Path) -> None:
    declare(place, epochs=1)
    (place / "train.conllu").write_text("not CoNLL-U\n", encoding="utf-8")
    output = finish(start(place), code=1)
    assert "FAILED t.a.en.1: 'easyfirst train' ended with code 2: error: " in output
    [folder] = place.glob("runs/t.a.en.1-*")
    assert f"(without the folder {folder} it begins anew)" in output
    assert recorded(place) == []


def test_options(place: Path) -> None:
    declare(place, epochs=1)
    assert "at most one training a core" in finish(start(place, "--jobs", "1000"), code=2)
    assert "no run is like t.other.* or u.*" in finish(start(place, "--only", "t.other.*", "--only", "u.*"), code=2)
    assert finish(start(place, "--list", "--only", "same")).startswith("to do    t.a.en.1 ")
    assert "--page" in finish(start(place, "--render"), code=2)
    missing = finish(start(place, "--data", str(place / "none")), code=2)
    assert missing.startswith(f"error: {place / 'none' / 'train.conllu'}: there is no such file, which t.a.en.1 needs")
    assert "--data names the folder, and train of [en] in the treebanks' TOML file" in missing
    (place / "file").touch()
    for option in ("--out", "--results"):
        assert "error: " in finish(start(place, option, str(place / "file" / "there")), code=2)
    (place / "bad.jsonl").write_text("{}\nx\n", encoding="utf-8")
    for command in ([], ["--list"]):
        assert "bad.jsonl, line 2: is no JSON" in finish(
            start(place, "--results", str(place / "bad.jsonl"), *command), 2
        )
    for content, said in (
        ("{}", "no result, it has no key"),
        ('{"key": "k"}', "it has no family"),
        ("3", "is no JSON"),
    ):
        (place / "bad.jsonl").write_text(f"{content}\n", encoding="utf-8")
        output = finish(start(place, "--results", str(place / "bad.jsonl"), "--list"), 2)
        assert "bad.jsonl, line 1: " in output
        assert said in output
    (place / "toy.toml").write_text("[[table]]\nid = 't'\ntitle = 'T'\ncolour = 1\n", encoding="utf-8")
    assert "colour" in finish(start(place, "--list"), code=2)
    (place / "toy.toml").unlink()
    assert "toy.toml cannot be read" in finish(start(place, "--list"), code=2)


def test_a_list_without_a_folder_says_what_it_does_not_know(place: Path) -> None:
    declare(place, epochs=1)
    assert "with --out" not in finish(start(place, "--list"))
    command = [sys.executable, str(TABLES / "run.py"), str(place / "toy.toml"), "--list"]
    command += ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "results.jsonl")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.endswith("(with --out this tells which are running or stopped half-way, too)\n")


def test_a_python_without_easyfirst_is_told() -> None:
    command = [sys.executable, "-S", "-E", str(TABLES / "run.py"), "--list"]  # without installed packages
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: this Python has no easyfirst; activate the environment")
    assert done.stderr.count("\n") == 1


def test_a_folder_of_vectors_is_needed_for_vectors_alone(place: Path) -> None:
    declare(place, epochs=1)
    files = [str(place / "toy.toml"), "--treebanks", str(place / "treebanks.toml"), "--results", str(place / "r.jsonl")]
    command = [sys.executable, str(TABLES / "run.py"), *files, "--data", str(place), "--out", str(place / "runs")]
    assert "done   t.a.en.1" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = (
        (place / "toy.toml").read_text(encoding="utf-8").replace("epochs = 1", 'epochs = 1, embeddings = "{vectors}"')
    )
    (place / "toy.toml").write_text(text, encoding="utf-8")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stderr) == (2, "error: --vectors is needed to train t.a.en.1\n")


def test_whoever_reads_the_list_may_leave(place: Path) -> None:
    declare(place, epochs=1)
    process = start(place, "--list")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=600) == 0


def test_interrupted_while_it_waits(place: Path) -> None:
    """Nothing is begun any more, even if another runner holds the only slot."""
    declare(place, epochs=1)
    (place / "runs").mkdir()
    with (place / "runs" / "slot-0.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        runner = start(place)
        assert runner.stdout is not None
        assert runner.stdout.readline().startswith("waits  t.a.en.1: as many trainings are running")
        runner.send_signal(signal.SIGINT)
        assert "stopped; the same command goes on" in finish(runner, code=130)
    assert not list(place.glob("runs/*/starts.jsonl"))


def test_interrupted_alone(place: Path) -> None:
    """The training gets no signal of its own, and ends all the same."""
    declare(place, epochs=1000)
    runner = start(place)
    wait_for_epoch(place)
    runner.send_signal(signal.SIGINT)
    assert "stopped; the same command goes on" in finish(runner, code=130)
    assert "stopped  t.a.en.1" in finish(start(place, "--list"))
    assert recorded(place) == []


def test_other_data_under_the_same_names(place: Path) -> None:
    declare(place, epochs=1)
    finish(start(place))
    (place / "train.conllu").write_bytes((place / "dev.conllu").read_bytes())
    output = finish(start(place), code=2)
    assert "t.a.en.1 is recorded in" in output
    assert "with another train.conllu; for yours, give another --results" in output


def test_a_model_that_is_made_anew_is_tested_anew(place: Path) -> None:
    declare(place, epochs=1)
    finish(start(place))
    [line] = recorded(place)
    (place / "results.jsonl").unlink()
    [model] = place.glob("runs/*/model")
    shutil.rmtree(model)
    (model.parent / "test.json").write_text("{}", encoding="utf-8")
    finish(start(place))
    assert recorded(place)[0]["test"] == line["test"]


def test_damaged_files_fail_that_run_alone(place: Path) -> None:
    declare(place, epochs=1)
    finish(start(place))
    (place / "results.jsonl").unlink()
    [answer] = place.glob("runs/*/test.json")
    answer.write_text("{}", encoding="utf-8")
    assert "FAILED t.a.en.1: KeyError" in finish(start(place), code=1)
