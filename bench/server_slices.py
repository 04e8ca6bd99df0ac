"""Measure how long a small request takes beside the largest ones that the server accepts.

    python -m bench.server_slices --model en

A client sends a small request again and again, first alone and then while other clients send the largest requests, one
after the other. Both take turns in one run, because the speed of a machine varies. A small request should take at most
twice as long as alone, plus one slice of the large request. The longest slice is a sentence of 1,000 words, whose time
is measured alone too.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import http.client
import json
import statistics
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from bench import report
from bench.server import server

SMALL = {"text": "The quick brown fox jumps over the lazy dog, which was sleeping in the garden."}
WORDS = "the fox likes apples and jumps over lazy dogs which were sleeping in a garden near London .".split()  # noqa: SIM905
SENTENCE = (WORDS * 60)[:1000]
LARGE: dict[str, Any] = {
    "10 sentences of 1,000 words": {"tokens": [SENTENCE] * 10},
    "500 sentences of 20 words": {"tokens": [SENTENCE[:20]] * 500},
    "a text of 9,900 words": {"text": " ".join((WORDS * 600)[:9_900])},
    "100,000 dots": {"text": "." * 100_000},
    "100,000 letters": {"text": "a" * 100_000},
}


class Client:
    """A connection that sends one request after the other."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=600)

    def ask(self, body: object) -> tuple[float, int]:
        """Return the seconds until the response, and its status."""
        data = json.dumps(body).encode()
        begin = time.perf_counter()
        self._connection.request("POST", "/parse", data, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        response.read()
        return time.perf_counter() - begin, response.status


@contextmanager
def beside(address: str, body: object, statuses: dict[int, int]) -> Generator[None, None, None]:
    """Send a large request again and again meanwhile, over two connections, so that there is always one."""
    is_over, has_begun = threading.Event(), threading.Barrier(3)

    def work() -> None:
        client = Client(address)
        has_begun.wait()
        while not is_over.is_set():
            _, status = client.ask(body)
            statuses[status] = statuses.get(status, 0) + 1

    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    has_begun.wait()
    yield
    is_over.set()
    for thread in threads:
        thread.join()


def measure(model: str, rounds: int, requests: int) -> dict[str, Any]:
    alone: list[float] = []
    slices: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in LARGE}
    statuses: dict[str, dict[int, int]] = {name: {} for name in LARGE}
    with server(model) as (address, _):
        client = Client(address)
        for _ in range(20):  # warm up
            client.ask(SMALL)
        for _ in range(rounds):
            for name, body in LARGE.items():
                alone += [client.ask(SMALL)[0] for _ in range(requests)]
                slices.append(client.ask({"tokens": [SENTENCE]})[0])
                with beside(address, body, statuses[name]):
                    time.sleep(0.05)
                    times[name] += [client.ask(SMALL)[0] for _ in range(requests)]
    lone, longest = statistics.median(alone), statistics.median(slices)
    rows = [
        {
            "beside": name,
            "median": statistics.median(found),
            "p95": sorted(found)[int(0.95 * len(found))],
            "max": max(found),
            "ratio": statistics.median(found) / (2 * lone + longest),
            "ratio_95": sorted(found)[int(0.95 * len(found))] / (2 * lone + longest),
            "large": {str(status): n for status, n in statuses[name].items()},
        }
        for name, found in times.items()
    ]
    return {"alone": lone, "alone_95": sorted(alone)[int(0.95 * len(alone))], "slice": longest, "rows": rows}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--requests", type=int, default=30, help="small requests in each round")
    given = options.parse_args()
    found = measure(given.model, given.rounds, given.requests)
    ms = "{:,.0f} ms".format
    header = ["beside", "median", "95th percentile", "median / bound", "95th percentile / bound"]
    rows = [["nothing", ms(1000 * found["alone"]), ms(1000 * found["alone_95"]), "", ""]]
    rows += [
        [
            row["beside"],
            ms(1000 * row["median"]),
            ms(1000 * row["p95"]),
            f"{row['ratio']:.2f}",
            f"{row['ratio_95']:.2f}",
        ]
        for row in found["rows"]
    ]
    rows.append(["the longest slice, alone", ms(1000 * found["slice"]), "", "", ""])
    result = {"model": given.model, "rounds": given.rounds, "requests": given.requests, **found}
    report.write("server_slices", result, header, rows)


if __name__ == "__main__":
    main()
