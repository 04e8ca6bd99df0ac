"""The API does what its OpenAPI description says, whatever is sent."""

from __future__ import annotations

from typing import Any

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from hypothesis import HealthCheck, settings

from tests.server.conftest import Server


@pytest.fixture(scope="module")
def api(server: Server) -> Any:
    return schemathesis.openapi.from_url(f"{server.address}openapi.json")


schema = schemathesis.pytest.from_fixture("api")


@schema.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_api_keeps_to_its_description(case: Any) -> None:
    case.call_and_validate()
