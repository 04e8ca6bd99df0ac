"""The command line of every adapter, and what adapters share. It needs the standard library only.

    python -m bench.peers.adapters.udpipe train --data DATA --model DIR --minutes 60
    python -m bench.peers.adapters.udpipe serve --model DIR

``serve`` reads requests from standard input and writes an answer to each, one JSON object a line. CPU time is that of
the process and of its children, and covers the work of the system only: reading the input and writing CoNLL-U are left
out. A system that cannot do something raises :class:`CannotError`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

BULK, SINGLE = "in bulk", "one at a time"
TEXT, TOKENS = "text", "tokens"
FACTS = "training.json"  # what a training took, beside the model


class CannotError(Exception):
    """The system cannot do what is asked."""


class Row(NamedTuple):
    """A word as a line of CoNLL-U, without its number."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str

    def line(self, number: int) -> str:
        """Return the line."""
        cells = [cell or "_" for cell in (self.form, self.lemma, self.upos, self.xpos, self.feats)]
        return "\t".join([str(number), *cells, str(self.head), self.relation or "_", "_", "_"])


def read_columns(path: Path) -> Iterator[list[list[str]]]:
    """Yield the sentences of a CoNLL-U file, a list of cells for each word."""
    for block in path.read_text("utf-8").split("\n\n"):
        if lines := [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]:
            yield lines


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines, which need not exist."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Add an object to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def to_conllu(rows: Iterable[Row]) -> str:
    """Return a sentence as CoNLL-U."""
    return "".join(f"{row.line(number)}\n" for number, row in enumerate(rows, 1)) + "\n"


class System(Protocol):
    """What an adapter does. A result may be anything that ``conllu`` turns into the CoNLL-U of its sentences."""

    packages: Sequence[str]
    """The packages whose versions identify the system."""

    def train(self, data: Path, model: Path, minutes: float, progress: Callable[..., None]) -> dict[str, Any]:
        """Train on ``data``/train.conllu with about this much CPU time, or resume; return the settings.

        ``progress(message, running=seconds)`` stores how much time was used so far; ``running`` is the CPU time of a
        child that has not ended.
        """
        ...

    def load(self, model: Path, threads: int, options: dict[str, Any]) -> None:
        """Load a model."""
        ...

    def texts(self, texts: list[str]) -> Iterable[Any]:
        """Parse many texts, the fastest way the system has."""
        ...

    def text(self, text: str) -> Any:
        """Parse one text."""
        ...

    def sentences(self, sentences: list[list[str]]) -> Iterable[Any]:
        """Parse many sentences of given words, the fastest way the system has."""
        ...

    def sentence(self, words: list[str]) -> Any:
        """Parse one sentence of given words."""
        ...

    def conllu(self, result: Any) -> str:
        """Return the sentences of a result as CoNLL-U."""
        ...


class Seconds(NamedTuple):
    """CPU time, with children, and time by the clock."""

    cpu: float
    wall: float

    @classmethod
    def now(cls) -> Seconds:
        """Read the clocks."""
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return cls(sum(each.ru_utime + each.ru_stime for each in used), time.perf_counter())

    def since(self, start: Seconds) -> dict[str, float]:
        """Return the differences by name."""
        return {"cpu": self.cpu - start.cpu, "wall": self.wall - start.wall}


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes (Linux)."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines())
    return 1024 * int(status["VmHWM"].split()[0])


def parse(system: System, request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request to parse: measure it, and write the result if a file is named."""
    inputs = json.loads(Path(request["inputs"]).read_text("utf-8"))
    if request["from"] == TEXT:
        many, one, given = system.texts, system.text, inputs["paragraphs" if request["way"] == BULK else "texts"]
    else:
        many, one, given = system.sentences, system.sentence, inputs["sentences"]
    given = given[: request.get("limit")]
    start = Seconds.now()
    results = list(many(given)) if request["way"] == BULK else [one(each) for each in given]
    answer: dict[str, Any] = Seconds.now().since(start)
    if request.get("out"):
        Path(request["out"]).write_text("".join(map(system.conllu, results)), "utf-8")
    return answer


def answer(system: System, request: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """Answer one request."""
    if request["do"] == "load":
        start = Seconds.now()
        system.load(given.model, given.threads, json.loads(given.options))
        return Seconds.now().since(start)
    if request["do"] == "parse":
        return parse(system, request)
    if request["do"] == "memory":
        return {"bytes": peak_memory()}
    return {"versions": {name: importlib.metadata.version(name) for name in system.packages}}


def serve(system: System, given: argparse.Namespace) -> None:
    """Answer requests until the input ends. What the system prints goes to standard error."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            try:
                answered = answer(system, json.loads(line), given)
            except CannotError as error:
                answered = {"cannot": str(error)}
            print(json.dumps(answered), file=out, flush=True)


def read_facts(model: Path) -> dict[str, Any]:
    """Return what the training of a model has taken so far."""
    facts = model / FACTS
    return json.loads(facts.read_text("utf-8")) if facts.is_file() else {"cpu_seconds": 0.0, "is_finished": False}


def train(system: System, given: argparse.Namespace) -> None:
    """Train, and add what it took to what earlier runs of the same training took. One that has ended goes on only
    if it gets more time."""
    given.model.mkdir(parents=True, exist_ok=True)
    facts = given.model / FACTS
    before = read_facts(given.model)
    if before["is_finished"] and before["minutes"] >= given.minutes:
        return
    start, spent = Seconds.now(), before["cpu_seconds"]

    def write(running: float = 0.0, **more: Any) -> None:
        now = {"cpu_seconds": spent + Seconds.now().cpu - start.cpu + running, "minutes": given.minutes, **more}
        facts.write_text(json.dumps(now, indent=2) + "\n", "utf-8")

    def progress(message: str, running: float = 0.0) -> None:
        print(f"{(Seconds.now().cpu - start.cpu + running) / 60:7.1f} min  {message}", file=sys.stderr, flush=True)
        write(running, settings=before.get("settings"), is_finished=False)

    settings = system.train(given.data, given.model, given.minutes - spent / 60, progress)
    write(settings=settings, is_finished=True)


def main(system: System) -> None:
    """Run the command line of an adapter."""
    options = argparse.ArgumentParser()
    options.add_argument("verb", choices=("train", "serve"))
    options.add_argument("--data", type=Path, help="the folder with train.conllu and dev.conllu")
    options.add_argument("--model", type=Path, help="the folder of the model")
    options.add_argument("--minutes", type=float, default=60, help="CPU time for training")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--options", default="{}", help="options of the system, as JSON")
    given = options.parse_args()
    {"train": train, "serve": serve}[given.verb](system, given)
