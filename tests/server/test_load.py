"""Many requests at a time from a second process: none is lost, each gets its own answer, memory stays bounded."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from tests.patience import PATIENCE, wait_until
from tests.server.conftest import Server, memory_of, running

LOAD = Path(__file__).parent.parent.parent / "bench" / "load.py"
N_REQUESTS = 300


def write_requests(path: Path) -> list[list[str]]:
    """Write sentences of 1 to 30 words, each with a word that no other has."""
    chance = random.Random(1)
    sentences = [
        [f"number{n}", *chance.choices(["the", "fox", "likes", "apples", "and", "jumps"], k=chance.randrange(30))]
        for n in range(N_REQUESTS)
    ]
    path.write_text("".join(json.dumps({"tokens": [words]}) + "\n" for words in sentences))
    return sentences


def load(server: Server, requests: Path, answers: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, str(LOAD), server.address, str(requests), "--answers", str(answers), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def forms_of(answers: Path) -> list[list[str]]:
    found = [json.loads(line) for line in answers.read_bytes().splitlines()]
    return [[word["form"] for word in answer["sentences"][0]["words"]] for answer in found]


@pytest.mark.slow
def test_every_request_gets_its_own_answer(model: Path, tmp_path: Path) -> None:
    sentences = write_requests(tmp_path / "requests")
    with running(model) as server:
        memory: list[int] = []
        for _ in range(3):
            outcome = load(server, tmp_path / "requests", tmp_path / "answers", "--connections", "48")
            assert outcome["statuses"] == {"200": N_REQUESTS}
            assert forms_of(tmp_path / "answers") == sentences
            memory += [memory_of(server)] if sys.platform == "linux" else []
        assert not memory or memory[-1] <= memory[0] + 30
        assert server.ask("GET", "/health").json["waiting"] == 0


@pytest.mark.slow
def test_a_refused_request_can_be_repeated(model: Path, tmp_path: Path) -> None:
    sentences = write_requests(tmp_path / "requests")
    with running(model, "--max-waiting", "4") as server:
        options = ("--connections", "40", "--retries", "10000")

        def was_refused() -> bool:
            """Send all requests; return whether one was refused, which depends on how the system schedules them."""
            outcome = load(server, tmp_path / "requests", tmp_path / "answers", *options)
            assert outcome["statuses"] == {"200": N_REQUESTS}
            assert forms_of(tmp_path / "answers") == sentences
            return outcome["retries"] > 0

        wait_until(was_refused)


def test_a_client_that_disconnects_does_no_harm(model: Path) -> None:
    with running(model) as server:
        url = urlsplit(server.address)
        body = json.dumps({"tokens": [["fox"] * 200] * 20}).encode()
        head = f"POST /parse HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for sent in (head + body, head + body[:100], head, b"GET"):
            with socket.create_connection((url.hostname, url.port), timeout=PATIENCE) as connection:
                connection.sendall(sent)
        assert server.parse({"text": "A fox."}).status == 200
