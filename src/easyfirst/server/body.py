"""The bodies of requests, read within the limits on their size, their total size and their time."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from starlette.requests import ClientDisconnect, Request

from easyfirst.server.guard import JSON
from easyfirst.server.limits import Limits, RefusedError


def check_json(request: Request) -> None:
    """Raise an error if a body is announced as anything but JSON."""
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if kind != JSON:
        raise RefusedError(f"the Content-Type is {kind!r}; send JSON, with the header Content-Type: {JSON}", 415)


class Bodies:
    """The bodies that are in memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.n_bytes = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Read the body of a request. It counts towards the total until the context ends."""
        announced = request.headers.get("content-length", "")
        if announced.isascii() and announced.isdecimal():
            self._check(int(announced[:20]), 0)
        parts: list[bytes] = []
        size = 0
        try:
            try:
                with anyio.fail_after(self._limits.timeout):
                    async for part in request.stream():
                        size += len(part)
                        self._check(size, self.n_bytes + len(part))
                        parts.append(part)
                        self.n_bytes += len(part)
            except TimeoutError:
                raise RefusedError(f"the body did not arrive within {self._limits.timeout:g} seconds", 408) from None
            except ClientDisconnect:
                raise RefusedError("the body is not complete", 400) from None
            yield b"".join(parts)
        finally:
            self.n_bytes -= sum(map(len, parts))

    def _check(self, size: int, total: int) -> None:
        if size > self._limits.max_bytes:
            raise RefusedError(f"the body has more than {self._limits.max_bytes:,} bytes; send several requests", 413)
        if total > self._limits.max_bytes_waiting:
            raise RefusedError("too many large requests are waiting already; try again in a moment", 503)
