"""Compare easyfirst with other parsers: the same data, the same machine, the same run.

    python -m bench.peers all --treebank UD_English-EWT --work DIR      # everything that is missing, then the page
    python -m bench.peers train --work DIR --minutes 24 spacy           # one step, for one system
    python -m bench.peers speed --work DIR --fresh                      # measure the speed again, on an idle machine
    python -m bench.peers render                                        # the page, the README and the picture

The steps are data, install, train, describe, score, start, memory, speed and render. Each stores its results in
bench/results/peers.json as they come, and an interrupted one resumes. DIR holds the data, the environments (unless
--environments names another folder) and the models. Training stops when the CPU time of --minutes is spent.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from bench import report
from bench.peers import client, measure, page
from bench.peers.adapters.worker import BULK, SINGLE
from bench.peers.environments import install
from bench.peers.measure import Place
from bench.peers.record import Record
from bench.peers.speed import measure_speed
from bench.peers.systems import OURS, ROOT, SYSTEMS, System
from bench.peers.treebank import prepare

MINUTES = 70  # what the epochs of the bundled model took
STEPS = ("data", "install", "train", "describe", "score", "start", "memory", "speed", "render")


def train(place: Place, systems: list[System], minutes: float) -> None:
    """Train each model that is not finished, one after the other."""
    done: set[str] = set()
    for system in systems:
        if system.name == OURS or system.environment in done:
            continue
        done.add(system.environment)
        arguments = ["--data", str(place.data), "--model", str(system.model(place.work)), "--minutes", str(minutes)]
        command = client.command(system, place.environments, "train", *arguments)
        subprocess.run(command, env=client.environment(), cwd=ROOT, check=True)


def run(step: str, given: argparse.Namespace, place: Place, systems: list[System]) -> None:
    """Take one step."""
    if step == "data":
        prepare(given.treebank, place.data, n_train=given.sentences)
    elif step == "install":
        for system in systems:
            install(system, place.environments)
    elif step == "train":
        train(place, systems, given.minutes)
    elif step == "speed":
        if given.fresh:
            place.record.remove("speed")
        measure_speed(place, systems, given.rounds, {BULK: given.words, SINGLE: given.single_words})
    elif step == "render":
        page.write(place.record)
    else:
        for system in systems:
            if step == "describe":
                measure.describe(place, system)
            elif place.fingerprint(system):
                {"score": measure.score, "start": measure.start, "memory": measure.memory}[step](place, system)
    if step not in ("data", "install", "train", "render"):
        place.record.put_facts(**{name: report.conditions()[name] for name in ("date", "cpu", "python")})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("step", choices=("all", *STEPS))
    options.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(s.name for s in SYSTEMS)}; default: all"
    )
    options.add_argument("--treebank", type=Path, help="the folder of UD_English-EWT")
    options.add_argument("--work", type=Path, default=Path("build/peers"), metavar="DIR")
    options.add_argument("--environments", type=Path)
    options.add_argument("--results", type=Path, help="default: bench/results/peers.json")
    options.add_argument("--minutes", type=float, default=MINUTES, help=f"CPU time for each training ({MINUTES})")
    options.add_argument("--rounds", type=int, default=5, help="how often the speed is measured (5)")
    options.add_argument("--words", type=int, default=25_000, help="what is parsed in bulk (25,000)")
    options.add_argument("--single-words", type=int, default=5_000, help="what is parsed one at a time (5,000)")
    options.add_argument("--sentences", type=int, help="train on this many sentences, for a trial")
    options.add_argument("--fresh", action="store_true", help="forget the speeds measured before")
    given = options.parse_intermixed_args()  # names after options, too
    if unknown := set(given.names) - {system.name for system in SYSTEMS}:
        options.error(f"no such system: {', '.join(sorted(unknown))}")
    if given.treebank is None and given.step in ("data", "all"):
        options.error("--treebank names the folder of UD_English-EWT")
    record = Record(given.results) if given.results else Record()
    place = Place((given.environments or given.work / "environments").resolve(), given.work.resolve(), record)
    systems = [system for system in SYSTEMS if not given.names or system.name in given.names]
    missing = [system.name for system in systems if not system.python(place.environments).is_file()]
    if missing and given.step not in ("all", "data", "install", "render"):
        options.error(f"not installed in {place.environments}: {', '.join(missing)}; run the step install first")
    for step in STEPS if given.step == "all" else [given.step]:
        print(f"== {step}", file=sys.stderr, flush=True)
        run(step, given, place, systems)


if __name__ == "__main__":
    main()
