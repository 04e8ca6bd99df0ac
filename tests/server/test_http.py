"""The HTTP layer of a real server: what bad clients send, how much, and how slowly."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from tests.patience import wait_until
from tests.server.conftest import Answer, Server, memory_of, read_all, responses, running

BODY = json.dumps({"text": "A fox."}).encode()
HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
POST = b"POST /parse HTTP/1.1\r\n" + HOST + JSON
ASK = POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
HEALTH = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
LAST = b"GET /health HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n"


def is_error(answer: Answer) -> bool:
    """Whether an answer is the documented JSON."""
    kind = (
        answer.headers["Content-Type"] == "application/json" and answer.headers["X-Content-Type-Options"] == "nosniff"
    )
    return kind and list(answer.json) == ["error"] and bool(answer.json["error"])


@pytest.fixture(scope="module")
def patient(model: Path) -> Iterator[Server]:
    """A server that waits for headers and requests as long as it takes."""
    with running(model, "--header-timeout", "600", "--idle-timeout", "600") as server:
        yield server


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (b"nonsense\r\n\r\n", 400, "not a request in HTTP/1.1"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 400, "not a request in HTTP/1.1"),  # TLS
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, ""),
        (b"GET /health HTTP/1.1\r\n\r\n", 400, "Host"),
        (b"GET /health HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400, "Host"),
        (b"GET /health HTTP/1.1\r\n" + HOST + b"Host: evil.example\r\n\r\n", 400, "Host"),
        (LAST[:-2] + b"Origin: http://localhost\r\n" * 2 + b"\r\n", 400, "Origin"),
        (b"GET http://evil.example/health HTTP/1.1\r\n" + HOST + b"\r\n", 400, "not a path"),
        (b"GET http://localhost/health HTTP/1.1\r\n" + HOST + b"\r\n", 400, "not a path"),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", 400, "not a path"),
        (b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n", 400, "not a path"),
        (b"GET /health HTTP/1.1\r\n" + HOST + b"A b: c\r\n\r\n", 400, "not a request"),
        (b"GET /health HTTP/1.1\r\n" + HOST + b"A: \0\r\n\r\n", 400, "not a request"),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n12", 400, "Content-Length"),
        (POST + b"Content-Length: -1\r\n\r\n", 400, "Content-Length"),
        (POST + b"Content-Length: 1" + b"0" * 5000 + b"\r\n\r\n", 400, "Content-Length"),
        (POST + b"Transfer-Encoding: rot13\r\n\r\n", 501, "Transfer-Encoding"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nx\r\n", 400, "not a request"),
        (b"GET /" + b"a" * 16_400 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 431, "16,384 bytes"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"a" * 16_400 + b"\r\n\r\n", 431, "16,384 bytes"),
    ],
)
def test_every_error_is_json(patient: Server, sent: bytes, status: int, message: str) -> None:
    [answer] = patient.send(sent)
    assert (answer.status, is_error(answer), answer.headers["Connection"]) == (status, True, "close")
    assert message in answer.json["error"]


def endless(connection: socket.socket, begin: bytes, more: bytes, most: int = 64_000_000) -> tuple[int, bytes]:
    """Send something endless until the server closes the connection. Return how much was sent, and the response."""
    connection.sendall(begin)
    sent = 0
    try:
        while sent < most:
            connection.sendall(more)
            sent += len(more)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return sent, read_all(connection)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"GET /", b"a" * 65_536),
        (b"GET / HTTP/1.1\r\nA: ", b"a" * 65_536),
        (b"GET / HTTP/1.1\r\n", b"A: b\r\n" * 10_000),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a" * 65_536),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n", b"A: b\r\n" * 10_000),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1;" + b"a" * 1000 + b"\r\n1\r\n"),
        (POST + b"Content-Length: 100000000\r\n\r\n", b"a" * 65_536),
    ],
    ids=["url", "header", "headers", "extension", "trailers", "chunks", "body"],
)
def test_what_is_endless_takes_no_memory(patient: Server, begin: bytes, more: bytes) -> None:
    before = memory_of(patient)
    with patient.connect() as connection:
        sent, received = endless(connection, begin, more)
    assert sent < 64_000_000
    assert memory_of(patient) <= before + 20
    for answer in responses(received):  # it may have been lost with the connection
        assert (answer.status in (413, 431), is_error(answer)) == (True, True)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_requests_that_are_not_waited_for_take_no_memory(patient: Server) -> None:
    before = memory_of(patient)
    with ExitStack() as stack:
        for _ in range(50):
            connection = stack.enter_context(patient.connect())
            connection.settimeout(0.05)
            try:
                for _ in range(100):
                    connection.sendall(HEALTH * 2000)
            except (TimeoutError, ConnectionResetError, BrokenPipeError):  # the server reads no more
                pass
        assert memory_of(patient) <= before + 100
        assert patient.ask("GET", "/health").status == 200


def test_requests_in_a_row(patient: Server) -> None:
    answers = patient.send(ASK + HEALTH, ASK[:70], ASK[70:] + HEALTH * 300 + LAST)
    kinds = ["sentences" if "sentences" in answer.json else "status" for answer in answers]
    assert kinds == ["sentences", "status", "sentences", *["status"] * 301]
    assert {answer.status for answer in answers} == {200}


def test_a_request_byte_by_byte(patient: Server) -> None:
    [answer, last] = patient.send(*(ASK[n : n + 1] for n in range(len(ASK))), LAST)
    assert (answer.status, last.status) == (200, 200)


def test_a_client_that_ends_its_side_gets_its_answer(patient: Server) -> None:
    [answer] = patient.send(ASK, then_ends=True)
    assert (answer.status, len(answer.json["sentences"])) == (200, 1)
    answers = patient.send(ASK, HEALTH, then_ends=True)
    assert [answer.status for answer in answers] == [200, 200]
    assert patient.send(then_ends=True) == []


@pytest.mark.parametrize("sent", [b"GET", HEALTH[:-2], ASK[:-1], POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n"])
def test_a_client_that_ends_its_side_too_early(patient: Server, sent: bytes) -> None:
    [answer] = patient.send(sent, then_ends=True)
    assert (answer.status, is_error(answer)) == (400, True)
    assert "not complete" in answer.json["error"]


def test_an_answer_before_the_end_of_the_request(patient: Server) -> None:
    """A client that is still sending can read why it should stop."""
    [answer] = patient.send(POST + b"Content-Length: 2000000\r\n\r\n", b"a" * 60_000)
    assert (answer.status, is_error(answer), answer.headers["Connection"]) == (413, True, "close")
    [answer] = patient.send(b"GET /health HTTP/1.1\r\nContent-Length: 9\r\n" + HOST + b"\r\n")
    assert (answer.status, answer.headers["Connection"]) == (200, "close")


def test_chunks(patient: Server) -> None:
    def chunked(size: int, spaces: int) -> bytes:
        body = BODY + b" " * spaces
        parts = (body[n : n + size] for n in range(0, len(body), size))
        return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"

    head = POST + b"Transfer-Encoding: chunked\r\n\r\n"
    for size, spaces in ((1, 0), (1, 900), (100, 100_000)):
        [answer, last] = patient.send(head + chunked(size, spaces) + LAST)
        assert (answer.status, last.status) == (200, 200)
    [answer] = patient.send(head + chunked(1, 1100))
    assert (answer.status, is_error(answer)) == (413, True)
    assert "too many small chunks" in answer.json["error"]


def test_continue(patient: Server) -> None:
    with patient.connect() as connection:
        connection.sendall(POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n")
        connection.sendall(BODY + LAST)
        assert [answer.status for answer in responses(read_all(connection))] == [200, 200]


def test_an_upgrade_is_ignored(patient: Server) -> None:
    """Java's client offers HTTP/2 with its first request."""
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"
    answers = patient.send(ASK.replace(JSON, JSON + offer) + LAST)
    assert [answer.status for answer in answers] == [200, 200]


