"""The part ``threads``: 8 threads share a parser, and forked and spawned processes use it too.

Every result is compared, to the last digit, with that of one thread.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import easyfirst
from bench.campaign.record import Record
from bench.campaign.server import WORDS
from easyfirst.parser import Parser

N_THREADS = 8
ROUND = 5.0  # seconds that threads run before processes are started
MODEL = "en"


@dataclass(frozen=True, slots=True)
class Case:
    """Sentences in words, and what one thread makes of them."""

    sentences: tuple[tuple[str, ...], ...]
    expected: str


def results(parser: Parser, sentences: Sequence[Sequence[str]], way: int) -> str:
    """Parse sentences in one of several ways, and return the results as JSON."""
    found: list[Any]
    match way % 4:
        case 0:
            found = parser.parse(sentences)
        case 1:
            found = list(parser.pipe(iter(sentences), batch_size=3, threads=2))
        case 2:
            found = parser.parse(sentences, batch_size=1, threads=3)
        case _:
            found = [parser.parse([sentence])[0] for sentence in sentences]
    return json.dumps([parse.to_dict() for parse in found])


def make_cases(parser: Parser, chance: random.Random, n: int = 40) -> list[Case]:
    """Make up sentences."""
    made: list[Case] = []
    for _ in range(n):
        sentences = tuple(
            tuple(chance.choices(WORDS, k=chance.randrange(1, 25))) for _ in range(chance.randrange(1, 9))
        )
        made.append(Case(sentences, results(parser, sentences, 0)))
    return made


def run(record: Record, seconds: float, model: str = MODEL) -> None:
    """Use a parser in threads and processes, in turns."""
    end = time.monotonic() + seconds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parser = easyfirst.load(model)
        cases = make_cases(parser, record.chance)
        number = 0
        while time.monotonic() < end or not number:
            use_threads(record, parser, cases, min(ROUND, max(0.5, end - time.monotonic())), number)
            fork(record, parser, cases)
            if number % 4 == 0:
                spawn(record, parser, cases)
            number += 1


def use_threads(record: Record, parser: Parser, cases: Sequence[Case], seconds: float, number: int) -> None:
    """Parse in 8 threads at the same time."""
    end, lock = time.monotonic() + seconds, threading.Lock()

    def work(thread: int) -> None:
        chance = random.Random(f"{record.seed} {number} {thread}")
        is_first = True
        while is_first or time.monotonic() < end:
            is_first = False
            case, way = chance.choice(cases), chance.randrange(4)
            try:
                is_right = results(parser, case.sentences, way) == case.expected
            except Exception as error:
                is_right = False
                with lock:
                    record.fail(f"threads: {error!r}")
            with lock:
                record.add("calls in threads")
                if not is_right:
                    record.fail(f"threads: another result: {case.sentences}")

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def fork(record: Record, parser: Parser, cases: Sequence[Case]) -> None:
    """Parse in two forked processes that have the parser of this one."""
    children: list[int] = []
    for number in range(2):
        child = os.fork()
        if not child:
            chosen = cases[number::2][:10]
            try:
                is_right = all(results(parser, case.sentences, way) == case.expected for way, case in enumerate(chosen))
            except BaseException:
                is_right = False
            os._exit(0 if is_right else 1)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        record.add("forked processes")
        if status:
            record.fail(f"a forked process ended with status {status}")


def spawn(record: Record, parser: Parser, cases: Sequence[Case]) -> None:
    """Send the parser to two spawned processes."""
    chosen = cases[:10]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(results, [(parser, case.sentences, way) for way, case in enumerate(chosen)])
    record.add("calls in spawned processes", len(found))
    if found != [case.expected for case in chosen]:
        record.fail("a spawned process has another result")
