"""The campaign of the server finds what it looks for."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from bench import report
from bench.campaign.bad_clients import Bad
from bench.campaign.good_clients import Case, Connection, Tally, _get_answer, cases_of
from bench.campaign.server import Campaign
from bench.campaign.server_process import ServerUnderTest
from easyfirst.parser import Parser
from tests.small_models import small_model, small_tagger, small_tokenizer

PARSER = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
CASES = cases_of(PARSER, [["A", "fox", "jumps", "."], ["It", "likes", "apples"]], seed=1, n=8)


def answer_to(case: Case) -> bytes:
    return json.dumps({"model": {}, "sentences": case.expected, "warnings": case.warnings}).encode()


def response(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d Some\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body


def test_a_changed_digit_is_a_problem() -> None:
    for case in CASES:
        assert case.problem(answer_to(case)) is None
    [case, *_] = (case for case in CASES if not case.is_large)
    found = json.loads(answer_to(case))
    found["sentences"][0]["words"][0]["head"] += 1
    assert "differ from the library's" in str(case.problem(json.dumps(found).encode()))
    assert case.problem(b"{") is not None
    assert case.problem(b"{}") is not None


@pytest.mark.parametrize(
    ("replies", "counts"),
    [
        ([200], {"answered": 1}),
        ([503, 503, 200], {"refused": 2, "answered": 1}),
        ([0, 200], {"reconnected": 1, "answered": 1}),
        ([0, 0, 0], {"reconnected": 3, "lost": 1}),
        ([504], {"lost": 1}),
        ([-200], {"wrong": 1}),
    ],
)
def test_what_good_clients_count(replies: list[int], counts: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers with these statuses; 0: it closes the connection; negative: with a wrong answer."""
    case = CASES[0]
    rest: Iterator[int] = iter(replies)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(len(case.body))
            status = next(rest)
            if status == 0:
                break
            body = answer_to(case) if status == 200 else b"{}"
            writer.write(response(abs(status), body))
            if status != 503:
                break
        writer.close()

    async def main() -> Tally:
        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        server = ServerUnderTest("none", 60.0, port=listening.sockets[0].getsockname()[1])
        server.is_up.set()
        tally, connection = Tally(), Connection(server.port)
        await _get_answer(server, connection, case, tally)
        connection.close()
        listening.close()
        return tally

    tally = asyncio.run(main())
    del tally.counts["requests"]
    assert {kind: n for kind, n in tally.counts.items() if n} == counts
    assert len(tally.problems) == tally.counts["lost"] + tally.counts["wrong"]


@pytest.mark.parametrize(
    ("received", "is_right"),
    [
        (b"", True),
        (response(400, b'{"error": "x"}'), True),
        (response(503, b'{"error": "x"}'), True),
        (response(200, b"{}"), False),
        (response(400, b"Bad Request"), False),
        (response(400, b'{"detail": "x"}'), False),
        (b"nonsense", False),
    ],
)
def test_what_bad_clients_accept(received: bytes, is_right: bool) -> None:
    bad = Bad("127.0.0.1", 1, random.Random(1))
    bad.check(received, (400,))
    assert (bad.problems == []) == is_right


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.skipif(PARSER.engine == "numpy", reason="scores depend on batches")
def test_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    PARSER.save(tmp_path / "model")
    campaign = Campaign(
        ServerUnderTest(str(tmp_path / "model"), 600.0), CASES, 12.0, 5, pause=0.1, restart_every=0.5, seed=1
    )
    asyncio.run(campaign.run(bad_clients=3, idle=3))
    assert campaign.problems == []
    campaign.write("model")
    found = json.loads((tmp_path / "campaign_server.json").read_text())
    assert found["requests"]["answered"] == found["requests"]["requests"] > 0
