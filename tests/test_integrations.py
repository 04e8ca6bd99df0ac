"""The modules for other frameworks, without these frameworks."""

from __future__ import annotations

import subprocess
import sys

import pytest

import easyfirst

MISSING = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name.partition(".")[0] in ("ray", "pyspark", "pyarrow", "pandas") else find(name, path, target)
)
import easyfirst

for module in (easyfirst.ray, easyfirst.spark):
    try:
        module.parse(None)
    except easyfirst.EasyFirstError as error:
        print(error)
"""


def test_a_missing_extra_is_an_error_that_names_it() -> None:
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        [
            'Ray is missing; install it with: pip install "easyfirst[ray]"',
            'Spark is missing; install it with: pip install "easyfirst[spark]"',
        ],
    )


def test_they_are_reached_from_the_package() -> None:
    code = "import sys, easyfirst; assert 'easyfirst.ray' not in sys.modules; print(easyfirst.ray.parse.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "parse\n"
    assert easyfirst.spark.parse is not easyfirst.ray.parse
    with pytest.raises(AttributeError):
        _ = easyfirst.flink  # type: ignore[attr-defined]
