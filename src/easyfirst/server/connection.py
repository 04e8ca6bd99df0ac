"""A connection of a client: HTTP/1.1, one request after the other, within limits on bytes and time.

uvicorn runs the server, and h11 reads and writes HTTP. uvicorn's own protocols limit neither the headers nor the time
that they take, and their errors are plain text; here every error is JSON.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, cast

import h11
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from easyfirst.server.closing import ClosingProtocol
from easyfirst.server.connections import Connections
from easyfirst.server.exchange import Exchange, Headers, scope_of
from easyfirst.server.guard import HEADERS, error_response
from easyfirst.server.limits import Limits

FED = 16_384  # the most bytes that are parsed before other connections have their turn
HIGH_WATER = 65_536  # the bytes of a body that may wait for the application
CHUNKING = 65_536  # the bytes that chunks may add to a body, besides one for each of its bytes
LINGERED = 8_000_000  # the bytes that a client that should stop may send before it is cut off
IDLE_GRACE = 0.05  # the seconds in which a request that was under way at the shutdown may still arrive
SENDING_GRACE = 1.0  # the seconds after the shutdown in which a request may still become complete
LONG_HEADERS = "the headers have more than {:,} bytes; send fewer or shorter ones"


class Connection(ClosingProtocol):
    """A connection of a client."""

    def __init__(
        self, app: ASGIApp, limits: Limits, connections: Connections, server: ServerState, state: dict[str, Any]
    ) -> None:
        """``connections`` are those of the server, and ``server`` is what uvicorn knows about them."""
        super().__init__(limits, connections)
        self._app, self._server, self._state = app, server, state
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.max_header_bytes)
        self._received = bytearray()  # what was not parsed yet
        self._n_parsed = 0  # the bytes of this request that were parsed, or were discarded at its end
        self._unsent = b""  # the beginning of a response
        self._is_head = False  # whether the request is for headers only
        self._exchange: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_scheduled = False  # whether parsing goes on in the next turn of the loop

    # ------------------------------------------------------------------------------------- what asyncio calls
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._server.connections.add(cast("Any", self))
        if self._connections.admit(self):
            self._wait(self._limits.idle_timeout, self._close)
        else:
            self.refuse(503, "too many connections are open already; try again in a moment")

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose()
        self._server.connections.discard(cast("Any", self))
        self._received.clear()
        if self._exchange is not None and self._task is not None:
            self._exchange.end()
            self._task.cancel()  # nobody waits for the response

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            self._n_parsed += len(data)
            if self._n_parsed > LINGERED:
                self._abort()
            return
        if self._is_idle:
            self._wait(self._limits.header_timeout, self._refuse_late_headers)
        self._received += data
        self._advance()

    def eof_received(self) -> bool:
        """Go on with the request if the client has closed its side only: it may wait for the response."""
        self._has_ended = True
        if self._is_deaf:
            return False
        self._advance()
        return True

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._exchange is not None and self._exchange.is_complete:
            self._connections.work(self)

    # ------------------------------------------------------------------------------------ what the server calls
    def shutdown(self) -> None:
        """Close the connection when its request is answered."""
        self._is_last = True
        if self.n_unsent:
            self._wait_for_reader()
        if self._exchange is None or not self._exchange.is_complete:
            self._loop.call_later(IDLE_GRACE, self._close_if_idle)
            self._loop.call_later(SENDING_GRACE, self._refuse_the_incomplete)

    def evict(self) -> None:
        """Close the connection, for another one."""
        if self._is_idle or self.n_unsent or self._is_deaf:
            self._abort()
        else:
            self._refuse(503, "this connection was closed because there are too many; send complete requests")
            self._close()

    def refuse(self, status: int, message: str) -> None:
        """Answer with an error, if no response has begun, and close the connection."""
        self._refuse(status, message)
        self._linger()

    # ----------------------------------------------------------------------------------- what the exchange calls
    def want_body(self) -> None:
        if self._http.they_are_waiting_for_100_continue:
            self._unsent = self._made(h11.InformationalResponse(status_code=100, headers=[], reason="Continue"))
            self._flush()
        self._advance()

    def begin_response(self, status: int, headers: Headers) -> None:
        its, reason = self._exchange, HTTPStatus(status).phrase
        if self._is_last or self._has_ended or its is None or its.is_over or not its.is_complete:
            headers.append((b"connection", b"close"))
        headers += self._server.default_headers
        self._unsent = self._made(h11.Response(status_code=status, headers=headers, reason=reason))

    def send_body(self, data: bytes, *, is_last: bool) -> None:
        self._add_body(data, is_last=is_last)
        self._flush()
        if is_last and self._exchange is not None:
            self._end_exchange(self._exchange)

    async def drain(self) -> None:
        await self._writable.wait()

    def fail(self) -> None:
        self.refuse(500, "something went wrong in the server; its log says what")

    # ------------------------------------------------------------------------------------------------- reading
    def _advance(self) -> None:
        """Parse what was received, until more is needed or the application has to take the body."""
        self._is_scheduled = False
        while not self._is_deaf:
            if self._exchange is not None and self._exchange.n_buffered > HIGH_WATER:
                self._pause_reading()
                return
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                self._break_off(error)
                return
            if event is h11.NEED_DATA:
                if not self._feed():
                    return
            elif event is h11.PAUSED:  # the next request has to wait until this one is answered
                self._pause_reading()
                return
            elif isinstance(event, h11.Request):
                self._begin(event)
            elif isinstance(event, h11.Data) and self._exchange is not None:
                if not self._exchange.feed(event):
                    self.refuse(413, "the body has too many small chunks; send larger ones, or a Content-Length")
            elif isinstance(event, h11.EndOfMessage) and self._exchange is not None:
                self._exchange.complete()
                if self._writable.is_set():  # otherwise, the client should read the last response
                    self._connections.work(self)
            else:  # the client has closed the connection
                if self._exchange is None:
                    self._close()
                return

    def _feed(self) -> bool:
        """Give the next bytes to h11. Return whether it can go on now."""
        if self._received:
            data = bytes(self._received[:FED])
            del self._received[:FED]
            self._n_parsed += len(data)
            if self._n_parsed > 2 * self._limits.max_bytes + self._limits.max_header_bytes + CHUNKING:
                self.refuse(413, f"the body has more than {self._limits.max_bytes:,} bytes; send several requests")
                return False
            self._http.receive_data(data)
            if not self._received:
                return True
            self._pause_reading()
            if not self._is_scheduled:
                self._is_scheduled = True
                self._loop.call_soon(self._advance)
            return False
        if self._has_ended:
            self._http.receive_data(b"")
            return True
        self._resume_reading()
        return False

    def _begin(self, request: h11.Request) -> None:
        """Begin to answer a request."""
        self._stop_waiting()
        self._connections.wait(self)
        self._is_head = request.method == b"HEAD"
        n_bytes = len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers)
        if n_bytes > self._limits.max_header_bytes:
            self.refuse(431, LONG_HEADERS.format(self._limits.max_header_bytes))
        elif not request.target.startswith(b"/"):
            self.refuse(400, "the target of the request is not a path; send a path such as /parse")
        else:
            peer, own = map(self._transport.get_extra_info, ("peername", "sockname"))
            self._exchange = Exchange(self, scope_of(request, peer and peer[:2], own and own[:2], self._state))
            self._task = self._loop.create_task(self._exchange.run(self._app))
            self._server.tasks.add(self._task)
            self._task.add_done_callback(self._server.tasks.discard)

    def _break_off(self, error: h11.RemoteProtocolError) -> None:
        """Refuse what is not HTTP, or not complete."""
        if self._has_ended and not self._received:
            self.refuse(400, "the request is not complete: the client has closed its side of the connection")
        elif error.error_status_hint == 431:
            self.refuse(431, LONG_HEADERS.format(self._limits.max_header_bytes))
        else:
            self.refuse(error.error_status_hint, f"this is not a request in HTTP/1.1: {error}")

    def _refuse_late_headers(self) -> None:
        self.refuse(408, f"the headers did not arrive within {self._limits.header_timeout:g} seconds")

    # ------------------------------------------------------------------------------------------------- writing
    def _made(self, event: h11.Event) -> bytes:
        return self._http.send(event) or b""

    def _add_body(self, data: bytes, *, is_last: bool) -> None:
        if data and not self._is_head:
            self._unsent += self._made(h11.Data(data=data))
        if is_last:
            self._unsent += self._made(h11.EndOfMessage())

    def _flush(self) -> None:
        data, self._unsent = self._unsent, b""
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def _refuse(self, status: int, message: str) -> None:
        exchange = self._exchange
        if exchange is not None:
            exchange.end()
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not (exchange and exchange.has_begun):
            response = error_response(status, message, HEADERS)
            self.begin_response(status, list(response.raw_headers))
            self._add_body(bytes(response.body), is_last=True)
            self._flush()
        self._is_deaf = True
        self._received.clear()

    def _end_exchange(self, exchange: Exchange) -> None:
        """Wait for the next request, now that one is answered."""
        self._exchange = None
        exchange.end()
        self._server.total_requests += 1
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._n_parsed = len(self._http.trailing_data[0])  # of the next request
            if self._is_idle:
                self._wait(self._limits.idle_timeout, self._close)
            else:
                self._wait(self._limits.header_timeout, self._refuse_late_headers)
            self._advance()
        elif exchange.is_complete:
            self._close()
        else:
            self._linger()

    # ------------------------------------------------------------------------------------------------- closing
    @property
    def _is_idle(self) -> bool:
        """Whether nothing of a request was received."""
        return self._exchange is None and not self._received and not self._n_parsed

    def _close_if_idle(self) -> None:
        if self._is_idle:
            self._close()

    def _refuse_the_incomplete(self) -> None:
        if self._exchange is None or not self._exchange.is_complete:
            self.refuse(503, "the server is shutting down")
