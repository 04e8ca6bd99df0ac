"""What only some verbs need, and whoever does not use them need not install."""

from __future__ import annotations

import importlib.util

from easyfirst.errors import EasyFirstError


def require_torch(what: str) -> None:
    """Raise an error that says how to get PyTorch, if it is not there."""
    if importlib.util.find_spec("torch") is None:
        raise EasyFirstError(f'{what} needs PyTorch; install it with: pip install "easyfirst[train]"')
