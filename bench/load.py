"""Send requests to a server over several connections at a time, and report the responses.

    python -m bench.load http://127.0.0.1:8000/ requests.jsonl --connections 64

Each line of the file is the body of a request to /parse. Prints JSON: the total time, the number of responses by
status, the retries and the latencies. ``--answers FILE`` stores the responses in the order of the requests. The script
uses only the standard library, so it takes little CPU time from the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Outcome:
    """The outcome of the requests."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    answers: dict[int, bytes] = field(default_factory=dict)
    retries: int = 0


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str, body: bytes) -> tuple[int, bytes]:
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    answer = await reader.readuntil(b"\r\n\r\n")
    status = int(answer.split(None, 2)[1])
    length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    return status, await reader.readexactly(length)


async def send(address: str, bodies: Sequence[bytes], *, connections: int, retries: int = 0) -> Outcome:
    """Send all requests; each connection sends the next one when its last is answered. A 503 is retried."""
    url = urlsplit(address)
    head = f"POST /parse HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Type: application/json\r\n"
    outcome = Outcome()
    waiting = iter(enumerate(bodies))

    async def work() -> None:
        reader, writer = await asyncio.open_connection(url.hostname, url.port, limit=1 << 24)
        for number, body in waiting:
            begin = time.perf_counter()
            status, answer = await _ask(reader, writer, head, body)
            for _ in range(retries):
                if status != 503:
                    break
                outcome.retries += 1
                await asyncio.sleep(0.02)
                status, answer = await _ask(reader, writer, head, body)
            outcome.waits.append(time.perf_counter() - begin)
            outcome.statuses[status] += 1
            outcome.answers[number] = answer
        writer.close()
        await writer.wait_closed()

    begin = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(min(connections, len(bodies)))))
    outcome.seconds = time.perf_counter() - begin
    return outcome


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("address")
    options.add_argument("requests", type=Path)
    options.add_argument("--connections", type=int, default=64)
    options.add_argument("--retries", type=int, default=0)
    options.add_argument("--answers", type=Path)
    given = options.parse_args()
    bodies = given.requests.read_bytes().splitlines()
    outcome = asyncio.run(send(given.address, bodies, connections=given.connections, retries=given.retries))
    answers = [outcome.answers[number] for number in range(len(bodies))]
    if given.answers is not None:
        given.answers.write_bytes(b"".join(answer + b"\n" for answer in answers))
    waits = statistics.quantiles(outcome.waits, n=100) if len(outcome.waits) > 1 else outcome.waits * 99
    found: dict[str, Any] = {
        "seconds": outcome.seconds,
        "requests": len(bodies),
        "statuses": {str(status): n for status, n in outcome.statuses.items()},
        "retries": outcome.retries,
        "wait_median": waits[49],
        "wait_99": waits[98],
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
