"""The parts of the campaign run, count what they do, and find what they look for."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")
pytest.importorskip("torch", reason="the extra 'train' is not installed")

from bench import report
from bench.campaign import concurrency, core_fuzzing, fuzz_targets, fuzzing, killing, scarcity, stream
from bench.campaign.record import Record
from bench.campaign.seeds import TARGETS, mutated, seeds_of
from bench.campaign.writers import Writer, make_models
from easyfirst.parser import load

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for results, so that those of the repository stay."""
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(fuzzing, "WORK", tmp_path / "work")
    return tmp_path / "results"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_models(tmp_path_factory.mktemp("models"))


def test_counts_add_up_over_runs(results: Path) -> None:
    for seed in (1, 2):
        record = Record("fuzz", seed, started=f"run {seed}")
        record.add("inputs", 10 * seed)
        record.add("inputs")
        record.save()
    record.fail("a | problem")
    found = json.loads((results / "campaign_fuzz.json").read_bytes())
    assert found["totals"] == {"inputs": 32}
    assert [(run["seed"], run["counts"]["inputs"]) for run in found["runs"]] == [(1, 11), (2, 21)]
    assert found["runs"][1]["problems"] == ["a | problem"]
    assert "| inputs | 32 |" in (results / "campaign_fuzz.md").read_text()


def test_a_continued_run_has_other_random_numbers() -> None:
    first = Record("fuzz", 1, started="run 1")
    numbers = first.chance.random()
    assert numbers == first.chance.random()
    first.save()
    assert Record("fuzz", 1, started="run 2").chance.random() != numbers


@pytest.mark.parametrize("name", TARGETS)
def test_targets(name: str) -> None:
    """Inputs and changed inputs have an outcome, and at least one is not refused."""
    target, inputs, chance = TARGETS[name](), list(seeds_of(name)), random.Random(1)
    changed = [mutated(chance.choice(inputs), inputs, chance) for _ in range(20)]
    found = {target(data) for data in [*inputs[:20], *changed, b"", b"\0"]}
    assert found - {fuzz_targets.REFUSED, "no sentence"}


def test_a_broken_promise_is_found(results: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A reader that loses carriage returns."""
    monkeypatch.setattr(
        "easyfirst.treebank.sentence.Sentence.to_bytes", lambda self: self.lines.block.replace(b"\r", b"")
    )
    target = TARGETS["conllu"]()
    with pytest.raises(AssertionError):
        target(b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n")
    record = Record("fuzz", 1)
    monkeypatch.setitem(TARGETS, "conllu", lambda: target)
    monkeypatch.setattr(fuzzing, "seeds_of", lambda _: [b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n"])
    monkeypatch.setattr(fuzzing, "mutated", lambda data, *_: data)
    times = iter((0.0, 1.0, 3.0))
    monkeypatch.setattr(fuzzing.time, "monotonic", lambda: next(times, 3.0))
    fuzzing.fuzz_blindly(record, "conllu", 2.0)
    assert "AssertionError" in record.problems[0]
    assert list((tmp_path / "work").glob("found-conllu-*"))


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler")
def test_the_fuzzer_of_the_core_goes_with_its_interface() -> None:
    include = core_fuzzing.ROOT / core_fuzzing.SOURCES
    command = ["cc", "-fsyntax-only", "-Wall", "-Werror", f"-I{include}", str(core_fuzzing.HARNESS)]
    for options in ([], ["-DSTANDALONE"]):
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def packing(models: dict[str, Path], folder: Path) -> Writer:
    command = ("pack", models["new"], "-o", folder / "m", "--overwrite")
    return Writer("pack", folder / "m", command, models["old"], True)


def test_kills(models: dict[str, Path], tmp_path: Path) -> None:
    record = Record("kills", 1)
    turns = killing.kill_again_and_again(record, packing(models, tmp_path), random.Random(1))
    for _ in range(4):
        next(turns)
    assert record.counts["kills"] + record.counts[killing.NOT_KILLED] == 4
    assert record.counts[killing.AT_EVENT] == 2
    assert record.problems == []


def test_a_mixture_is_found(models: dict[str, Path], tmp_path: Path) -> None:
    writer = packing(models, tmp_path)
    writer.learn()
    writer.prepare()
    assert writer.problem() is None
    shutil.copytree(models["new"] / "tagger", writer.place / "tagger", dirs_exist_ok=True)
    assert "neither old nor new" in str(writer.problem())
    shutil.copy(models["new"] / "config.json", writer.place)
    assert writer.problem() is not None
    assert writer.problem_of_end() is None
    (writer.place / ".easyfirst-0123456789abcdef").mkdir()
    writer.command = ("models",)
    assert writer.problem_of_end() == "leftovers: .easyfirst-0123456789abcdef"


def test_scarcity(models: dict[str, Path], tmp_path: Path) -> None:
    record, writer = Record("disk", 1), packing(models, tmp_path)
    writer.learn()
    scarcity.attempt(record, writer, "small files", lambda: scarcity.limit_files(100))
    scarcity.attempt(record, writer, "small files", lambda: None)
    assert record.counts == {"small files: refused": 1, "small files: succeeded": 1, "attempts": 2}
    assert record.problems == []

    def crash() -> None:
        raise RuntimeError

    scarcity.attempt(record, writer, "a bug", crash)
    assert "RuntimeError" in record.problems[0]


def test_threads(models: dict[str, Path]) -> None:
    record, parser = Record("threads", 1), load(models["new"])
    cases = concurrency.make_cases(parser, random.Random(1), 4)
    if parser.engine != "numpy":  # where the last digits depend on the batch
        concurrency.use_threads(record, parser, cases, 0.2, 1)
    concurrency.fork(record, parser, cases[:0])
    assert record.problems == []
    wrong = [concurrency.Case(case.sentences, "[]") for case in cases]
    concurrency.use_threads(record, parser, wrong, 0.05, 1)
    concurrency.fork(record, parser, wrong)
    assert {problem[:10] for problem in record.problems} == {"threads: a", "a forked p"}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_stream(models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "COMPARED", 5)
    record = Record("stream", 1)
    stream.run(record, 600.0, str(models["new"]), most=100)
    assert record.problems == []
    assert record.counts["sentences"] == 100
    assert "MB" in record.facts["memory: second tenth, last tenth, most"]
    stream._judge_memory(record, [100.0] * 20 + [200.0] * 20)
    assert record.problems == ["the memory grows from 100 to 200 MB"]
