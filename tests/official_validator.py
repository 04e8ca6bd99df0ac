"""The official validator of Universal Dependencies as a twin: which tests a file fails."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest


def failed_tests(path: Path, level: int) -> Counter[str]:
    """Return the ids of the tests that a CoNLL-U file fails up to a level, with the number of failures. Without the
    validator, skip the test that calls this."""
    state = _validator(level).validate_files([str(path)])
    return Counter(incident.testid for incident in state.error_tracker if incident.is_error())


@lru_cache
def _validator(level: int) -> Any:
    module: Any = pytest.importorskip("udtools.validator")
    return module.Validator(lang="ud", level=level, output=None)
