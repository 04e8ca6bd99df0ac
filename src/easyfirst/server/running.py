"""Runs the server in this process: takes the port, answers until it is told to stop, and finishes what is in work."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from easyfirst.errors import ConfigError
from easyfirst.server.guard import Guard
from easyfirst.server.limits import Limits

BACKLOG = 512


def bind(host: str, port: int) -> socket.socket:
    """A socket at that address; with the port 0, at one that is free."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"there is no address for the host {host!r}: {error}") from None
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere this would let two servers have one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        hint = "stop what uses it, or choose another with --port (0 takes any that is free)"
        raise ConfigError(f"port {port} of {host} cannot be used: {error.strerror or error}; {hint}") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    host: str = listening.getsockname()[0]
    port: int = listening.getsockname()[1]
    host = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run(app: Guard, listening: socket.socket, limits: Limits, *, log_requests: bool = False) -> None:
    """Serve until SIGINT or SIGTERM comes, and finish what is in work then."""
    config = uvicorn.Config(
        app,
        log_level="info" if log_requests else "error",
        access_log=log_requests,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.max_connections,
        timeout_graceful_shutdown=round(limits.timeout) + 1,
    )
    with _signals_are_harmless():
        uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _signals_are_harmless() -> Generator[None, None, None]:
    """uvicorn sends itself again, after it has stopped, the signal that stopped it."""

    def ignore(number: int, frame: FrameType | None) -> None:
        pass

    before = {number: signal.signal(number, ignore) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
