"""Look for errors for a given time, and write what was done and found to bench/results/campaign_*.md.

    python -m bench.campaign --minutes 60 --seed 1
    python -m bench.campaign --minutes 10 --parts fuzz,kills --seed 2

The time is divided over the parts. A campaign can be interrupted and continued: counts add up over its runs, each with
its date, machine, commit and seed. The part ``server`` is one run, which replaces the record of the last one. Exits
with 1 if something was found.

| part    | what it does                                                                            |
| ------- | --------------------------------------------------------------------------------------- |
| fuzz    | coverage-guided fuzzing of CoNLL-U, text, constraints, model files, HTTP and the C core |
| kills   | kill -9 at every file event of the commands that write, and at random moments           |
| disk    | full disks, read-only directories, too little memory                                    |
| server  | load with bad clients beside good ones, and signals (bench.campaign.server)             |
| threads | 8 threads, forked and spawned processes                                                 |
| stream  | one process that parses up to a million sentences                                       |
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import importlib
import subprocess
import sys
import time

from bench.campaign.record import ROOT, Record

PARTS = ("fuzz", "kills", "disk", "server", "threads", "stream")
MODULES = {
    "fuzz": "bench.campaign.fuzzing",
    "kills": "bench.campaign.killing",
    "disk": "bench.campaign.scarcity",
    "threads": "bench.campaign.concurrency",
    "stream": "bench.campaign.stream",
}


def run_part(part: str, seconds: float, seed: int) -> bool:
    """Run a part. Return whether it found nothing."""
    if part == "server":
        options = ["--minutes", f"{seconds / 60:.2f}", "--seed", str(seed)]
        return (
            subprocess.run([sys.executable, "-m", "bench.campaign.server", *options], cwd=ROOT, check=False).returncode
            == 0
        )
    record = Record(part, seed)
    try:
        importlib.import_module(MODULES[part]).run(record, seconds)
    finally:
        record.save(quiet=False)
    return not record.problems


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=60.0, help="the time for all parts together")
    options.add_argument("--parts", default=",".join(PARTS), help="the parts to run, separated by commas")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    parts = given.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        options.error(f"unknown part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    end = time.monotonic() + 60 * given.minutes
    is_clean = True
    try:
        for number, part in enumerate(parts):
            seconds = (end - time.monotonic()) / (len(parts) - number)
            print(f"===== {part}: {max(0.0, seconds) / 60:.1f} minutes =====", flush=True)
            is_clean = run_part(part, max(1.0, seconds), given.seed) and is_clean
    except KeyboardInterrupt:
        print("stopped; the same command continues counting")
        sys.exit(130)
    sys.exit(0 if is_clean else 1)


if __name__ == "__main__":
    main()
