"""The options of the runner, and the messages for wrong ones and for wrong inputs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.bench.toy_runs import ROOT, declare, finish, recorded, run_module, start
from tests.patience import PATIENCE


def test_a_failure_is_reported_and_not_recorded(place: Path) -> None:
    declare(place, epochs=1)
    (place / "train.conllu").write_text("not CoNLL-U\n", encoding="utf-8")
    output = finish(start(place), code=1)
    assert "FAILED t.a.en.1: 'easyfirst train' exited with code 2: error: " in output
    [folder] = place.glob("runs/t.a.en.1-*")
    assert f"(to start over, delete {folder})" in output
    assert recorded(place) == []


def test_options(place: Path) -> None:
    declare(place, epochs=1)
    assert "--jobs must be from 1 to the number of cores" in finish(start(place, "--jobs", "1000"), code=2)
    assert "no run matches t.other.* or u.*" in finish(start(place, "--only", "t.other.*", "--only", "u.*"), code=2)
    assert finish(start(place, "--list", "--only", "same")).startswith("to do    t.a.en.1 ")
    assert "--page" in finish(start(place, "--render"), code=2)
    missing = finish(start(place, "--data", str(place / "none")), code=2)
    assert missing.startswith(f"error: {place / 'none' / 'train.conllu'}: no such file, but t.a.en.1 needs it")
    assert "check --data, and train of [en] in the treebanks' TOML file" in missing
    (place / "file").touch()
    for option in ("--out", "--results"):
        assert "error: " in finish(start(place, option, str(place / "file" / "there")), code=2)
    (place / "bad.jsonl").write_text("{}\nx\n", encoding="utf-8")
    for command in ([], ["--list"]):
        assert "bad.jsonl, line 2: not JSON" in finish(start(place, "--results", str(place / "bad.jsonl"), *command), 2)
    for content, message in (
        ("{}", "not a result, key is missing"),
        ('{"key": "k"}', "family is missing"),
        ("3", "not a JSON object"),
    ):
        (place / "bad.jsonl").write_text(f"{content}\n", encoding="utf-8")
        output = finish(start(place, "--results", str(place / "bad.jsonl"), "--list"), 2)
        assert "bad.jsonl, line 1: " in output
        assert message in output
    (place / "toy.toml").write_text("[[table]]\nid = 't'\ntitle = 'T'\ncolour = 1\n", encoding="utf-8")
    assert "colour" in finish(start(place, "--list"), code=2)
    (place / "toy.toml").unlink()
    assert "toy.toml cannot be read" in finish(start(place, "--list"), code=2)


def test_a_list_without_out_says_what_it_omits(place: Path) -> None:
    declare(place, epochs=1)
    assert "with --out" not in finish(start(place, "--list"))
    files = ["--treebanks", str(place / "treebanks.toml"), "--results", str(place / "results.jsonl")]
    output = run_module("tables", str(place / "toy.toml"), "--list", *files).stdout
    assert output.endswith("(with --out the list also shows which runs are running or stopped)\n")


def test_easyfirst_is_not_installed() -> None:
    command = [sys.executable, "-S", "-E", "-m", "bench.tables", "--list"]  # without installed packages
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: easyfirst is not installed for this Python; activate its environment")
    assert done.stderr.count("\n") == 1


def test_vectors_are_required_only_if_a_row_uses_them(place: Path) -> None:
    declare(place, epochs=1)
    files = [str(place / "toy.toml"), "--treebanks", str(place / "treebanks.toml"), "--results", str(place / "r.jsonl")]
    arguments = [*files, "--data", str(place), "--out", str(place / "runs")]
    assert "done   t.a.en.1" in run_module("tables", *arguments).stdout
    text = (
        (place / "toy.toml").read_text(encoding="utf-8").replace("epochs = 1", 'epochs = 1, embeddings = "{vectors}"')
    )
    (place / "toy.toml").write_text(text, encoding="utf-8")
    refused = run_module("tables", *arguments)
    assert (refused.returncode, refused.stderr) == (2, "error: --vectors is required to train t.a.en.1\n")


def test_the_reader_of_the_list_may_close_the_pipe(place: Path) -> None:
    declare(place, epochs=1)
    process = start(place, "--list")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 0


def test_changed_data_under_the_same_names(place: Path) -> None:
    declare(place, epochs=1)
    finish(start(place))
    (place / "train.conllu").write_bytes((place / "dev.conllu").read_bytes())
    output = finish(start(place), code=2)
    assert "t.a.en.1 is recorded in" in output
    assert "with a different train.conllu; give another --results" in output
