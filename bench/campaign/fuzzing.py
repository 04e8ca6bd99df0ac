"""The part ``fuzz``: coverage-guided fuzzing of Python code with atheris, and of the compiled core with libFuzzer.

Inputs that reach new code are kept in build/campaign/<target>, where the next run finds them. Without atheris (``pip
install atheris``), inputs are changed at random.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from bench.campaign import core_fuzzing
from bench.campaign.record import ROOT, WORK, Record
from bench.campaign.seeds import TARGETS, mutated, seeds_of

SHARES = {"conllu": 3.0, "annotated": 2.0, "core": 2.0}  # of the time; 1 for other targets
GRACE = 300.0  # the seconds that a process may take besides its time, for one slow input and its start


def run(record: Record, seconds: float) -> None:
    """Fuzz all targets, one after the other."""
    has_atheris = importlib.util.find_spec("atheris") is not None
    if not has_atheris:
        print("atheris is not installed: inputs are changed at random, without following the coverage")
    end = time.monotonic() + seconds
    names = [*TARGETS, "core"]
    for number, name in enumerate(names):
        shares = [SHARES.get(each, 1.0) for each in names[number:]]
        until = time.monotonic() + (end - time.monotonic()) * shares[0] / sum(shares)
        if name == "core":
            core_fuzzing.fuzz(record, until)
        elif has_atheris:
            fuzz_guided(record, name, until)
        else:
            fuzz_blindly(record, name, until)


def count(record: Record, name: str, counts: dict[str, int]) -> None:
    """Add the counts of a target."""
    for kind, n in sorted(counts.items()):
        record.add(f"{name}: {kind}", n)
    record.add("inputs", counts.get("inputs", 0))


def fuzz_guided(record: Record, name: str, until: float) -> None:
    """Fuzz a target in processes of its own, until one ends with its time."""
    corpus = WORK / name
    if not corpus.is_dir():
        corpus.mkdir(parents=True)
        for seed in seeds_of(name):
            (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    chance = record.chance
    while (left := until - time.monotonic()) > 0:
        counts = WORK / f"{name}.json"
        counts.unlink(missing_ok=True)
        options = ["--seconds", f"{left:.1f}", "--seed", str(chance.randrange(1, 2**31)), "--corpus", str(corpus)]
        command = [sys.executable, "-m", "bench.campaign.guided", name, *options, "--counts", str(counts)]
        is_done = finish(record, name, command, left + GRACE)
        if counts.exists():
            count(record, name, json.loads(counts.read_bytes()))
        if is_done:
            return


def finish(record: Record, name: str, command: Sequence[str], patience: float) -> bool:
    """Run a fuzzer to its end. Return whether it found nothing; a finding is noted."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        record.fail(f"{name}: the fuzzer did not end")
        return True
    if done.returncode == 0:
        return True
    said = (done.stderr + done.stdout).decode(errors="replace")  # libFuzzer's words, and the exception
    (WORK / f"{name}-{time.time_ns()}.log").write_text(said)
    lines = [line for line in said.splitlines() if "Error" in line or "ERROR" in line or "Test unit written" in line]
    record.fail(f"{name}: {' / '.join(lines[-4:]) or said[-300:]}")
    return not lines  # it did not even start


def fuzz_blindly(record: Record, name: str, until: float) -> None:
    """Fuzz a target with inputs that are changed at random."""
    target, inputs = TARGETS[name](), list(seeds_of(name))
    chance: random.Random = record.chance
    counts: dict[str, int] = {}
    while time.monotonic() < until:
        data = mutated(chance.choice(inputs), inputs, chance)
        counts["inputs"] = counts.get("inputs", 0) + 1
        try:
            outcome = target(data)
            counts[outcome] = counts.get(outcome, 0) + 1
        except Exception as error:
            kept = found_input(name, data)
            record.fail(f"{name}: {kept}: {''.join(traceback.format_exception_only(error)).strip()}")
    count(record, name, counts)


def found_input(name: str, data: bytes) -> Path:
    """Keep an input that made a target fail."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"found-{name}-{hashlib.sha1(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path
