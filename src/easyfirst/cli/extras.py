"""Optional dependencies, which only some verbs need."""

from __future__ import annotations

import importlib.util

from easyfirst.errors import EasyFirstError


def require_torch(what: str) -> None:
    """Raise an error that says how to install PyTorch, if it is missing."""
    if importlib.util.find_spec("torch") is None:
        raise EasyFirstError(f'{what} needs PyTorch; install it with: pip install "easyfirst[train]"')
