"""The speed of all systems, measured in turns, so that they share what happens to the machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import easyfirst
from bench.peers.adapters.worker import BULK, SINGLE
from bench.peers.client import Worker
from bench.peers.measure import INPUTS, Place
from bench.peers.record import Cell
from bench.peers.systems import System
from bench.peers.treebank import Inputs, inputs_of, sample

WAYS = ((BULK, 1), (SINGLE, 1), (BULK, 2))  # with the number of threads
WARM_UP = 20  # texts or sentences before the first timed run


def speed_name(source: str, way: str, threads: int) -> str:
    """Return the name of a cell."""
    return f"speed, {source}, {way}, {threads} thread{'s' * (threads > 1)}"


class Turns:
    """The processes of all systems. They stay until the end, and each parses when it is its turn."""

    def __init__(self, place: Place, stack: ExitStack, words: Mapping[str, int]) -> None:
        self._place, self._stack = place, stack
        self._workers: dict[tuple[str, int], tuple[Worker, str | None]] = {}
        self._warm: set[tuple[str, str]] = set()
        self._inputs: dict[str, tuple[Path, Inputs]] = {}
        sentences = list(easyfirst.read_conllu(place.data / "test.conllu"))
        for way, n_words in words.items():
            path, inputs = place.work / f"inputs, {way}.json", inputs_of(sample(sentences, n_words))
            inputs.write(path)
            self._inputs[way] = path, inputs

    def _worker(self, system: System, threads: int) -> tuple[Worker, str | None]:
        """Return a process, and why it cannot work with so many threads, if it cannot."""
        key = (system.name, threads)
        if key not in self._workers:
            worker = self._stack.enter_context(self._place.worker(system, threads=threads))
            self._workers[key] = worker, worker.ask("load").get("cannot")
        return self._workers[key]

    def cell(self, system: System, name: str, way: str, model: str) -> Cell:
        """Return the runs of this model so far."""
        n_words = self._inputs[way][1].n_words
        cell = self._place.record.get(system.name, name)
        is_same = (cell.get("model"), cell.get("words")) == (model, n_words)
        return cell if is_same else {"model": model, "words": n_words, "runs": []}

    def take(self, system: System, source: str, way: str, threads: int, *, model: str, n_runs: int) -> None:
        """Parse once and store the time, unless there are so many runs."""
        name = speed_name(source, way, threads)
        cell = self.cell(system, name, way, model)
        if cell.get("cannot") or len(cell["runs"]) >= n_runs:
            return
        worker, cannot = self._worker(system, threads)
        request = {"from": source, "way": way, "inputs": str(self._inputs[way][0])}
        if cannot is None and (system.name, name) not in self._warm:
            cannot = worker.ask("parse", **request, limit=WARM_UP).get("cannot")
            self._warm.add((system.name, name))
        if cannot is None:
            load = round(os.getloadavg()[0], 1)
            cell["runs"].append({**worker.ask("parse", **request), "load": load})
            print(
                f"{name}: {system.title}: {cell['words'] / cell['runs'][-1]['cpu']:,.0f} words/s, load {load}",
                flush=True,
            )
        else:
            cell["cannot"] = cannot
        self._place.record.put(system.name, name, cell)


def measure_speed(place: Place, systems: Sequence[System], n_rounds: int, words: Mapping[str, int]) -> None:
    """Measure the speed of all systems that have a model. An interrupted run goes on with the missing rounds."""
    models = {system.name: place.fingerprint(system) for system in systems}
    with ExitStack() as stack:
        turns = Turns(place, stack, words)
        for n in range(1, n_rounds + 1):
            for way, threads in WAYS:
                for source in INPUTS:
                    for system in systems:
                        if model := models[system.name]:
                            turns.take(system, source, way, threads, model=model, n_runs=n)
