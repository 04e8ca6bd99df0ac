"""Who is served, and under which rules: around everything else the server does.

A page of another site must not use the server by way of a visitor's browser. So the name it is called by must be one
of its own (an address of IP always is: only a name can be made to point here), and a request that says which page it
comes from must come from one of ours.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easyfirst.server.answers import to_json
from easyfirst.server.refusals import ForbiddenError, RefusedError, WrongHostError

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
    """An ASGI application around another one."""

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
            await refusal(error)(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _check(self, headers: Headers) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        name = _name_in(f"//{host}")
        if name not in self._names and not _is_ip(name):
            raise WrongHostError(f"this server is not called {host!r}; if it should be, start it with --allow-host")
        if origin is not None and _name_in(origin) not in {name, *self._names}:
            raise ForbiddenError(f"pages of {origin!r} may not use this server")


def refusal(error: RefusedError) -> Response:
    """What is sent to whom is not served."""
    return error_response(error.status, str(error), error.headers)


def error_response(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """An error as JSON: ``{"error": "..."}``. Messages quote the input, which may be long."""
    shown = message if len(message) <= 500 else f"{message[:400]} ... {message[-90:]}"
    return Response(to_json({"error": shown}), status, headers, media_type=JSON)


def _name_in(address: str) -> str:
    """The host of an address, in small letters; empty if there is none."""
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
