"""Compare the server under load with the batch parser: words per second of one process each, on the same sentences.

    python -m bench.server --model en --treebank test.conllu

A second process (bench/load.py) sends the sentences of a treebank over many connections at a time, as tokens and as raw
text, with one and with ten sentences per request. The batch parser gets the same sentences at once, in this process.
All configurations take turns. The result is the ratio of the medians, of wall-clock time and of the CPU time of the
process that parses.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import easyfirst
from bench import report

SENTENCES_PER_REQUEST = (1, 10)


@contextmanager
def server(model: str) -> Generator[tuple[str, int]]:
    """Run a server, and yield its address and its process id."""
    command = [sys.executable, "-m", "easyfirst", "serve", "--model", model, "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield line.split(" at ")[1].split()[0], process.pid
        process.terminate()


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Return the peak memory of a process in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


@dataclass
class Times:
    """The times of all runs of a configuration."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def add(self, seconds: float, cpu: float) -> None:
        self.seconds.append(seconds)
        self.cpu.append(cpu)


def load(address: str, requests: Path, connections: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.load", address, str(requests), "--connections", str(connections)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found["statuses"] == {"200": found["requests"]}, found
    return found


def timed(times: Times, work: Callable[[], object]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    times.add(time.perf_counter() - wall, time.process_time() - cpu)


def measure(model: str, treebank: Path, n_sentences: int, runs: int, connections: int) -> dict[str, Any]:
    sentences = list(islice(easyfirst.read_conllu(treebank), n_sentences))
    words = [list(sentence.forms) for sentence in sentences]
    texts = [sentence.metadata.get("text", " ".join(sentence.forms)) for sentence in sentences]
    parser = easyfirst.load(model)
    batches: dict[str, Callable[[], object]] = {
        "tokens": lambda: parser.parse(words),
        "sentences": lambda: list(parser.read(texts, one_sentence=True)),
    }
    given = {"tokens": words, "sentences": texts}
    times: dict[tuple[str, int], Times] = {(kind, n): Times() for kind in given for n in (0, *SENTENCES_PER_REQUEST)}
    with server(model) as (address, pid), tempfile.TemporaryDirectory() as folder:
        files: dict[tuple[str, int], Path] = {}
        for kind, values in given.items():
            for n in SENTENCES_PER_REQUEST:
                files[kind, n] = Path(folder) / f"{kind}-{n}.jsonl"
                bodies = (json.dumps({kind: values[begin : begin + n]}) for begin in range(0, len(values), n))
                files[kind, n].write_text("".join(body + "\n" for body in bodies))
        load(address, files["tokens", 10], connections)  # warm up both
        parser.parse(words[:300])
        for _ in range(runs):
            for (kind, n), found in times.items():
                if n == 0:
                    timed(found, batches[kind])
                    continue
                before = cpu_seconds(pid)
                outcome = load(address, files[kind, n], connections)
                found.add(outcome["seconds"], cpu_seconds(pid) - before)
                found.waits.append(outcome["wait_median"])
        most = memory(pid)
    n_words = sum(map(len, words))
    rows: list[dict[str, Any]] = []
    for (kind, n), found in times.items():
        batch = times[kind, 0]
        rows.append(
            {
                "input": kind,
                "sentences_a_request": n or None,
                "words_per_second": n_words / statistics.median(found.seconds),
                "words_per_cpu_second": n_words / statistics.median(found.cpu),
                "ratio": statistics.median(batch.seconds) / statistics.median(found.seconds),
                "cpu_ratio": statistics.median(batch.cpu) / statistics.median(found.cpu),
                "wait_median": statistics.median(found.waits) if found.waits else None,
            }
        )
    return {"words": n_words, "sentences": len(sentences), "rows": rows, "server_megabytes": most}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--sentences", type=int, default=2000, help="how many sentences of the treebank to use")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--connections", type=int, default=250)
    given = options.parse_args()
    found = measure(given.model, given.treebank, given.sentences, given.runs, given.connections)
    rows = [
        [
            row["input"],
            "all (batch parser)" if row["sentences_a_request"] is None else row["sentences_a_request"],
            f"{row['words_per_second']:,.0f}",
            f"{row['words_per_cpu_second']:,.0f}",
            f"{row['ratio']:.2f}",
            f"{row['cpu_ratio']:.2f}",
            "" if row["wait_median"] is None else f"{1000 * row['wait_median']:.0f} ms",
        ]
        for row in found["rows"]
    ]
    result = {
        "model": given.model,
        "treebank": given.treebank.name,
        "runs": given.runs,
        "connections": given.connections,
        **found,
    }
    header = ["input", "sentences/request", "words/s", "words/CPU s", "ratio", "CPU time ratio", "latency"]
    report.write("server", result, header, rows)


if __name__ == "__main__":
    main()
