"""Every test here needs the compiled core. Without one they are skipped, or fail if EASYFIRST_REQUIRE_NATIVE is 1."""

from __future__ import annotations

import os

import pytest

from easyfirst.native.library import Core, find_core, why_missing

REQUIRED = "EASYFIRST_REQUIRE_NATIVE"


@pytest.fixture(scope="session", autouse=True)
def core() -> Core:
    """The core for the best instruction set of this machine."""
    found = find_core()
    if found is None:
        message = f"no compiled core: {why_missing()}"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{message} ({REQUIRED}=1)", pytrace=False)
        pytest.skip(message)
    return found
