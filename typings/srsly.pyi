from collections.abc import Callable
from typing import Any

class _Encoders:
    def register(self, name: str, *, func: Callable[..., Any]) -> Callable[..., Any]: ...

msgpack_encoders: _Encoders
