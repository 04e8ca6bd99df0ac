"""The bodies of requests, read within the limits on their size, their total size and their time."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from starlette.requests import ClientDisconnect, Request

from easyfirst.server.limits import Limits
from easyfirst.server.refusals import BadRequestError, BusyError, SlowBodyError, TooLargeError


class Bodies:
    """The bodies that are in memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.n_bytes = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Read the body of a request. It counts towards the total until the context ends."""
        announced = request.headers.get("content-length", "")
        if announced.isascii() and announced.isdecimal() and int(announced[:20]) > self._limits.max_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        try:
            try:
                with anyio.fail_after(self._limits.timeout):
                    await self._receive(request, parts)
            except TimeoutError:
                raise SlowBodyError(f"the body did not arrive within {self._limits.timeout:g} seconds") from None
            except ClientDisconnect:
                raise BadRequestError("the body is not complete") from None
            yield b"".join(parts)
        finally:
            self.n_bytes -= sum(map(len, parts))

    async def _receive(self, request: Request, parts: list[bytes]) -> None:
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > self._limits.max_bytes:
                raise self._too_large()
            if self.n_bytes + len(part) > self._limits.max_bytes_waiting:
                raise BusyError("too many large requests are waiting already; try again in a moment")
            parts.append(part)
            self.n_bytes += len(part)

    def _too_large(self) -> TooLargeError:
        return TooLargeError(f"the body has more than {self._limits.max_bytes:,} bytes; send several requests")