def test_other_versions_and_methods(patient: Server) -> None:
    [answer] = patient.send(HEALTH.replace(b"1.1", b"1.0"))
    assert answer.status == 200
    with patient.connect() as connection:
        connection.sendall(LAST.replace(b"GET", b"HEAD"))
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert (head.split()[1], body) == (b"405", b"")
    with patient.connect() as connection:
        connection.sendall(b"HEAD http://localhost/ HTTP/1.1\r\n" + HOST + b"\r\n")
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert (head.split()[1], body) == (b"400", b"")


def test_slow_headers(model: Path) -> None:
    with running(model, "--header-timeout", "0.3", "--idle-timeout", "600") as server:
        for sent in (b"G", HEALTH[:-2]):
            [answer] = server.send(sent)
            assert (answer.status, is_error(answer)) == (408, True)
            assert answer.json["error"] == "the headers did not arrive within 0.3 seconds"
        [first, second] = server.send(HEALTH + HEALTH[:-2])
        assert (first.status, second.status) == (200, 408)


def test_idle_connections(model: Path) -> None:
    with running(model, "--header-timeout", "600", "--idle-timeout", "0.3") as server:
        assert server.send() == []
        [answer] = server.send(HEALTH)
        assert answer.status == 200


@pytest.mark.parametrize("sent", [b"", HEALTH[:-2], ASK[:-1]], ids=["idle", "headers", "body"])
def test_those_who_say_nothing_lock_nobody_out(patient: Server, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(600):
            stack.enter_context(patient.connect()).sendall(sent)
        assert patient.ask("GET", "/health").status == 200
        assert patient.parse({"text": "A fox."}).status == 200


def test_a_connection_that_makes_room_is_told_so(model: Path) -> None:
    options = ("--header-timeout", "600", "--idle-timeout", "600", "--max-connections", "2")
    with running(model, *options) as server, server.connect() as incomplete:
        incomplete.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n")
        assert incomplete.recv(100).startswith(b"HTTP/1.1 100 ")  # so it has begun
        incomplete.setblocking(False)
        received: list[bytes] = []

        def is_told() -> bool:
            with server.connect() as other:  # stays open, so that the first connection has to make room for the next
                other.sendall(HEALTH)
                assert other.recv(1) == b"H"
                assert server.ask("GET", "/health").status == 200
                with suppress(BlockingIOError):
                    received.append(incomplete.recv(1 << 16))
            return bool(received)

        wait_until(is_told)
        [answer] = responses(received[0])
        assert (answer.status, is_error(answer), answer.headers["Retry-After"]) == (503, True, "1")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of other processes")
def test_few_files(model: Path) -> None:
    """There are never more connections than the process may have files."""
    code = (
        "import resource, runpy; resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120)); "
        "runpy.run_module('easyfirst', run_name='__main__')"
    )
    command = [sys.executable, "-c", code, "serve", "--model", str(model), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        server = Server(process, process.stdout.readline().split(" at ")[1].split()[0])
        with ExitStack() as stack:
            for _ in range(300):
                stack.enter_context(server.connect())
            assert server.ask("GET", "/health").status == 200
        assert server.stop() == (0, "stopped\n", "")


def test_the_incomplete_does_not_delay_the_end(model: Path) -> None:
    options = ("--header-timeout", "600", "--idle-timeout", "600")
    with running(model, *options) as server, ExitStack() as stack:
        sent = (b"", HEALTH[:-2], ASK[:-1])
        connections = [stack.enter_context(server.connect()) for _ in sent]
        for connection, data in zip(connections, sent, strict=True):
            connection.sendall(data)
        assert server.ask("GET", "/health").status == 200
        assert server.stop() == (0, "stopped\n", "")
        idle, *others = map(read_all, connections)
        assert idle == b""
        for [answer] in map(responses, others):
            assert (answer.status, is_error(answer)) == (503, True)
            assert answer.json["error"] == "the server is shutting down"


DOCS = b"GET /docs HTTP/1.1\r\n" + HOST + b"\r\n"


def never_reading(server: Server) -> socket.socket:
    """Ask for so much that the responses do not fit into the buffers of the system, and read nothing."""
    connection = server.connect()
    connection.setblocking(False)
    wanted = DOCS * 1000
    with suppress(BlockingIOError):
        while wanted:
            wanted = wanted[connection.send(wanted) :]
    return connection


def n_files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="files are counted in /proc")
def test_a_client_that_does_not_read_is_cut_off(model: Path) -> None:
    with running(model, "--timeout", "0.5") as server:
        before = n_files(server)
        connections = [never_reading(server) for _ in range(3)]
        wait_until(lambda: n_files(server) == before + 3)
        wait_until(lambda: n_files(server) == before)
        for connection in connections:
            connection.close()


def test_a_client_that_does_not_read_does_not_delay_the_end(model: Path) -> None:
    with running(model) as server:
        connection = never_reading(server)
        assert server.ask("GET", "/health").status == 200
        assert server.stop() == (0, "stopped\n", "")
        connection.close()
