"""Servers as real processes, with small models."""

from __future__ import annotations

import http.client
import io
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from easyfirst.parser import Parser
from tests.commands import Run, run_here
from tests.patience import PATIENCE
from tests.render.browser import Browser, find_browser
from tests.server.workbenches import REFUSED, drawn
from tests.small_models import small_model, small_tagger, small_tokenizer

JSON = {"Content-Type": "application/json"}


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """A running server."""

    process: subprocess.Popen[str]
    address: str

    def ask(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Answer:
        """Send a request. A body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=PATIENCE)
        try:
            if body is not None and not isinstance(body, bytes):
                body, headers = json.dumps(body).encode(), {**JSON, **(headers or {})}
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def parse(self, body: object, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("POST", "/parse", body, JSON | (headers or {}))

    def connect(self) -> socket.socket:
        """Open a connection."""
        url = urlsplit(self.address)
        return socket.create_connection((url.hostname, url.port), timeout=PATIENCE)

    def send(self, *parts: bytes, then_ends: bool = False) -> list[Answer]:
        """Send bytes over one connection, and read all responses until the server closes it."""
        with self.connect() as connection:
            for part in parts:
                connection.sendall(part)
            if then_ends:
                connection.shutdown(socket.SHUT_WR)
            return responses(read_all(connection))

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Stop the server by a signal, and return its exit code and its output since it started."""
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output, errors


def memory_of(server: Server) -> int:
    """Return the resident memory of a server in megabytes (on Linux)."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024


def read_all(connection: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    received = b""
    try:
        while data := connection.recv(1 << 16):
            received += data
    except ConnectionResetError:
        pass
    return received


def responses(received: bytes) -> list[Answer]:
    """Split what was received over one connection into responses, each with a Content-Length."""
    found: list[Answer] = []
    stream = io.BytesIO(received)
    while line := stream.readline():
        status = int(line.split()[1])
        headers = http.client.parse_headers(stream)
        if status != 100:
            found.append(Answer(status, headers, stream.read(int(headers["Content-Length"]))))
    return found


@contextmanager
def running(model: Path | str, *options: str) -> Iterator[Server]:
    """Run a server, which must print nothing but that it has stopped, and must end well. Requests may take long."""
    arguments = ["--model", str(model), "--port", "0", "--no-open", "--timeout", str(PATIENCE), *options]
    command = [sys.executable, "-m", "easyfirst", "serve", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        try:
            assert " at http" in line, process.stderr.read()
            server = Server(process, line.split(" at ")[1].split()[0])
            yield server
            if process.poll() is None:
                assert server.stop() == (0, "stopped\n", "")
        finally:
            if process.poll() is None:
                process.kill()


@pytest.fixture(scope="session")
def parser() -> Parser:
    return Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, parser: Parser) -> Path:
    """A model that reads raw text."""
    path = tmp_path_factory.mktemp("models") / "whole"
    parser.save(path)
    return path


@pytest.fixture(scope="session")
def tagged_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that needs XPOS."""
    path = tmp_path_factory.mktemp("models") / "xpos"
    Parser(small_model("xpos")).save(path)
    return path


@pytest.fixture(scope="session")
def server(model: Path) -> Iterator[Server]:
    with running(model, "--max-words", "3000", "--max-sentence-words", "100", "--max-bytes", "40000") as server:
        yield server


@pytest.fixture(scope="session")
def run() -> Run:
    """The command in this process, which must end by itself."""
    return run_here


@pytest.fixture(scope="module")
def english() -> Iterator[Server]:
    with running("en") as server:
        yield server


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(str(find_browser()), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def page(chromium: Browser, english: Server) -> Iterator[Browser]:
    """The empty page, in a browser that remembers nothing."""
    chromium.open(english.address)
    chromium.evaluate("localStorage.clear()")
    chromium.open("about:blank")
    chromium.open(english.address)
    yield chromium
    assert set(chromium.complaints) <= {REFUSED}
    assert {url.partition("/")[0] for url in chromium.requests if not url.startswith(english.address)} <= {
        "data:,",
        "blob:http:",
        "data:image",
    }


@pytest.fixture
def saw(page: Browser) -> Browser:
    """The page with the first example: I saw the man with the telescope."""
    page.click("document.querySelector('.examples button')")
    drawn(page)
    return page
