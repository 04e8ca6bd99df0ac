from collections.abc import Callable
from typing import Any

class DummyTokenizer: ...

class _Functions:
    def get(self, name: str) -> Callable[..., Any]: ...
    def register(self, name: str, *, func: Callable[..., Any]) -> Callable[..., Any]: ...

class registry:  # noqa: N801
    scorers: _Functions
    tokenizers: _Functions

def raise_error(proc_name: str, proc: Any, docs: list[Any], e: Exception) -> None: ...
