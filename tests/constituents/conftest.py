from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def const_data() -> Path:
    """The directory of a constituency treebank, which is not part of this repository."""
    name = os.environ.get("EASYFIRST_CRAFT")
    if name is None:
        pytest.skip("EASYFIRST_CRAFT names no directory with craft-dev.ptb.gz")
    return Path(name)
