"""The API of a real server: what it answers, and what it refuses and how it says so."""

from __future__ import annotations

import http.client
import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

import uvicorn

from easyfirst import __version__
from easyfirst.cli.info import describe
from easyfirst.errors import ConstraintError, DataError, EasyFirstError, InputError, ModelError
from easyfirst.parser import Parser
from easyfirst.server.app import create_app
from easyfirst.server.limits import Limits
from easyfirst.server.running import address_of, bind, protocol_of
from tests.patience import PATIENCE, wait_until
from tests.server.conftest import Server, running
from tests.small_models import small_model, small_tagger, small_tokenizer


def test_parse(server: Server, parser: Parser) -> None:
    answer = server.parse({"text": "The fox jumps. It likes apples."})
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    found = answer.json
    assert found["model"] == {"name": "whole", "easyfirst_version": __version__}
    document = parser("The fox jumps. It likes apples.")
    trees = [(parse.heads, parse.relations) for parse in document]
    answered = [
        (tuple(word["head"] for word in sentence["words"]), tuple(word["relation"] for word in sentence["words"]))
        for sentence in found["sentences"]
    ]
    assert answered == trees
    [sentence] = server.parse({"tokens": [["猫", "👍🏽"]]}).json["sentences"]
    assert [word["form"] for word in sentence["words"]] == ["猫", "👍🏽"]


def test_browsers_get_a_page_about_the_model(server: Server) -> None:
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    answer = server.ask("GET", "/model", headers={"Accept": accept})
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<h1>The model whole</h1>" in answer.body.decode()
    for accept in ("application/json", "*/*", "application/json, text/html"):
        assert server.ask("GET", "/model", headers={"Accept": accept}).headers["Content-Type"] == "application/json"


def test_another_model(model: Path, tagged_model: Path) -> None:
    with running(model, "--also", str(tagged_model)) as server:
        body = {"tokens": [[["a", "X"], ["b", "X"]]]}
        for name, asked in (
            ("whole", body),
            ("whole", {**body, "model": "whole"}),
            ("xpos", {**body, "model": "xpos"}),
        ):
            answer = server.parse(asked)
            assert (answer.status, answer.json["model"]["name"]) == (200, name)
        assert server.parse({"text": "a", "model": "xpos"}).status == 422
        assert "The model xpos" in server.ask("GET", "/model", headers={"Accept": "text/html"}).body.decode()


def test_all_installed_models(model: Path) -> None:
    with running(model, "--installed") as server:
        for asked, name in (({}, "whole"), ({"model": "en"}, "en")):
            answer = server.parse({"text": "The fox jumps.", **asked})
            assert (answer.status, answer.json["model"]["name"]) == (200, name)


def test_health_and_model(server: Server, model: Path) -> None:
    health = {"status": "ok", "model": "whole", "easyfirst_version": __version__, "waiting": 0}
    assert server.ask("GET", "/health").json == health
    assert server.ask("GET", "/model").json == describe(model) | {"path": "whole"}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "the body is not JSON"),
        (b'{"text"', 400, "the body is not JSON"),
        (b"text=A+fox", 400, "the body is not JSON"),
        (b'{"text": NaN}', 400, "the body is not JSON"),
        (b'{"text": "\xff"}', 400, "the body is not JSON"),
        (b'{"text": "\\ud800"}', 400, "half of a pair of surrogates is no character"),
        (b"[" * 20_000, 400, "the body is not JSON"),
        (b"[]", 422, "the body is a list; send an object"),
        (b"{}", 422, "give one of text, sentences, tokens and conllu, not none"),
        (b'{"text": "a", "tokens": []}', 422, "not text and tokens"),
        (b'{"txt": "a"}', 422, "unknown key 'txt'"),
        (b'{"text": "a", "includes": ["svg"]}', 422, "and beside it constraints, include, width, show, first or model"),
        (b'{"text": null}', 422, "text is null; give a string"),
        (b'{"text": ["a"]}', 422, "text is a list; give a string"),
        (b'{"text": "a\\u0000b"}', 422, "text has a NUL character"),
        (b'{"sentences": "a"}', 422, "sentences is a string; give a list of texts"),
        (b'{"sentences": ["a", true]}', 422, "sentence 2 is a boolean; give a string"),
        (b'{"sentences": ["a", "\\u0000"]}', 422, "sentence 2 has a NUL character"),
        (b'{"tokens": {"a": 1}}', 422, "tokens is an object; give a list of lists of words"),
        (b'{"tokens": ["a"]}', 422, "sentence 1 is the text 'a'"),
        (b'{"tokens": [1.5]}', 422, "sentence 1 is of type float"),
        (b'{"tokens": [["a"], []]}', 422, "sentence 2 has no words"),
        (b'{"tokens": [["a", ""]]}', 422, "sentence 1: word 2 has an empty form"),
        (b'{"tokens": [["a\\tb"]]}', 422, "a tab or a line end"),
        (b'{"tokens": [["a\\u0000"]]}', 422, "sentence 1 has a NUL character"),
        (b'{"tokens": [["a", ["b", "X"]]]}', 422, "sentence 1: word 2 is ['b', 'X']"),
        (b'{"tokens": [[["a", "X"], ["b", "X", "Y"]]]}', 422, "all alike"),
        (b'{"tokens": [[["a", "X\\n", null]]]}', 422, "a tab or a line end"),
        (b'{"tokens": [[["a", "\\u0000", null]]]}', 422, "sentence 1 has a NUL character"),
        (json.dumps({"tokens": [["a"] * 101]}).encode(), 422, "sentence 1 has 101 words; this server takes up to 100"),
        (json.dumps({"tokens": [["a"] * 100] * 31}).encode(), 413, "has 3,100 words; this server takes up to 3,000"),
        (json.dumps({"text": "a " * 3001}).encode(), 413, "has at least 3,001 words"),
        (b'{"text": "' + b"a" * 40_000 + b'"}', 413, "the body has more than 40,000 bytes"),
    ],
)
def test_bad_input(server: Server, body: bytes, status: int, message: str) -> None:
    answer = server.parse(body)
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/json")
    assert list(answer.json) == ["error"]
    assert message in answer.json["error"]
    assert len(answer.json["error"]) <= 600


