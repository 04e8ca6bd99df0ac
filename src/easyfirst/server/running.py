"""Running the server in this process until a signal stops it."""

from __future__ import annotations

import math
import os
import signal
import socket
from contextlib import suppress
from dataclasses import replace
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from easyfirst.errors import ConfigError
from easyfirst.server.closing import READING_GRACE
from easyfirst.server.connection import Connection
from easyfirst.server.connections import Connections
from easyfirst.server.guard import Guard
from easyfirst.server.limits import Limits

try:
    import resource
except ImportError:  # Windows
    resource = None

BACKLOG = 512
OTHER_FILES = 64  # the files that the process has open besides connections


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
    """Serve until SIGINT, SIGTERM or SIGHUP, then finish the requests that were accepted."""
    limits, backlog = fitting(limits)
    config = uvicorn.Config(
        app,
        http=protocol_of(app, limits),
        backlog=backlog,
        log_level="info" if log_requests else "error",
        access_log=log_requests,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=math.ceil(limits.timeout + READING_GRACE) + 2,
    )
    server = uvicorn.Server(config)
    # uvicorn raises the signal that stopped it again afterwards
    before = {number: signal.signal(number, lambda number, frame: None) for number in (signal.SIGINT, signal.SIGTERM)}
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # nohup ignores it
        before[hangup] = signal.signal(hangup, server.handle_exit)
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def protocol_of(app: Guard, limits: Limits) -> Any:
    """Return what uvicorn calls for each connection."""
    connections = Connections(limits)

    def connect(*, server_state: ServerState, app_state: dict[str, Any], **options: object) -> Connection:
        return Connection(app, limits, connections, server_state, app_state)

    return connect


def fitting(limits: Limits) -> tuple[Limits, int]:
    """Return the limits with as many connections as this process may have open files, and the length of the queue of
    connections that are not accepted yet. More files are asked for, if need be."""
    if resource is None:
        return limits, BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = limits.max_connections + BACKLOG + OTHER_FILES
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < needed:
        soft = needed if hard == unlimited else min(needed, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == unlimited or soft >= needed:
        return limits, BACKLOG
    room = max(soft - OTHER_FILES, 2)
    return replace(limits, max_connections=min(limits.max_connections, room // 2)), min(BACKLOG, room // 2)
