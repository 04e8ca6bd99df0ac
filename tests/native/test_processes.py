"""The core works in processes that are forked or spawned after it was used, and while threads use it."""

from __future__ import annotations

import multiprocessing
import os
import textwrap
import threading
from functools import cache

import pytest

from easyfirst.native.backend import Backend
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.engine import Engine
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.treebank.sentence import Sentence
from tests.native.cores import each_precision, run_python, the_core
from tests.parsing.small_parsers import small_parser

N_SENTENCES = 30
METHODS = [method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()]


@cache
def engine(precision: str) -> Engine:
    parser = small_parser(seed=3)
    backend = Backend(the_core(), precision)
    return make_engine(parser.model.arrays, parser.config, parser.model.vocabulary, backend)


def sentences() -> list[Sentence]:
    words = ["Do", "n't", "salt", "the", "soup", ".", "Ana"]
    return [Sentence.from_words(words[n % 7 :] + words[: n % 5]) for n in range(N_SENTENCES)]


def results(precision: str, times: int = 1) -> list[tuple[list[int], list[int], bytes]]:
    """Parse with the engine of this process: a forked one has inherited it, a spawned one makes its own."""

    def shown(derivation: Derivation) -> tuple[list[int], list[int], bytes]:
        return derivation.heads.tolist(), derivation.modifiers.tolist(), derivation.scores.tobytes()

    found: list[tuple[list[int], list[int], bytes]] = []
    for _ in range(times):
        found = [shown(derivation) for derivation in engine(precision).derive(sentences())]
    return found


@each_precision
@pytest.mark.parametrize("method", METHODS)
def test_processes_parse_the_same(method: str, precision: str) -> None:
    expected = results(precision)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(results, [precision] * 4) == [expected] * 4
    assert results(precision) == expected


@pytest.mark.skipif("fork" not in METHODS, reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forking_while_a_thread_parses() -> None:
    expected, is_over, wrong = results("int8"), threading.Event(), []

    def keep_parsing() -> None:
        while not is_over.is_set():
            if results("int8") != expected:
                wrong.append("in the thread")

    threads = [threading.Thread(target=keep_parsing) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:  # only this thread goes on here, and it has workspaces of its own
                os._exit(0 if results("int8", times=3) == expected else 1)
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status):
                wrong.append("in a child")
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_the_interpreter_may_exit_while_threads_parse() -> None:
    """Weights are not freed under the hands of a thread that nobody waits for."""
    program = """
        import threading
        import easyfirst
        nlp = easyfirst.load("en", engine="native")
        sentences = [["The", "fox", "jumps", "and", "it", "likes", "apples", "."] * 6] * 60
        started = threading.Semaphore(0)

        def parse_for_ever():
            while True:
                started.release()
                nlp.parse(sentences)

        for _ in range(2):
            threading.Thread(target=parse_for_ever, daemon=True).start()
        for _ in range(4):
            started.acquire()
    """
    for _ in range(3):
        done = run_python(textwrap.dedent(program))
        assert done.returncode == 0, done.stderr
