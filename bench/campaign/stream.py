"""The part ``stream``: one process of ``easyfirst parse`` reads up to a million sentences from a pipe.

Sentences must come back in order, none lost and none doubled, and some are compared with what the library returns for
them alone. The memory of the process must stay flat.
"""

from __future__ import annotations

import itertools
import random
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import easyfirst
from bench.campaign.record import Record
from bench.campaign.server import WORDS
from easyfirst.parser import Parser
from easyfirst.treebank.conllu import ConlluReader

MOST = 1_000_000  # sentences of one run
COMPARED = 1_000  # one sentence in as many is compared with the library's
MODEL = "en"
GROWTH, ROOM = 1.1, 20.0  # how much the memory may grow: a factor, and megabytes


def sentence(seed: int, number: int) -> list[str]:
    """Return a short sentence that has its number in it."""
    chance = random.Random(f"{seed} {number}")
    return [f"n{number}", *chance.choices(WORDS, k=chance.randrange(0, 4))]


def run(record: Record, seconds: float, model: str = MODEL, most: int = MOST) -> None:
    """Parse a stream until it ends, or the time does."""
    end = time.monotonic() + seconds
    options = ["--from", "tokens", "--to", "conllu", "-q", "--model", model]
    command = [sys.executable, "-m", "easyfirst", "parse", *options]
    with (
        warnings.catch_warnings(),
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        warnings.simplefilter("ignore")
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        sent: list[int] = []
        writer = threading.Thread(target=_write, args=(process.stdin, record.seed, end, most, sent))
        writer.start()
        said: list[bytes] = []
        errors = threading.Thread(target=_read, args=(process.stderr, said))
        errors.start()
        memory = list(_compare(record, process, easyfirst.load(model)))
        writer.join()
        errors.join()
        code = process.wait()
    if code or b"error" in b"".join(said):
        record.fail(f"ended with {code}: {b''.join(said)[-300:]!r}")
    if record.counts["sentences"] != sent[0]:
        record.fail(f"{sent[0]:,} sentences were sent, and {record.counts['sentences']:,} came back")
    _judge_memory(record, memory)


def _write(stream: IO[bytes], seed: int, end: float, most: int, sent: list[int]) -> None:
    n = 0
    try:
        with stream:
            for n in range(1, most + 1):
                stream.write(" ".join(sentence(seed, n)).encode() + b"\n")
                if n % 1000 == 0 and time.monotonic() > end:
                    break
    except BrokenPipeError:
        pass
    sent.append(n)


def _read(stream: IO[bytes], said: list[bytes]) -> None:
    said.append(stream.read())


def _compare(record: Record, process: subprocess.Popen[bytes], parser: Parser) -> Iterator[float]:
    """Check the sentences that come back, and yield the memory of the process now and then."""
    assert process.stdout is not None
    for number, found in enumerate(ConlluReader(process.stdout, "output"), 1):
        expected = sentence(record.seed, number)
        if list(found.forms) != expected:
            record.fail(f"sentence {number} is {' '.join(found.forms)[:80]!r}, not {' '.join(expected)[:80]!r}")
            process.kill()
            return
        if number % COMPARED == 1:
            [parse] = parser.parse([expected])
            if (found.heads, found.relations) != (parse.heads, parse.relations):
                record.fail(f"sentence {number} has another tree in the stream than alone")
            record.add("compared with the library")
            yield _memory(process.pid)
        record.add("sentences")


def _memory(pid: int) -> float:
    """Return the resident memory of a process in megabytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return 0.0


def _judge_memory(record: Record, memory: list[float]) -> None:
    values = list(itertools.takewhile(bool, memory))
    if len(values) < 10:
        return
    tenth = len(values) // 10
    early, late = statistics.median(values[tenth : 2 * tenth]), statistics.median(values[-tenth:])
    record.facts["memory: second tenth, last tenth, most"] = f"{early:.0f}, {late:.0f}, {max(values):.0f} MB"
    if late > GROWTH * early + ROOM:
        record.fail(f"the memory grows from {early:.0f} to {late:.0f} MB")
