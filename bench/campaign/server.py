"""Run the server under mixed load for a given time, with bad clients beside good ones, and write a report.

    python -m bench.campaign.server --minutes 60 --treebank dev.conllu

Good clients send requests over many connections, and compare every answer with the library's. Bad clients send too
much, too slowly, nonsense or nothing. In the first two thirds of the time the server runs without interruption, so that
its memory and latency can be seen over time. In the last third it is stopped by SIGTERM and SIGHUP and killed by
SIGKILL in turns, and started again on the same port. Exits with 1 if a request was lost, an answer was wrong, or the
server did not end well. The report is bench/results/campaign_server.md.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import asyncio
import itertools
import json
import random
import signal
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from bench.campaign.good_clients import PATIENCE, Case, Tally, be_good, cases_of
from bench.campaign.record import ROOT, tested_commit
from bench.campaign.server_process import ServerUnderTest

UNINTERRUPTED = 2 / 3  # the share of the time before the first signal
SIGNALS = (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGKILL)
PERIODS = 10  # of the uninterrupted time, in the report
WORDS = "the a fox cat that it likes saw jumps over apples and or because of to in London 1999 strangely , . ?".split()  # noqa: SIM905


@dataclass
class Sample:
    """The state of the server at a time."""

    at: float  # seconds from the begin
    life: int
    memory: float  # megabytes
    files: int


@dataclass
class Campaign:
    """A campaign and what it has found."""

    server: ServerUnderTest
    cases: list[Case]
    seconds: float
    connections: int
    pause: float
    restart_every: float
    seed: int
    tally: Tally = field(default_factory=Tally)
    samples: list[Sample] = field(default_factory=list[Sample])
    signals: dict[str, int] = field(default_factory=dict[str, int])
    bad: dict[str, Any] = field(default_factory=dict[str, Any])
    begin: float = 0.0
    commit: str = field(default_factory=tested_commit)

    async def run(self, bad_clients: int, idle: int) -> None:
        await self.server.start()
        self.begin = time.monotonic()
        end = self.begin + self.seconds
        chances = [random.Random(f"{self.seed} {n}") for n in range(self.connections)]
        clients = [be_good(self.server, self.cases, self.tally, end, each, self.pause) for each in chances]
        sampling = asyncio.create_task(self._sample())
        await asyncio.gather(*clients, self._interrupt(end), self._be_bad(bad_clients, idle))
        sampling.cancel()
        self._take_sample()
        await self.server.end(signal.SIGTERM)

    async def _sample(self) -> None:
        while True:
            self._take_sample()
            await asyncio.sleep(max(0.5, self.seconds / 360))

    def _take_sample(self) -> None:
        server = self.server
        self.samples.append(Sample(time.monotonic() - self.begin, server.life, server.memory(), server.n_files()))

    async def _interrupt(self, end: float) -> None:
        """End the server by signals in the last part of the time, and start it again."""
        await asyncio.sleep(self.seconds * UNINTERRUPTED)
        for number in itertools.cycle(SIGNALS):
            if time.monotonic() + self.restart_every > end:
                return
            await self.server.end(number)
            self.signals[number.name] = self.signals.get(number.name, 0) + 1
            await self.server.start()
            await asyncio.sleep(self.restart_every)

    async def _be_bad(self, clients: int, idle: int) -> None:
        """Run the bad clients in a process of their own, so that they do not slow down the good ones."""
        address = f"http://127.0.0.1:{self.server.port}/"
        options = ["--seconds", f"{self.seconds:g}", "--clients", str(clients), "--idle", str(idle)]
        options += ["--patience", f"{self.server.timeout + PATIENCE:g}", "--seed", str(self.seed)]
        command = ["-m", "bench.campaign.bad_clients", address, *options]
        process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
        self.bad = json.loads(output) if process.returncode == 0 else {"counts": {}, "problems": ["they have failed"]}

    @property
    def problems(self) -> list[str]:
        bad = [f"bad clients: {problem}" for problem in self.bad["problems"]]
        found = [*self.tally.problems, *self.server.problems, *bad]
        return [problem.replace(f"{ROOT}/", "").replace(f"{sys.base_prefix}/", "") for problem in found]

    def growth(self) -> tuple[float, float, float]:
        """Return the memory without interruptions: in the second tenth of the time, in the last one, and at most."""
        values = [sample.memory for sample in self.samples if sample.life == 1 and sample.memory]
        tenth = max(1, len(values) // 10)
        return statistics.median(values[tenth : 2 * tenth] or values), statistics.median(values[-tenth:]), max(values)

    def periods(self) -> list[dict[str, float]]:
        """Return latencies and memory over the uninterrupted time."""
        length = self.seconds * UNINTERRUPTED / PERIODS
        found: list[dict[str, float]] = []
        for n in range(PERIODS):
            begin, end = n * length, (n + 1) * length
            waits = sorted(wait for at, wait in self.tally.waits if begin <= at - self.begin < end)
            state = [sample for sample in self.samples if begin <= sample.at < end and sample.memory]
            if waits and state:
                found.append(
                    {
                        "minute": end / 60,
                        "answers": len(waits),
                        "median": statistics.median(waits),
                        "p99": waits[int(0.99 * len(waits))],
                        "megabytes": max(sample.memory for sample in state),
                        "files": max(sample.files for sample in state),
                    }
                )
        return found

    def write(self, model: str) -> None:
        """Write the report."""
        counts, (early, late, most) = self.tally.counts, self.growth()
        result = {
            "model": model,
            "commit": self.commit,
            "minutes": self.seconds / 60,
            "connections": self.connections,
            "pause": self.pause,
            "timeout": self.server.timeout,
            "seed": self.seed,
            "requests": dict(counts),
            "signals": self.signals,
            "memory": {"early": early, "late": late, "most": most},
            "bad_clients": self.bad["counts"],
            "problems": self.problems[:100],
            "n_problems": len(self.problems),
            "periods": self.periods(),
        }
        rows: list[list[object]] = [
            ["minutes", f"{self.seconds / 60:g}"],
            ["commit", result["commit"]],
            ["connections of good clients", self.connections],
            ["requests of good clients", f"{counts['requests']:,}"],
            ["answered, equal to the library's", f"{counts['answered']:,} ({counts['large']:,} large)"],
            ["wrong answers", counts["wrong"]],
            ["lost", counts["lost"]],
            ["refused (503) and repeated", f"{counts['refused']:,}"],
            ["sent again after the server closed an idle connection", f"{counts['reconnected']:,}"],
            ["interrupted by a signal and sent again", f"{counts['interrupted']:,}"],
            ["signals", ", ".join(f"{name} {n}" for name, n in self.signals.items()) or "none"],
            ["actions of bad clients", f"{sum(self.bad['counts'].values()):,}"],
            ["other problems", len(self.problems) - counts["wrong"] - counts["lost"]],
            ["memory: second tenth, last tenth, most", f"{early:.0f}, {late:.0f}, {most:.0f} MB"],
        ]
        for period in self.periods():
            times = f"median {1000 * period['median']:.0f} ms, 99 % {1000 * period['p99']:.0f} ms"
            state = f"{period['megabytes']:.0f} MB, {period['files']:.0f} files"
            rows.append([f"until minute {period['minute']:.1f}", f"{period['answers']:,.0f} answers, {times}; {state}"])
        report.write("campaign_server", result, ["", ""], rows)
        for problem in self.problems[:20]:
            print(f"- {problem}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, help="sentences to send (CoNLL-U); without it, they are made up")
    options.add_argument("--connections", type=int, default=200)
    options.add_argument("--bad-clients", type=int, default=20)
    options.add_argument("--idle", type=int, default=100, help="bad clients that only connect")
    options.add_argument("--restart-every", type=float, default=30.0, help="seconds between two signals")
    options.add_argument("--pause", type=float, default=2.0, help="mean seconds between two requests of a connection")
    options.add_argument("--cases", type=int, default=400, help="different small requests")
    options.add_argument("--timeout", type=float, default=120.0, help="seconds that the server may take for a request")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    parser = easyfirst.load(given.model, engine="native")
    chance = random.Random(given.seed)
    if given.treebank is not None:
        sentences = [sentence.forms for sentence in itertools.islice(easyfirst.read_conllu(given.treebank), 2000)]
    else:
        sentences = [tuple(chance.choices(WORDS, k=chance.randrange(1, 40))) for _ in range(500)]
    campaign = Campaign(
        ServerUnderTest(given.model, given.timeout),
        cases_of(parser, sentences, given.seed, given.cases),
        60 * given.minutes,
        given.connections,
        given.pause,
        given.restart_every,
        given.seed,
    )
    asyncio.run(campaign.run(given.bad_clients, given.idle))
    campaign.write(given.model)
    sys.exit(1 if campaign.problems else 0)


if __name__ == "__main__":
    main()