def test_a_chunked_body_is_bounded_too(server: Server) -> None:
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=PATIENCE)
    connection.request("POST", "/parse", iter([b"x" * 30_000] * 2), {"Content-Type": "application/json"})
    assert connection.getresponse().status == 413
    connection.close()


def test_other_mistakes(server: Server) -> None:
    answer = server.ask("POST", "/parse", b"{}", {"Content-Type": "text/plain"})
    assert (answer.status, "send JSON" in answer.json["error"]) == (415, True)
    answer = server.ask("GET", "/parse")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert answer.json == {"error": "/parse does not support GET; see /docs"}
    answer = server.ask("GET", "/nowhere")
    assert (answer.status, answer.json) == (404, {"error": "there is nothing at /nowhere; see /docs"})


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:1", None, 200),
        ("127.0.0.1", None, 200),
        ("[::1]:8000", None, 200),
        ("10.1.2.3", None, 200),
        ("LOCALHOST:99", "http://localhost:99", 200),
        ("localhost", "http://localhost", 200),
        ("localhost:80", "http://localhost", 200),
        ("localhost", "https://localhost:443", 200),
        ("10.1.2.3:7", "http://10.1.2.3:7", 200),
        ("[::1]:7", "http://[::1]:7", 200),
        ("evil.example", None, 421),
        ("localhost.evil.example", None, 421),
        ("localhost/evil.example", None, 421),
        ("localhost?evil.example", None, 421),
        ("evil.example#localhost", None, 421),
        ("user@localhost", None, 421),
        ("localhost:", None, 421),
        ("localhost:1:2", None, 421),
        ("local host", None, 421),
        ("", None, 421),
        ("[::1", None, 421),
        ("localhost", "http://evil.example", 403),
        ("localhost", "http://10.1.2.3", 403),
        ("localhost", "http://user@localhost", 403),
        ("localhost", "http://localhost/", 403),
        ("localhost", "ftp://localhost", 403),
        ("localhost", "localhost", 403),
        ("localhost", "null", 403),
        ("localhost:8000", "http://localhost:8001", 403),
        ("localhost:8000", "http://localhost", 403),
        ("localhost:8000", "http://127.0.0.1:8000", 403),
    ],
)
def test_hosts_and_origins(server: Server, host: str, origin: str | None, status: int) -> None:
    headers = {"Host": host} | ({"Origin": origin} if origin else {})
    for method, path, body in (("GET", "/health", None), ("POST", "/parse", {"text": "A fox."})):
        answer = server.ask(method, path, body, headers)
        assert answer.status == status
        assert ("error" in answer.json) == (status != 200)


def test_every_answer_has_strict_rules(server: Server) -> None:
    for path in ("/", "/docs", "/health", "/nowhere"):
        headers = server.ask("GET", path).headers
        rules = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
        assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
        assert rules["form-action"] == "'self'"
        assert re.fullmatch(r"'sha256-[\w+/=]+'", rules["script-src"])
        assert re.fullmatch(r"'sha256-[\w+/=]+'", rules["style-src"])
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Server" not in headers


