"""Protection of the server from other web sites.

A page of another site must not use the server through a visitor's browser. So there must be one Host header, and it
must be a name of this server or an IP address (a foreign name can be made to point here, an address cannot). The Origin
header, if any, must be that of a page of this server: the same host and port, or a name that was allowed explicitly,
for a proxy that changes the Host header.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easyfirst.server.answers import to_json
from easyfirst.server.limits import RefusedError

LOCAL = "localhost"
JSON = "application/json"
_HOST = re.compile(r"(?:(?P<name>[\w.-]+)|\[(?P<address>[0-9a-f:.]+)\])(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """An ASGI application that checks the headers of a request before it passes it on to another one."""

    def __init__(self, app: ASGIApp, *, names: Iterable[str], allowed: Iterable[str] = (), policy: str) -> None:
        """``names`` are those of the server, and ``allowed`` those that a proxy in front of it may have."""
        self._app = app
        self._allowed = {name.lower() for name in allowed if name}
        self._names = {LOCAL, *(name.lower() for name in names if name), *self._allowed}
        headers = {**HEADERS, "Content-Security-Policy": policy}
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        try:
            self._check(Headers(scope=scope))
        except RefusedError as error:
            await error_response(error.status, str(error))(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _check(self, headers: Headers) -> None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or len(origins) > 1:
            raise RefusedError("the request must have one Host header, and at most one Origin header", 400)
        [host] = hosts
        name, port = _host_and_port(host) or ("", None)
        if name not in self._names and not _is_ip(name):
            raise RefusedError(f"{host!r} is not a host name of this server; if it should be, use --allow-host", 421)
        for origin in origins:
            scheme, _, rest = origin.partition("://")
            default = {"http": 80, "https": 443}.get(scheme)
            its_name, its_port = _host_and_port(rest) or ("", None)
            is_own = its_name == name and (its_port or default) == (port or default)
            is_allowed = its_name in self._allowed and its_port is None
            if default is None or not (is_own or is_allowed):
                raise RefusedError(f"pages of {origin!r} may not use this server", 403)


def error_response(
    status: int, message: str, headers: dict[str, str] | None = None, *, details: Mapping[str, object] | None = None
) -> Response:
    """Make an error response: ``{"error": "..."}`` and details. A long message, which may quote the input, is
    shortened."""
    shown = message if len(message) <= 500 else f"{message[:400]} ... {message[-90:]}"
    headers = {**(headers or {}), "Retry-After": "1"} if status == 503 else headers
    return Response(to_json({"error": shown, **(details or {})}), status, headers, media_type=JSON)


def _host_and_port(host: str) -> tuple[str, int | None] | None:
    """Return the name or address of a host in lower case, without brackets, and its port, if it has one. Return None if
    it is anything but a host and a port."""
    found = _HOST.fullmatch(host.lower())
    return found and (found["name"] or found["address"], int(found["port"]) if found["port"] else None)


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
