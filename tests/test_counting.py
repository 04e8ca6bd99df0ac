"""Numbers of things in messages."""

from __future__ import annotations

import pytest

from easyfirst.counting import count


@pytest.mark.parametrize(("n", "expected"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (2000, "2,000 files")])
def test_one_is_singular(n: int, expected: str) -> None:
    assert count(n, "file") == expected
