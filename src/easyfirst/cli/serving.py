"""What the verbs that serve a model share: options, and running the server until a signal stops it."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from easyfirst.cli.info import describe
from easyfirst.cli.messages import printable, say
from easyfirst.cli.outputs import is_terminal
from easyfirst.errors import EasyFirstError

if TYPE_CHECKING:
    from easyfirst.annotation.queue import Queue
    from easyfirst.parser import Parser
    from easyfirst.server.limits import Limits

Host = Annotated[str, Option(help="The address to listen on; the default is this machine only.")]
Port = Annotated[int, Option(min=0, max=65535, help="The port; 0: any free port.")]
AllowedHosts = Annotated[
    list[str] | None, Option("--allow-host", metavar="NAME", help="Another host name of this machine. Repeatable.")
]
LogRequests = Annotated[bool, Option("--log-requests", help="Print a line for every request.")]


def require_server() -> None:
    """Raise an error that says how to install the server, if it is missing."""
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise EasyFirstError('the server needs FastAPI and uvicorn; install them with: pip install "easyfirst[server]"')


def serve_parser(
    parser: Parser,
    path: Path,
    listening: socket.socket,
    limits: Limits,
    *,
    host: str,
    allowed_hosts: Sequence[str],
    opens_page: bool | None,
    log_requests: bool,
    others: Mapping[str, tuple[Parser, Mapping[str, Any]]] | None = None,
    queue: Queue | None = None,
    annotator: str = "",
) -> None:
    """Serve the model in the directory ``path``, and ``others``, until a signal stops it. With a ``queue``, serve its
    annotation too. ``opens_page``: whether to open a browser; None: on a terminal of a desktop."""
    from easyfirst.server.app import create_app
    from easyfirst.server.running import address_of, run

    name = path.resolve().name
    address = address_of(listening) + ("annotate" if queue is not None else "")
    what = f"serving the model {printable(name)}" if queue is None else f"annotating {printable(queue.store.name)}"

    def welcome() -> None:
        print(f"{what} at {address} (Ctrl-C stops it)", flush=True)
        if _has_desktop() if opens_page is None else opens_page:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    app = create_app(
        parser,
        name=name,
        facts={**describe(path, parser), "path": name},  # its place on this machine stays private
        limits=limits,
        hosts=[host, socket.gethostname()],
        allowed_hosts=allowed_hosts,
        on_start=welcome,
        others=others,
        queue=queue,
        annotator=annotator,
    )
    if not ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback:
        say(f"warning: anyone can reach {host} from other machines: there is no password and no encryption")
    run(app, listening, limits, log_requests=log_requests)


def _has_desktop() -> bool:
    """Return whether this is a terminal on a desktop, where a browser can open."""
    if not is_terminal(sys.stdout) or not is_terminal(sys.stdin):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
