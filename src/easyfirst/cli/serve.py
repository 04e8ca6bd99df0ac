"""``easyfirst serve``: a page to type text into, and a JSON API."""

from __future__ import annotations

import importlib.util
import ipaddress
import math
import os
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from easyfirst.cli.info import describe
from easyfirst.cli.loading import set_threads, warn_of_name
from easyfirst.cli.messages import printable, say
from easyfirst.cli.options import ModelName, Threads
from easyfirst.cli.outputs import check_output, is_terminal
from easyfirst.errors import EasyFirstError
from easyfirst.model.bundled import find_model

if TYPE_CHECKING:
    from easyfirst.parser import Parser


def _number(value: float) -> float:
    """Refuse ``nan``, which no range excludes."""
    if math.isnan(value):
        raise BadParameter("nan is not a number of seconds")
    return value


def serve(
    model: ModelName = "en",
    also: Annotated[
        list[str] | None,
        Option("--also", metavar="MODEL", help="Another model, to choose on the page and by its name. Repeatable."),
    ] = None,
    host: Annotated[str, Option(help="The address to listen on; the default is this machine only.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="The port; 0: any free port.")] = 8000,
    open_page: Annotated[
        bool | None,
        Option("--open/--no-open", help="Open the page in a browser; default: yes on a terminal of a desktop."),
    ] = None,
    allow_host: Annotated[
        list[str] | None, Option(metavar="NAME", help="Another host name of this machine. Repeatable.")
    ] = None,
    max_bytes: Annotated[int, Option(min=1, help="The maximum size of a request in bytes.")] = 1_000_000,
    max_characters: Annotated[int, Option(min=1, help="The maximum number of characters in a request.")] = 100_000,
    max_words: Annotated[int, Option(min=1, help="The maximum number of words in a request.")] = 10_000,
    max_sentence_words: Annotated[int, Option(min=1, help="The maximum number of words in a sentence.")] = 1_000,
    max_constraints: Annotated[int, Option(min=1, help="The maximum number of constraints on a sentence.")] = 1_000,
    max_constrained_words: Annotated[
        int, Option(min=1, help="The maximum number of words in a sentence with constraints.")
    ] = 200,
    constraint_time: Annotated[
        float,
        Option(
            min=0.01, max=86400, callback=_number, help="The maximum time for the constraints on a sentence in seconds."
        ),
    ] = 2.0,
    max_waiting: Annotated[int, Option(min=1, help="The maximum number of waiting requests; others get a 503.")] = 256,
    timeout: Annotated[
        float, Option(min=0.1, max=86400, callback=_number, help="The maximum time of a request in seconds.")
    ] = 30.0,
    max_header_bytes: Annotated[int, Option(min=256, help="The maximum size of the headers in bytes.")] = 16_384,
    header_timeout: Annotated[
        float,
        Option(
            min=0.1,
            max=86400,
            callback=_number,
            help="The maximum time that the headers may take to arrive in seconds.",
        ),
    ] = 10.0,
    idle_timeout: Annotated[
        float,
        Option(
            min=0.1,
            max=86400,
            callback=_number,
            help="The maximum time between two requests of a connection in seconds.",
        ),
    ] = 15.0,
    max_connections: Annotated[int, Option(min=1, help="The maximum number of open connections.")] = 576,
    max_client_connections: Annotated[
        int, Option(min=1, help="The maximum number of open connections from one address.")
    ] = 288,
    threads: Threads = None,
    log_requests: Annotated[bool, Option("--log-requests", help="Print a line for every request.")] = False,
) -> None:
    """Serve a model: a page to type text into, and an API.

    Only this machine can reach it by default. The API speaks JSON and is described at /docs.

    \b
    Examples:
      easyfirst serve
      easyfirst serve --model my-model --port 8080 --no-open
      curl --json '{"text": "The fox jumps."}' http://127.0.0.1:8000/parse

    Requests that arrive together are parsed in one batch. Ctrl-C (or SIGTERM, or SIGHUP) finishes the
    open requests and stops.
    """
    set_threads(threads)
    check_output(None)
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise EasyFirstError('the server needs FastAPI and uvicorn; install them with: pip install "easyfirst[server]"')

    from easyfirst.parser import load
    from easyfirst.server.app import create_app
    from easyfirst.server.limits import Limits
    from easyfirst.server.running import address_of, bind, run

    limits = Limits(
        max_bytes=max_bytes,
        max_characters=max_characters,
        max_words=max_words,
        max_sentence_words=max_sentence_words,
        max_constraints=max_constraints,
        max_constrained_words=max_constrained_words,
        constraint_time=constraint_time,
        max_waiting=max_waiting,
        timeout=timeout,
        max_header_bytes=max_header_bytes,
        header_timeout=header_timeout,
        idle_timeout=idle_timeout,
        max_connections=max_connections,
        max_client_connections=max_client_connections,
    )
    warn_of_name(model)
    path = find_model(model)
    listening = bind(host, port)
    parser = load(path)
    name = path.resolve().name
    facts = {**describe(path, parser), "path": name}  # its place on this machine stays private
    others = dict(_served(each) for each in also or ())
    address = address_of(listening)
    opens_page = _has_desktop() if open_page is None else open_page

    def welcome() -> None:
        print(f"serving the model {printable(name)} at {address} (Ctrl-C stops it)", flush=True)
        if opens_page:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    app = create_app(
        parser,
        name=name,
        facts=facts,
        limits=limits,
        hosts=[host, socket.gethostname()],
        allowed_hosts=allow_host or (),
        on_start=welcome,
        others=others,
    )
    if not ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback:
        say(f"warning: anyone can reach {host} from other machines: there is no password and no encryption")
    run(app, listening, limits, log_requests=log_requests)
    print("stopped")


def _served(model: str) -> tuple[str, tuple[Parser, dict[str, Any]]]:
    """Load another model, and return its name and what is known about it."""
    from easyfirst.parser import load

    warn_of_name(model)
    path = find_model(model)
    parser, name = load(path), path.resolve().name
    return name, (parser, {**describe(path, parser), "path": name})


def _has_desktop() -> bool:
    """Return whether this is a terminal on a desktop, where a browser can open."""
    if not is_terminal(sys.stdout) or not is_terminal(sys.stdin):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