def test_openapi_and_its_page(server: Server) -> None:
    description = server.ask("GET", "/openapi.json").json
    assert set(description["paths"]) == {"/parse", "/model", "/health"}
    page = server.ask("GET", "/docs").body.decode()
    for text in ("POST /parse", "GET /health", "ParseResponse", "3,000 words", "Retry-After"):
        assert text in page
    addresses = re.findall(r"""(?:src|href|action)=["']?([^"'> ]*)""", page)
    assert {address[:1] for address in addresses} <= {"/", "#", "d"}
    assert "//" not in " ".join(addresses)
    anchors = {address[1:] for address in addresses if address.startswith("#")}
    assert anchors <= set(re.findall(r'id="([^"]*)"', page))
    for example in description["paths"]["/parse"]["post"]["requestBody"]["content"]["application/json"][
        "examples"
    ].values():
        assert server.parse(example["value"]).status == 200


def test_a_model_that_needs_tags(tagged_model: Path) -> None:
    with running(tagged_model) as server:
        answer = server.parse({"text": "A fox."})
        assert (answer.status, "has no tokenizer" in answer.json["error"]) == (422, True)
        answer = server.parse({"tokens": [["A", "fox"]]})
        assert (answer.status, "needs XPOS tags" in answer.json["error"]) == (422, True)
        answer = server.parse({"tokens": [[["A", "DT"], ["fox", "NN"]]]})
        assert [word["xpos"] for word in answer.json["sentences"][0]["words"]] == ["DT", "NN"]
        page = server.ask("GET", "/").body.decode()
        assert page.count("<option ") == 2
        answer = server.ask("POST", "/", b"text=A+fox&kind=tokens")
        assert (answer.status, "needs XPOS tags" in answer.body.decode()) == (422, True)


def test_a_slow_body(model: Path) -> None:
    with running(model, "--timeout", "0.3") as server:
        url = urlsplit(server.address)
        with socket.create_connection((url.hostname, url.port), timeout=PATIENCE) as connection:
            head = f"POST /parse HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: 9\r\n\r\n{{"
            connection.sendall(head.encode())
            answer = connection.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 408 ")


class Gated(Parser):
    """A parser that waits for its gate, and raises its error if it has one."""

    def __init__(self) -> None:
        super().__init__(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
        self.gate, self.has_begun = threading.Event(), threading.Event()
        self.server: uvicorn.Server
        self.tokenized: list[str] = []
        self.turns: threading.Semaphore | None = None  # the batches and slices that may be parsed
        self.error: Exception | None = None

    def tokenize(self, texts: Any, **options: Any) -> Any:
        self.tokenized += texts
        return super().tokenize(texts, **options)

    def parse_prepared(self, prepared: Any, **options: Any) -> Any:
        self.has_begun.set()
        assert self.gate.wait(PATIENCE)
        if self.turns is not None:
            assert self.turns.acquire(timeout=PATIENCE)
        if self.error is not None:
            raise self.error
        return super().parse_prepared(prepared, **options)


@contextmanager
def serving_gated(timeout: float, *, max_bytes: int = 1000, max_connections: int = 3) -> Iterator[tuple[Gated, Server]]:
    """Run a server in this process, with room for two requests, and for one connection more."""
    parser = Gated()
    limits = Limits(max_waiting=2, timeout=timeout, max_bytes=max_bytes, max_connections=max_connections)
    app = create_app(parser, name="gated", facts={}, limits=limits)
    listening = bind("localhost", 0)
    server = uvicorn.Server(uvicorn.Config(app, http=protocol_of(app, limits), log_config=None, lifespan="on"))
    parser.server = server
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield parser, Server(None, address_of(listening))  # type: ignore[arg-type]
    parser.gate.set()
    server.should_exit = True
    thread.join(PATIENCE)
    listening.close()
    assert not thread.is_alive()


@pytest.fixture
def gated() -> Iterator[tuple[Gated, Server]]:
    with serving_gated(PATIENCE) as (parser, server):
        yield parser, server


def test_too_many(gated: tuple[Gated, Server]) -> None:
    parser, server = gated
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(server.parse, {"text": "A fox."}) for _ in range(2)]
        wait_until(lambda: server.ask("GET", "/health").json["waiting"] == 2)
        refused = server.parse({"text": "A fox."})
        assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
        assert "2 requests are waiting already" in refused.json["error"]
        page = server.ask("POST", "/", b"text=A+fox")
        assert (page.status, "waiting already" in page.body.decode()) == (503, True)
        parser.gate.set()
        assert [future.result().status for future in waiting] == [200, 200]


