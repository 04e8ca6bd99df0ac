"""Good clients: they send requests, compare each answer with what the library returns, and lose none.

A connection that the server closes before it has answered is opened again, as HTTP clients do. The request is lost if
that happens twice in a row while the server runs, if it takes too long, or if it was sent well before a graceful end of
the server.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.campaign.server_process import ServerUnderTest
from easyfirst.parser import Parser
from easyfirst.text.language import warning_of

SETTLED = 2.0  # the seconds after which a request that was sent has surely been received
LARGE_SHARE = 0.003  # of all requests
PATIENCE = 60.0  # the seconds that an answer may take besides the timeout of the server


@dataclass(frozen=True, slots=True)
class Case:
    """A request, and what the library makes of it."""

    body: bytes
    expected: Any  # the sentences
    warnings: list[str]
    is_large: bool

    def problem(self, answer: bytes) -> str | None:
        """Return what is wrong with an answer, if anything."""
        try:
            found = json.loads(answer)
            if set(found) != {"model", "sentences", "warnings"}:
                return f"the keys of the answer are {sorted(found)}"
            if found["sentences"] != self.expected:
                return f"the sentences differ from the library's: {self.body[:200]!r}"
            if found["warnings"] != self.warnings:
                return f"the warnings are {found['warnings']}, not {self.warnings}"
        except ValueError as error:
            return f"the answer is not JSON: {error}"
        return None


def cases_of(parser: Parser, sentences: Sequence[Sequence[str]], seed: int, n: int) -> list[Case]:
    """Make requests of all kinds and sizes from sentences."""
    chance = random.Random(seed)

    def some(least: int, most: int) -> list[list[str]]:
        return [list(chance.choice(sentences)) for _ in range(chance.randint(least, most))]

    def make(body: dict[str, Any], *, is_large: bool) -> Case:
        if "tokens" in body:
            parses = parser.parse(body["tokens"])
            found = [parse.to_dict() for parse in parses]
        else:
            texts = [body["text"]] if "text" in body else body["sentences"]
            documents = list(parser.read(texts, one_sentence="sentences" in body))
            parses = [parse for document in documents for parse in document]
            numbered = enumerate(documents, 1)
            found = [each for number, document in numbered for each in document.sentence_dicts(number)]
        language = parser.language
        problem = language.problem(language.count(parse.sentence for parse in parses))
        expected = json.loads(json.dumps(found))
        return Case(json.dumps(body).encode(), expected, [warning_of(problem)] if problem else [], is_large)

    def body(least: int, most: int) -> dict[str, Any]:
        chosen = some(least, most)
        match chance.choice(("tokens", "sentences", "text", "text")):
            case "tokens":
                return {"tokens": chosen}
            case "sentences":
                return {"sentences": [" ".join(words) for words in chosen]}
            case _:
                return {"text": chance.choice(("\n", " ", "\n\n")).join(" ".join(words) for words in chosen)}

    small = [make(body(1, 4), is_large=False) for _ in range(n)]
    large = [make(body(100, 300), is_large=True) for _ in range(max(2, n // 50))]
    words = [word for sentence in sentences for word in sentence][:1000]
    large.append(make({"tokens": [words] * 9}, is_large=True))  # the largest sentences
    large.append(make({"text": "." * 50_000}, is_large=True))
    return [*small, *large]


@dataclass
class Tally:
    """What happened to the requests."""

    counts: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])
    waits: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])  # when, seconds; small ones

    def fail(self, kind: str, problem: str) -> None:
        self.counts[kind] += 1
        self.problems.append(f"{kind}: {problem}")


class Connection:
    """A connection that is opened when it is needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, body: bytes) -> tuple[int, bytes]:
        """Return status and body of the answer. Raise an OSError or EOFError if there is none."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 26)
        reader, writer = self._streams
        head = (
            f"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        )
        writer.write(f"{head}\r\n\r\n".encode() + body)
        await writer.drain()
        headers = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(headers.partition(b"content-length:")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        if b"connection: close" in headers:
            self.close()
        return int(headers.split(None, 2)[1]), answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def be_good(
    server: ServerUnderTest, cases: Sequence[Case], tally: Tally, end: float, chance: random.Random, pause: float
) -> None:
    """Send requests until the end, one after the other, with a mean pause after each."""
    small = [case for case in cases if not case.is_large]
    large = [case for case in cases if case.is_large]
    connection = Connection(server.port)
    while time.monotonic() < end:
        case = chance.choice(large if chance.random() < LARGE_SHARE else small)
        await _get_answer(server, connection, case, tally)
        await asyncio.sleep(chance.expovariate(1 / pause))
    connection.close()


async def _get_answer(server: ServerUnderTest, connection: Connection, case: Case, tally: Tally) -> None:
    """Send a request until it is answered."""
    tally.counts["requests"] += 1
    patience = server.timeout + PATIENCE
    n_closed = 0
    while True:
        await server.is_up.wait()
        begin, life = time.monotonic(), server.life
        try:
            status, answer = await asyncio.wait_for(connection.ask(case.body), patience)
        except asyncio.TimeoutError:
            connection.close()
            tally.fail("lost", f"no answer within {patience:g} seconds: {case.body[:100]!r}")
            return
        except (OSError, EOFError) as error:
            connection.close()
            if not server.is_up.is_set() or server.life != life:
                sent_before = server.ended - begin
                if server.is_graceful and sent_before > SETTLED:
                    tally.fail("lost", f"sent {sent_before:.1f} s before a graceful end: {error!r}")
                    return
                tally.counts["interrupted"] += 1  # by a kill, and sent again
                n_closed = 0
                await asyncio.sleep(0.05)
                continue
            n_closed += 1
            tally.counts["reconnected"] += 1
            if n_closed > 2:
                tally.fail("lost", f"the connection was closed {n_closed} times: {error!r}")
                return
            continue
        if status == 503:
            tally.counts["refused"] += 1
            await asyncio.sleep(0.5)
            continue
        if status != 200:
            tally.fail("lost", f"status {status}: {answer[:300]!r}")
            return
        if problem := case.problem(answer):
            tally.fail("wrong", problem)
            return
        tally.counts["answered"] += 1
        tally.counts["large"] += case.is_large
        if not case.is_large:
            tally.waits.append((begin, time.monotonic() - begin))
        return
