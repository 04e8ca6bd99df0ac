"""``easyfirst serve``: how it starts, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from easyfirst.errors import ConfigError
from easyfirst.server.running import address_of, bind
from tests.commands import Run
from tests.patience import PATIENCE, wait_until
from tests.server.conftest import running

BLOCK = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "fastapi" else find(name, *more)
sys.argv = ["easyfirst", "serve"]
from easyfirst.cli import main
main()
"""


def test_without_the_extra() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCK], capture_output=True, text=True, timeout=PATIENCE, check=False)
    message = 'error: the server needs FastAPI and uvicorn; install them with: pip install "easyfirst[server]"\n'
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_nothing_else_needs_the_extra() -> None:
    code = "import sys, easyfirst.cli, easyfirst.parser; print(*{'fastapi', 'uvicorn', 'starlette'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_a_port_that_is_taken(run: Run, model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--model", model, "--port", str(port), "--no-open")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(
        f"error: port {port} of 127.0.0.1 cannot be used: Address already in use; stop the"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "no.such.host.invalid"], "the host 'no.such.host.invalid' cannot be resolved"),
        (["--host", "a" * 100], "cannot be resolved"),
        (["--model", "nowhere"], "there is no model nowhere"),
        (["--timeout", "nan"], "timeout"),
        (["--timeout", "inf"], "timeout"),
        (["--header-timeout", "inf"], "--header-timeout"),
        (["--max-words", "0"], "max-words"),
        (["--port", "70000"], "port"),
    ],
)
def test_invalid_options(run: Run, options: list[str], message: str) -> None:
    done = run("serve", "--no-open", "--port", "0", *options)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()


def test_a_warning_if_other_machines_can_reach_it(model: Path) -> None:
    with running(model, "--host", "0.0.0.0", "--allow-host", "parser.example") as server:
        assert server.address.startswith("http://127.0.0.1:")
        for name, status in (("parser.example", 200), ("other.example", 421)):
            assert server.ask("GET", "/health", headers={"Host": name}).status == status
        for origin, status in (  # of pages behind a proxy that changes the Host header
            ("https://parser.example", 200),
            ("http://parser.example", 200),
            ("https://parser.example:8443", 403),
            ("http://localhost", 403),
            (f"http://{socket.gethostname()}", 403),
        ):
            assert server.ask("GET", "/health", headers={"Origin": origin}).status == status
        code, output, errors = server.stop()
    assert (code, output) == (0, "stopped\n")
    assert errors.startswith("warning: anyone can reach 0.0.0.0 from other machines")


def test_every_address(model: Path) -> None:
    """With --host "", no name is empty, so a page without an origin may not use the server."""
    with running(model, "--host", "") as server:
        assert server.ask("GET", "/health").status == 200
        for origin in ("null", "", "http://"):
            assert server.ask("GET", "/health", headers={"Origin": origin}).status == 403
        assert server.send(b"GET /health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n")[0].status == 421
        code, output, errors = server.stop()
    assert (code, output) == (0, "stopped\n")
    assert errors == "" or errors.startswith("warning: anyone can reach")


def test_an_ipv6_address() -> None:
    try:
        listening = bind("::1", 0)
    except ConfigError:
        pytest.skip("there is no IPv6 here")
    with listening:
        assert address_of(listening) == f"http://[::1]:{listening.getsockname()[1]}/"


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_accepted_requests_are_finished_before_the_end(model: Path, name: str) -> None:
    number = getattr(signal, name)
    with running(model) as server, ThreadPoolExecutor() as pool:
        asked = {"tokens": [["fox"] * 500] * 20}
        answers = [pool.submit(server.parse, asked) for _ in range(3)]
        # those done are counted first, so none is counted twice
        wait_until(lambda: sum(map(Future.done, answers)) + server.ask("GET", "/health").json["waiting"] == 3)
        stopped = pool.submit(server.stop, number)
        assert {answer.result().status for answer in answers} <= {200}
        assert stopped.result() == (0, "stopped\n", "")


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_it_can_be_stopped_as_soon_as_it_prints_its_address(model: Path, name: str) -> None:
    with running(model) as server:
        assert server.stop(getattr(signal, name)) == (0, "stopped\n", "")


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_nohup(model: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup starts a process
    try:
        with running(model) as server:
            server.process.send_signal(signal.SIGHUP)
            assert server.ask("GET", "/health").status == 200
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(os.name == "nt", reason="the browser is a shell script")
def test_open(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with running(model, "--open") as server:
        wait_until(opened.exists)
        assert opened.read_text() == f"{server.address}\n"


def test_log_requests(model: Path) -> None:
    with running(model, "--log-requests") as server:
        server.ask("GET", "/health")
        code, output, _ = server.stop()
    assert code == 0
    assert '"GET /health HTTP/1.1" 200' in output


def test_the_example_of_the_help(run: Run) -> None:
    text = run("serve", "--help").stdout.decode()
    assert json.loads(text.partition("--json '")[2].partition("'")[0]) == {"text": "The fox jumps."}
    assert urlsplit(text.partition("' ")[2].split()[0]).path == "/parse"