def test_a_small_request_waits_for_one_slice_of_a_large_one() -> None:
    with serving_gated(PATIENCE, max_bytes=100_000) as (parser, server), ThreadPoolExecutor(2) as pool:
        parser.gate.set()
        parser.turns = threading.Semaphore(0)
        large = pool.submit(server.parse, {"tokens": [["fox"] * 100] * 50})  # ten slices
        assert parser.has_begun.wait(PATIENCE)
        small = pool.submit(server.parse, {"tokens": [["A", "fox"]]})
        wait_until(lambda: server.ask("GET", "/health").json["waiting"] == 2)
        parser.turns.release(2)  # the slice that has begun, and the small request
        assert small.result().status == 200
        assert not large.done()
        parser.turns.release(1000)
        assert len(large.result().json["sentences"]) == 50


def test_a_connection_too_many(gated: tuple[Gated, Server]) -> None:
    parser, server = gated
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(server.parse, {"text": "A fox."}) for _ in range(2)]
        wait_until(lambda: server.ask("GET", "/health").json["waiting"] == 2)
        third = server.connect()
        third.setblocking(False)

        def has_made_room() -> bool:
            """Ask over another connection. The third one is closed for it, unless an older one was."""
            try:
                return server.ask("GET", "/health").status == 200 and third.recv(1 << 16) == b""
            except (BlockingIOError, ConnectionResetError) as error:
                return isinstance(error, ConnectionResetError)

        try:
            wait_until(has_made_room)
        finally:
            parser.gate.set()
            third.close()
        assert [future.result().status for future in waiting] == [200, 200]


def test_a_client_that_is_gone_is_not_answered(gated: tuple[Gated, Server]) -> None:
    parser, server = gated
    body = json.dumps({"text": "A fox."}).encode()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(server.parse, {"text": "A fox."})
        assert parser.has_begun.wait(PATIENCE)
        gone = server.connect()
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # resets the connection
        head = (
            b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        )
        gone.sendall(head % len(body) + body)
        wait_until(lambda: server.ask("GET", "/health").json["waiting"] == 2)
        gone.close()
        wait_until(lambda: len(parser.server.server_state.connections) == 1)
        parser.tokenized.clear()
        parser.gate.set()
        assert first.result().status == 200
        wait_until(lambda: server.ask("GET", "/health").json["waiting"] == 0)
    assert parser.tokenized == []


def test_no_connection_can_make_room() -> None:
    with serving_gated(PATIENCE, max_connections=1) as (parser, server), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.parse, {"text": "A fox."})
        assert parser.has_begun.wait(PATIENCE)
        refused = server.ask("GET", "/health")
        assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
        assert refused.json == {"error": "too many connections are open already; try again in a moment"}
        parser.gate.set()
        assert waiting.result().status == 200


def test_too_slow() -> None:
    with serving_gated(0.2) as (parser, server):
        wait_until(lambda: server.parse({"text": "A fox."}).status == 504)  # 408 if the body arrived too late
        assert "within 0.2 seconds" in server.parse({"text": "A fox."}).json["error"]
        parser.gate.set()
        wait_until(lambda: server.parse({"text": "A fox."}).status == 200)


@pytest.mark.parametrize("error", [InputError("a fault"), DataError("a fault"), ConstraintError("a fault")])
def test_a_fault_of_the_input(gated: tuple[Gated, Server], error: EasyFirstError) -> None:
    parser, server = gated
    parser.gate.set()
    parser.error = error
    answer = server.parse({"text": "A fox."})
    assert (answer.status, answer.json) == (422, {"error": "a fault"})
    page = server.ask("POST", "/", b"text=A+fox")
    assert (page.status, "a fault</p>" in page.body.decode()) == (422, True)


def test_a_failure_of_the_server(gated: tuple[Gated, Server]) -> None:
    parser, server = gated
    parser.gate.set()
    parser.error = ModelError("its weights are no good")
    answer = server.parse({"text": "A fox."})
    assert (answer.status, answer.json) == (500, {"error": "its weights are no good"})
    parser.error = ZeroDivisionError()
    answer = server.parse({"text": "A fox."})
    assert (answer.status, answer.json) == (500, {"error": "something went wrong in the server; its log says what"})
    parser.error = None
    assert server.parse({"text": "A fox."}).status == 200
