"""The limits of the server, and the error that refuses a request."""

from __future__ import annotations

from dataclasses import dataclass, fields

from easyfirst.errors import ConfigError, EasyFirstError


class RefusedError(EasyFirstError):
    """The error that refuses a request, with the HTTP status of the response."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a server. Each bounds memory or time, so none can be switched off."""

    max_bytes: int = 1_000_000  # in the body of a request
    max_words: int = 10_000  # in a request
    max_sentence_words: int = 1_000
    max_waiting: int = 256  # the requests that are being parsed or waiting; any more are refused
    timeout: float = 30.0  # the seconds that a request may take, and that its body may take to arrive

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ConfigError(f"{field.name} is {getattr(self, field.name)}; it must be more than 0")

    @property
    def max_bytes_waiting(self) -> int:
        """The most bytes in the bodies of all requests together."""
        return 32 * self.max_bytes

    @property
    def max_connections(self) -> int:
        """The most open connections, idle ones included."""
        return 2 * self.max_waiting + 64
