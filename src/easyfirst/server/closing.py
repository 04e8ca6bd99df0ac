"""How a connection waits for its client, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from easyfirst.server.connections import Connections
from easyfirst.server.limits import Limits

LINGERING = 2.0  # the seconds in which a client that is still sending may read its response
READING_GRACE = 5.0  # the seconds after the shutdown in which a client may read its response


class ClosingProtocol(asyncio.Protocol):
    """A connection that waits for its client to send and to read, each within a time, and that can be closed."""

    def __init__(self, limits: Limits, connections: Connections) -> None:
        """``connections`` are all those of the server."""
        self._limits, self._connections = limits, connections
        self._loop = asyncio.get_running_loop()
        self._transport = cast("asyncio.Transport", None)
        self._sending_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_paused = False  # whether reading is
        self._has_ended = False  # whether the client sends no more
        self._is_deaf = False  # whether the rest of what the client sends is not read
        self._is_last = False  # whether the server is shutting down, so that this request is the last

    @property
    def client(self) -> str:
        peer = self._transport.get_extra_info("peername")
        return str(peer[0]) if peer else ""

    @property
    def n_unsent(self) -> int:
        return self._transport.get_write_buffer_size()

    def evict(self) -> None:
        self._abort()

    def pause_writing(self) -> None:
        self._writable.clear()
        self._wait_for_reader()
        self._connections.bound_unsent()

    def resume_writing(self) -> None:
        self._writable.set()
        self._stop(self._reading_timer)
        self._reading_timer = None

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        """Wait for the client to send, but not longer than this."""
        self._stop(self._sending_timer)
        self._sending_timer = self._loop.call_later(seconds, then)
        self._connections.wait(self)

    def _stop_waiting(self) -> None:
        self._stop(self._sending_timer)
        self._sending_timer = None

    def _wait_for_reader(self) -> None:
        """Wait for the client to read what was sent, but not longer than a request may take."""
        self._stop(self._reading_timer)
        seconds = min(READING_GRACE, self._limits.timeout) if self._is_last else self._limits.timeout
        self._reading_timer = self._loop.call_later(seconds, self._abort)
        self._connections.wait(self)

    def _lose(self) -> None:
        """Note that the connection is closed."""
        self._connections.leave(self)
        self._is_deaf = True
        self._writable.set()
        for timer in (self._sending_timer, self._reading_timer):
            self._stop(timer)

    def _stop(self, timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()

    def _pause_reading(self) -> None:
        if not self._is_paused and not self._has_ended and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()

    def _close(self) -> None:
        """Close the connection when the client has read what was sent."""
        self._is_deaf = True
        self._stop_waiting()
        self._transport.close()
        if self.n_unsent:
            self._wait_for_reader()

    def _linger(self) -> None:
        """Close the connection, but let a client that is still sending read its response before."""
        if self._has_ended or self._transport.is_closing():
            self._close()
            return
        self._is_deaf = True
        self._resume_reading()
        with suppress(OSError):  # the client has closed the connection, which asyncio will notice
            self._transport.write_eof()
        self._stop_waiting()
        if self.n_unsent:
            self._wait_for_reader()
        else:
            self._wait(LINGERING, self._abort)

    def _abort(self) -> None:
        self._is_deaf = True
        self._transport.abort()
