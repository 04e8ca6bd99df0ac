"""Optional packages. They are imported at first use, and a missing one is an error that says how to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from easyfirst.errors import EasyFirstError


def require(module: str, problem: str, extra: str) -> Any:
    """Return a module of an optional package. Raise an error that starts with ``problem`` if the package is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise EasyFirstError(f'{problem}; install it with: pip install "easyfirst[{extra}]"') from None


def pyarrow(module: str = "pyarrow") -> Any:
    """Return PyArrow, or one of its modules."""
    return require(module, "Arrow and Parquet need PyArrow", "arrow")


def pandas() -> Any:
    """Return pandas."""
    return require("pandas", "data frames need pandas", "pandas")
