"""The limits of the server, and the error that refuses a request."""

from __future__ import annotations

import math
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
    max_characters: int = 100_000  # in the texts or words of a request
    max_words: int = 10_000  # in a request
    max_sentence_words: int = 1_000
    max_constraints: int = 1_000  # on a sentence
    max_constrained_words: int = 200  # in a sentence with constraints
    constraint_time: float = 2.0  # the seconds that checking the constraints on a sentence, or parsing it, may take
    max_waiting: int = 256  # the requests that are being parsed or waiting; any more are refused
    timeout: float = 30.0  # the seconds that a request may take, and that its body may take to arrive
    max_header_bytes: int = 16_384  # in the first line and the headers of a request
    header_timeout: float = 10.0  # the seconds from the first byte of a request to the end of its headers
    idle_timeout: float = 15.0  # the seconds that a connection may stay open without a request
    max_connections: int = 576  # open at a time, idle ones included
    max_client_connections: int = 288  # of one client address

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 < getattr(self, field.name) < math.inf:
                raise ConfigError(f"{field.name} is {getattr(self, field.name)}; it must be more than 0 and finite")

    @property
    def max_bytes_waiting(self) -> int:
        """The most bytes in the bodies of all requests together, and in all responses that clients have not read."""
        return 32 * self.max_bytes
