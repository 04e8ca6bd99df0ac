"""The API does what its OpenAPI description says, whatever is sent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")
pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from tests.patience import PATIENCE
from tests.server.conftest import Server


@pytest.mark.slow
def test_the_api_keeps_to_its_description(server: Server, tmp_path: Path) -> None:
    address = f"{server.address}openapi.json"
    options = ["--max-examples", "60", "--seed", "1", "--suppress-health-check", "all", "--no-color"]
    options += ["--request-timeout", str(PATIENCE)]
    command = [sys.executable, "-m", "schemathesis.cli", "run", address, *options]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "Tested: 3" in done.stdout
    assert server.ask("GET", "/health").json["waiting"] == 0
