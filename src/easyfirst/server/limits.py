"""What the server takes on: how large a request may be, how many may wait and for how long."""

from __future__ import annotations

from dataclasses import dataclass, fields

from easyfirst.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All of them bound memory or time, so none can be switched off."""

    max_bytes: int = 1_000_000
    """Of the body of a request."""
    max_words: int = 10_000
    """Of a request."""
    max_sentence_words: int = 1_000
    """Of a sentence."""
    max_waiting: int = 256
    """Requests that are in work or wait for it; one more is turned away."""
    timeout: float = 30.0
    """Seconds a request may take, and its body to arrive."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ConfigError(f"{field.name} is {getattr(self, field.name)}; it must be more than 0")

    @property
    def max_bytes_waiting(self) -> int:
        """Of the bodies of all requests together."""
        return 32 * self.max_bytes

    @property
    def max_connections(self) -> int:
        """Those that ask for nothing at the moment included."""
        return 2 * self.max_waiting + 64
