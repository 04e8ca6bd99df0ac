"""Bad clients: they send too much, too slowly, nonsense or nothing, and do not read what they get.

    python -m bench.campaign.bad_clients http://127.0.0.1:8000/ --seconds 60

What they get back must be nothing, or the documented JSON with one of the statuses that they deserve. Prints the counts
and the problems as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

HOST = b"Host: localhost\r\n"
POST = b"POST /parse HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
HEALTH = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
BODY = json.dumps({"text": "The fox jumps."}).encode()
LARGE = json.dumps({"tokens": [["fox"] * 25] * 390}).encode()
MOST = 20_000_000  # the bytes after which something endless ends
OTHER_ADDRESS = "127.0.0.2"  # so that bad clients are not counted with the good ones; there is none on some systems


@dataclass
class Bad:
    """The bad clients of one server."""

    host: str
    port: int
    chance: random.Random
    patience: float = 180.0  # the seconds after which the server should have answered or closed the connection
    local: str | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        local = None if self.local is None else (self.local, 0)
        return await asyncio.open_connection(self.host, self.port, limit=1 << 26, local_addr=local)

    async def send(
        self, data: bytes, *statuses: int, more: bytes = b"", pause: float = 0.0, ends: bool = False
    ) -> None:
        """Send bytes, then ``more`` again and again, and check what comes back: nothing, or one of these statuses."""
        reader, writer = await self.connect()
        try:
            writer.write(data)
            sent = 0
            try:
                while more and sent < MOST and not reader.at_eof():
                    writer.write(more)
                    sent += len(more)
                    await asyncio.wait_for(writer.drain(), self.patience)
                    await asyncio.sleep(pause)
                if ends:
                    writer.write_eof()
            except OSError:
                pass
            self.check(await asyncio.wait_for(reader.read(), self.patience), statuses)
        except ConnectionResetError:
            pass
        finally:
            writer.close()

    def check(self, received: bytes, statuses: tuple[int, ...]) -> None:
        """Check the first response."""
        if not received:
            return
        head, _, body = received.partition(b"\r\n\r\n")
        try:
            status = int(head.split(None, 2)[1])
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            found = json.loads(body[:length])
        except (ValueError, IndexError):
            self.problems.append(f"not an answer: {received[:300]!r}")
            return
        self.counts[f"status {status}"] += 1
        if status not in (*statuses, 503):
            self.problems.append(f"status {status}, not one of {statuses}: {body[:300]!r}")
        elif status != 200 and list(found) != ["error"]:
            self.problems.append(f"not the documented error: {body[:300]!r}")

    # --------------------------------------------------------------------------------------------- the kinds
    async def endless_url(self) -> None:
        await self.send(b"GET /", 431, more=b"a" * 65_536)

    async def endless_header(self) -> None:
        await self.send(b"GET / HTTP/1.1\r\nA: ", 431, more=b"a" * 65_536)

    async def endless_headers(self) -> None:
        await self.send(b"GET / HTTP/1.1\r\n", 431, more=b"A: b\r\n" * 5_000)

    async def endless_body(self) -> None:
        await self.send(POST + b"Content-Length: 900000000\r\n\r\n", 413, more=b"a" * 65_536)

    async def endless_chunks(self) -> None:
        await self.send(CHUNKED, 413, 400, more=b"1\r\na\r\n" * 1_000)

    async def endless_trailers(self) -> None:
        await self.send(CHUNKED + b"1\r\n1\r\n0\r\n", 431, 400, more=b"A: b\r\n" * 5_000)

    async def slow_headers(self) -> None:
        await self.send(b"GET /health HTTP/1.1\r\n", 408, more=b"A: b\r\n", pause=1.0)

    async def slow_body(self) -> None:
        await self.send(POST + b"Content-Length: 5000\r\n\r\n", 408, more=b" ", pause=1.0)

    async def idle(self) -> None:
        await self.send(b"")

    async def nonsense(self) -> None:
        await self.send(self.chance.randbytes(self.chance.randrange(1, 2000)) + b"\r\n\r\n", 400, 501, ends=True)

    async def broken_request(self) -> None:
        whole = bytearray(POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        for _ in range(self.chance.randrange(1, 5)):
            whole[self.chance.randrange(len(whole))] = self.chance.randrange(256)
        await self.send(bytes(whole), 200, 400, 404, 405, 413, 415, 421, 422, 431, 501, ends=True)

    async def half_a_request(self) -> None:
        whole = POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
        await self.send(whole[: self.chance.randrange(1, len(whole))], 400, ends=True)

    async def half_closed(self) -> None:
        await self.send(POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY, 200, ends=True)

    async def wrong_host(self) -> None:
        hosts = (b"Host: evil.example\r\n", b"Host: localhost/evil.example\r\n", b"Host: user@localhost\r\n", HOST * 2)
        await self.send(b"GET /health HTTP/1.1\r\n" + self.chance.choice(hosts) + b"\r\n", 400, 421, ends=True)

    async def wrong_origin(self) -> None:
        origin = self.chance.choice((b"null", b"http://evil.example", b"http://localhost:1"))
        await self.send(HEALTH[:-2] + b"Origin: " + origin + b"\r\n\r\n", 403, ends=True)

    async def too_many_words(self) -> None:
        body = json.dumps({"text": "a " * 20_000}).encode()
        await self.send(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body, 413, ends=True)

    async def dots(self) -> None:
        body = json.dumps({"text": "." * self.chance.choice((5_000, 99_000, 900_000))}).encode()
        await self.send(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body, 200, 413, 422, 504, ends=True)

    async def no_reader(self) -> None:
        """Ask for large answers and never read them."""
        reader, writer = await self.connect()
        writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        writer.write((POST + b"Content-Length: %d\r\n\r\n" % len(LARGE) + LARGE) * 2)
        await asyncio.sleep(self.chance.uniform(5, 40))
        writer.transport.abort()
        del reader

    async def flood(self) -> None:
        """Send many requests in a row and read nothing."""
        _, writer = await self.connect()
        writer.write(HEALTH * 5_000)
        await asyncio.sleep(self.chance.uniform(1, 5))
        writer.transport.abort()

    async def gone(self) -> None:
        """Disconnect while the request is parsed."""
        _, writer = await self.connect()
        writer.write(POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        await asyncio.sleep(self.chance.uniform(0, 0.05))
        writer.transport.abort()

    @property
    def kinds(self) -> dict[str, Callable[[], Awaitable[None]]]:
        names = (
            *("endless_url", "endless_header", "endless_headers", "endless_body", "endless_chunks", "endless_trailers"),
            *("slow_headers", "slow_body", "idle", "nonsense", "broken_request", "half_a_request", "half_closed"),
            *("wrong_host", "wrong_origin", "too_many_words", "dots", "no_reader", "flood", "gone"),
        )
        return {name: getattr(self, name) for name in names}

    async def be_bad(self, end: float, pause: float) -> None:
        """Be one bad client after the other until the end."""
        kinds = self.kinds
        while time.monotonic() < end:
            name = self.chance.choice(list(kinds))
            try:
                await kinds[name]()
                self.counts[name] += 1
            except asyncio.TimeoutError:
                self.problems.append(f"{name}: neither answered nor closed within {self.patience:g} seconds")
            except (OSError, EOFError):
                self.counts["not connected"] += 1  # the server is being restarted
                await asyncio.sleep(0.2)
            await asyncio.sleep(self.chance.expovariate(1 / pause))


async def run(bad: Bad, seconds: float, clients: int, idle: int, pause: float) -> None:
    """Be as many bad clients at a time, and as many that only connect."""
    if sys.platform == "linux" and bad.host == "127.0.0.1":
        bad.local = OTHER_ADDRESS
    end = time.monotonic() + seconds

    async def stay_idle() -> None:
        while time.monotonic() < end:
            with suppress(OSError, asyncio.TimeoutError):
                await bad.idle()
                bad.counts["idle"] += 1
            await asyncio.sleep(0.2)

    await asyncio.gather(*(bad.be_bad(end, pause) for _ in range(clients)), *(stay_idle() for _ in range(idle)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("address")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--clients", type=int, default=20)
    options.add_argument("--idle", type=int, default=200, help="clients that only connect")
    options.add_argument("--pause", type=float, default=1.0, help="mean seconds between two bad clients")
    options.add_argument("--patience", type=float, default=180.0, help="seconds that the server may take")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    url = urlsplit(given.address)
    bad = Bad(url.hostname or "127.0.0.1", url.port or 80, random.Random(given.seed), given.patience)
    asyncio.run(run(bad, given.seconds, given.clients, given.idle, given.pause))
    json.dump({"counts": bad.counts, "problems": bad.problems}, sys.stdout)


if __name__ == "__main__":
    main()
