"""Protection of the server from other web sites.

A page of another site must not use the server through a visitor's browser. So the Host header must be a name of this
server or an IP address (a foreign name can be made to point here, an address cannot), and the Origin header, if any,
must be that of a page of this server.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easyfirst.server.answers import to_json
from easyfirst.server.limits import RefusedError

LOCAL = "localhost"
JSON = "application/json"
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

    def __init__(self, app: ASGIApp, *, names: Iterable[str], policy: str) -> None:
        self._app = app
        self._names = {LOCAL, *(name.lower() for name in names)}
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
        host, origin = headers.get("host", ""), headers.get("origin")
        name = _name_in(f"//{host}")
        if name not in self._names and not _is_ip(name):
            raise RefusedError(f"{host!r} is not a host name of this server; if it should be, use --allow-host", 421)
        if origin is not None and _name_in(origin) not in {name, *self._names}:
            raise RefusedError(f"pages of {origin!r} may not use this server", 403)


def error_response(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Make an error response: ``{"error": "..."}``. A long message, which may quote the input, is shortened."""
    shown = message if len(message) <= 500 else f"{message[:400]} ... {message[-90:]}"
    headers = {"Retry-After": "1"} if status == 503 else headers
    return Response(to_json({"error": shown}), status, headers, media_type=JSON)


def _name_in(address: str) -> str:
    """Return the host of an address in lower case, or an empty string if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
