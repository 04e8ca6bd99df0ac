"""Running the server in this process until a signal stops it."""

from __future__ import annotations

import os
import signal
import socket

import uvicorn

from easyfirst.errors import ConfigError
from easyfirst.server.guard import Guard
from easyfirst.server.limits import Limits

BACKLOG = 512


def bind(host: str, port: int) -> socket.socket:
    """Open a socket at an address; with port 0, at any free port."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"the host {host!r} cannot be resolved: {error}") from None
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        hint = "stop the program that uses it, or choose another --port (0 takes any free one)"
        raise ConfigError(f"port {port} of {host} cannot be used: {error.strerror or error}; {hint}") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the URL of the server for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run(app: Guard, listening: socket.socket, limits: Limits, *, log_requests: bool = False) -> None:
    """Serve until SIGINT or SIGTERM, then finish the requests that were accepted."""
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
    # uvicorn raises the signal that stopped it again afterwards
    before = {number: signal.signal(number, lambda number, frame: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
