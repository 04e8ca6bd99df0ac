"""One request and its response: what ASGI calls ``receive`` and ``send``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import quote, unquote

import h11
from starlette.types import ASGIApp, Message, Scope

logger = logging.getLogger("uvicorn.error")
access_logger = logging.getLogger("uvicorn.access")

FREE_CHUNKS = 1_024  # the chunks that a body may have, however small they are
MEAN_CHUNK = 64  # the bytes that the others have at least, on average

Headers = list[tuple[bytes, bytes]]


class Wire(Protocol):
    """What an exchange needs of its connection."""

    def want_body(self) -> None:
        """Read on, because the last part of the body was taken."""
        ...

    def begin_response(self, status: int, headers: Headers) -> None: ...

    def send_body(self, data: bytes, *, is_last: bool) -> None: ...

    async def drain(self) -> None:
        """Wait until the client has read most of what was sent."""
        ...

    def fail(self) -> None:
        """Answer that something went wrong in the server; close the connection if a response has begun."""
        ...


class Exchange:
    """A request that is being answered."""

    def __init__(self, wire: Wire, scope: Scope) -> None:
        self._wire, self.scope = wire, scope
        self._changed = asyncio.Event()
        self._body = bytearray()
        self._n_bytes = self._n_chunks = 0
        self.is_complete = False  # whether all of the request has arrived
        self.is_over = False  # whether the client is gone or has its response, so that nothing is sent any more
        self.has_begun = False  # whether a response was begun

    @property
    def n_buffered(self) -> int:
        """The bytes of the body that wait for the application."""
        return len(self._body)

    def feed(self, event: h11.Data) -> bool:
        """Add a part of the body. Return whether that is all right: parsing many small chunks would take too long."""
        self._body += event.data
        self._n_bytes += len(event.data)
        self._n_chunks += event.chunk_start
        self._changed.set()
        return self._n_chunks <= FREE_CHUNKS + self._n_bytes // MEAN_CHUNK

    def complete(self) -> None:
        """Note that the request has ended."""
        self.is_complete = True
        self._changed.set()

    def end(self) -> None:
        """Note that no more is received or sent."""
        self.is_over = True
        self._changed.set()

    async def run(self, app: ASGIApp) -> None:
        """Let an application answer."""
        try:
            await app(self.scope, self._receive, self._send)
        except Exception as error:
            logger.error("Exception in ASGI application\n", exc_info=error)
        if not self.is_over:
            self._wire.fail()

    async def _receive(self) -> Message:
        while not (self._body or self.is_complete or self.is_over):
            self._changed.clear()
            self._wire.want_body()
            await self._changed.wait()
        if self.is_over:
            return {"type": "http.disconnect"}
        body, self._body = bytes(self._body), bytearray()
        self._wire.want_body()
        return {"type": "http.request", "body": body, "more_body": bool(self._body) or not self.is_complete}

    async def _send(self, message: Message) -> None:
        await self._wire.drain()
        if self.is_over:
            return
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers: Sequence[tuple[bytes, bytes]] = message.get("headers", ())
            self._wire.begin_response(message["status"], list(headers))
            self._log(message["status"])
        else:
            self._wire.send_body(message.get("body", b""), is_last=not message.get("more_body", False))

    def _log(self, status: int) -> None:
        scope, client = self.scope, self.scope["client"]
        address = f"{client[0]}:{client[1]}" if client else ""
        query = scope["query_string"].decode("ascii")
        path = quote(scope["path"]) + f"?{query}" * bool(query)
        access_logger.info('%s - "%s %s HTTP/%s" %d', address, scope["method"], path, scope["http_version"], status)


def scope_of(request: h11.Request, client: Any, server: Any, state: dict[str, Any]) -> Scope:
    """Describe a request as ASGI does. Its target is a path."""
    raw_path, _, query = request.target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": request.http_version.decode("ascii"),
        "method": request.method.decode("ascii"),
        "scheme": "http",
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": list(request.headers),
        "client": client,
        "server": server,
        "state": state.copy(),
    }
