"""Measurements with real processes of easyfirst, on a few sentences; a system that cannot do something; resuming."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from bench.peers import client, columns, measure
from bench.peers.adapters.worker import BULK, SINGLE, TEXT, TOKENS
from bench.peers.client import Worker, WorkerError
from bench.peers.measure import Place, score_name
from bench.peers.record import Record
from bench.peers.speed import measure_speed, speed_name
from bench.peers.systems import OURS, ROOT, SYSTEMS, System
from bench.peers.treebank import inputs_of, stripped, write_conllu

US = SYSTEMS[0]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """An environment in which every system is this Python, and the toy treebank as the test set."""
    for name in {system.environment for system in SYSTEMS}:
        python = tmp_path / f"peers-{name}" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)
    packages = tmp_path / f"peers-{OURS}" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "easyfirst").symlink_to(ROOT / "src" / "easyfirst")
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    monkeypatch.setattr(client, "environment", lambda threads=1: {**os.environ, "PYTHONPATH": path})
    (tmp_path / "data").mkdir()
    sentences = stripped(ROOT / "examples" / "toy" / "dev.conllu")
    write_conllu(tmp_path / "data" / "test.conllu", sentences)
    inputs_of(sentences).write(tmp_path / "data" / "inputs.json")
    return Place(tmp_path, tmp_path, Record(tmp_path / "peers.json"))


@pytest.mark.slow
def test_scores_are_those_of_this_model(place: Place) -> None:
    measure.score(place, US)
    record = Record(place.record.path)
    from_text, from_tokens = (columns.score(source, "LAS")(record, US) for source in (TEXT, TOKENS))
    assert from_text is not None
    assert from_tokens is not None
    assert 50 < from_text <= from_tokens <= 100
    assert columns.score(TOKENS, "Sentences")(record, US) == 100
    scored = dict(record.get(OURS, score_name(TEXT)))
    assert scored["model"] == place.fingerprint(US) != ""
    place.record.put(OURS, score_name(TEXT), {**scored, "f1": {"LAS": 1.0}})
    measure.score(place, US)  # nothing has changed, so nothing is measured again
    assert columns.score(TEXT, "LAS")(place.record, US) == 1.0
    place.record.put(OURS, score_name(TEXT), {**scored, "model": "another"})
    measure.score(place, US)
    assert columns.score(TEXT, "LAS")(place.record, US) == from_text


@pytest.mark.slow
def test_speed_is_measured_in_turns_and_resumed(place: Place) -> None:
    words = {BULK: 10_000, SINGLE: 30}
    measure_speed(place, [US], 1, words)
    name = speed_name(TEXT, BULK, 1)
    [first] = place.record.get(OURS, name)["runs"]
    measure_speed(place, [US], 2, words)
    record = Record(place.record.path)
    assert record.get(OURS, name)["runs"][0] == first
    for source in (TEXT, TOKENS):
        for way, threads in ((BULK, 1), (SINGLE, 1), (BULK, 2)):
            cell = record.get(OURS, speed_name(source, way, threads))
            assert len(cell["runs"]) == 2
            assert all(run["cpu"] > 0 and run["wall"] > 0 and run["load"] >= 0 for run in cell["runs"])
    many, few = (record.get(OURS, speed_name(TEXT, way, 1))["words"] for way in (BULK, SINGLE))
    assert many >= few > 0
    measure.start(place, US, n_runs=1)
    measure.memory(place, US)
    cpu = columns.start("cpu")(place.record, US)
    assert cpu is not None
    assert 0.01 < cpu < 60
    assert place.record.get(OURS, "memory")["bytes"] > 20e6


def test_a_system_without_a_model_is_left_out(place: Place) -> None:
    peer = SYSTEMS[2]
    assert place.fingerprint(peer) == ""
    measure_speed(place, [peer], 1, {BULK: 100, SINGLE: 30})
    measure.score(place, peer)
    assert not place.record.path.exists()


def test_what_a_system_cannot_do_is_recorded(place: Place) -> None:
    """supar reads no text. Its adapter raises before it needs the package."""
    [supar] = [system for system in SYSTEMS if system.name == "supar"]
    with Worker(supar, place.environments, place.work) as worker:
        request = {"from": TEXT, "way": BULK, "inputs": str(place.data / "inputs.json")}
        assert worker.ask("parse", **request) == {"cannot": "it has no tokenizer"}
    assert worker.seconds > 0


def test_an_output_that_lost_text_is_not_scored(place: Place) -> None:
    gold = stripped(ROOT / "examples" / "toy" / "dev.conllu")
    out = place.work / "out.conllu"
    write_conllu(out, gold)
    assert measure.scores_of(gold, out)["f1"]["LAS"] == 100
    write_conllu(out, gold[1:])
    assert measure.scores_of(gold, out)["cannot"].startswith("its output cannot be scored: out.conllu:")


def test_a_process_that_fails_says_why(place: Place) -> None:
    system = System("x", "X", OURS, "udpipe", ())
    says = r"x failed at load:(.|\n)*ModuleNotFoundError"
    with Worker(system, place.environments, place.work) as worker, pytest.raises(WorkerError, match=says):
        worker.ask("load")


def test_a_record_keeps_what_was_measured(tmp_path: Path) -> None:
    record = Record(tmp_path / "peers.json")
    record.put("spacy", "start", {"runs": []})
    record.put("spacy", "speed, text", {"runs": [1]})
    record.put_facts(cpu="a CPU")
    again = Record(record.path)
    assert again.get("spacy", "start")["runs"] == []
    assert set(again.get("spacy", "start")) == {"runs", "date", "load"}
    assert again.get("spacy", "memory") == {}
    again.remove("speed")
    assert json.loads(record.path.read_text())["systems"] == {"spacy": {"start": again.get("spacy", "start")}}
    assert Record(record.path).facts == {"cpu": "a CPU"}
