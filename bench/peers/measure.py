"""What is measured of each system by itself: sizes, training, scores, starting and memory."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import easyfirst
from bench import report
from bench.peers.adapters.worker import BULK, FACTS, SINGLE, TEXT, TOKENS, read_facts
from bench.peers.client import Worker
from bench.peers.environments import installed_bytes, site_packages, size_of
from bench.peers.record import Cell, Record
from bench.peers.systems import OURS, System
from bench.peers.treebank import Inputs
from easyfirst.treebank.text_scores import score_text

METRICS = ("Sentences", "Words", "UPOS", "Lemmas", "UAS", "LAS")
INPUTS = (TEXT, TOKENS)
EPOCHS = sorted(report.RESULTS.glob("bundled-*.jsonl"))  # of the parts of the bundled model
FIRST = "The black fox who really likes apples did not jump over a lazy dog yesterday."


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are: environments, prepared data and models, and the record of the results."""

    environments: Path
    work: Path
    record: Record

    @property
    def data(self) -> Path:
        """The folder of the stripped treebank."""
        return self.work / "data"

    def worker(self, system: System, *, threads: int = 1) -> Worker:
        """Start a process of a system."""
        return Worker(system, self.environments, self.work, threads=threads)

    def model_files(self, system: System) -> list[Path]:
        """Return the files of a system's model."""
        folder = system.model(self.work)
        if system.name == OURS:
            folder = site_packages(system, self.environments) / "easyfirst" / "bundled_models" / system.options["model"]
        files = sorted({path for pattern in system.files for path in folder.glob(pattern) if path.is_file()})
        return [path for path in files if path.name != FACTS]

    def fingerprint(self, system: System) -> str:
        """Return a hash of the model, which tells whether a score is that of the present model; empty without one."""
        found = hashlib.sha256()
        for path in (files := self.model_files(system)):
            found.update(path.read_bytes())
        return found.hexdigest()[:16] if files else ""


def describe(place: Place, system: System) -> None:
    """Store the versions, the sizes and what the training took."""
    with place.worker(system) as worker:
        place.record.put(system.name, "versions", worker.ask("versions"))
    place.record.put(system.name, "installed", {"bytes": installed_bytes(system, place.environments)})
    if not (files := place.model_files(system)):
        return
    place.record.put(system.name, "model", {"bytes": size_of(files), "sha256": place.fingerprint(system)})
    if system.name == OURS:
        place.record.put(system.name, "training", {"cpu_seconds": sum(map(epochs_of, EPOCHS)), "is_finished": True})
    elif (facts := read_facts(system.model(place.work)))["cpu_seconds"]:
        place.record.put(system.name, "training", facts)


def epochs_of(path: Path) -> float:
    """Return the CPU time of the epochs of a training run of ours."""
    return sum(json.loads(line)["cpu_seconds"] for line in path.read_text(encoding="utf-8").splitlines())


def scores_of(gold: list[easyfirst.Sentence], out: Path) -> Cell:
    """Return the scores of an output, or why it cannot be scored: a tokenizer can lose text."""
    try:
        found = score_text(gold, easyfirst.read_conllu(out)).to_dict()
    except easyfirst.DataError as error:
        return {"cannot": f"its output cannot be scored: {re.sub(r'[^ ]*/', '', str(error))}"}
    return {"f1": {name: (found[name] or {}).get("f1") for name in METRICS}}


def score_name(source: str) -> str:
    """Return the name of a cell."""
    return f"score, {source}"


def score(place: Place, system: System) -> None:
    """Score a system from raw text and from gold tokens, unless this model has been scored before."""
    fingerprint = place.fingerprint(system)
    gold = list(easyfirst.read_conllu(place.data / "test.conllu"))
    cells = {source: place.record.get(system.name, score_name(source)) for source in INPUTS}
    waiting = [source for source, cell in cells.items() if cell.get("model") != fingerprint]
    if not fingerprint or not waiting:
        return
    with place.worker(system) as worker, tempfile.TemporaryDirectory() as folder:
        worker.ask("load")
        for source in waiting:
            out = Path(folder) / f"{source}.conllu"
            request = {"from": source, "way": BULK, "inputs": str(place.data / "inputs.json"), "out": str(out)}
            answer = worker.ask("parse", **request)
            cell: Cell = {"model": fingerprint, "cannot": answer.get("cannot")}
            if "cannot" not in answer:
                cell |= scores_of(gold, out)
            place.record.put(system.name, score_name(source), cell)


def start(place: Place, system: System, n_runs: int = 5) -> None:
    """Measure what it takes to start a process, load the model and parse a first sentence, several times."""
    inputs = place.work / "inputs, first.json"
    Inputs([FIRST], [FIRST], [FIRST.removesuffix(".").split() + ["."]]).write(inputs)
    source = TEXT if system.has_text else TOKENS
    done: list[dict[str, float]] = []
    for _ in range(n_runs + 1):
        begin = time.perf_counter()
        with place.worker(system) as worker:
            worker.ask("load")
            worker.ask("parse", **{"from": source, "way": SINGLE, "inputs": str(inputs)})
            wall = time.perf_counter() - begin
        done.append({"cpu": worker.seconds, "wall": wall})
    place.record.put(system.name, "start", {"from": source, "runs": done[1:]})  # the first run fills the caches


def memory(place: Place, system: System) -> None:
    """Measure the largest resident size of a process that parses the test set in bulk."""
    source = TEXT if system.has_text else TOKENS
    with place.worker(system) as worker:
        worker.ask("load")
        worker.ask("parse", **{"from": source, "way": BULK, "inputs": str(place.data / "inputs.json")})
        place.record.put(system.name, "memory", {"from": source, **worker.ask("memory")})
