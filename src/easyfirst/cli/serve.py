"""``easyfirst serve``: a page to type text into, and a JSON API."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import socket
import sys
import threading
import webbrowser
from typing import Annotated

from typer import Option

from easyfirst.cli.info import describe
from easyfirst.cli.loading import set_threads, warn_of_name
from easyfirst.cli.options import ModelName, Threads
from easyfirst.cli.outputs import check_output, is_terminal
from easyfirst.errors import EasyFirstError
from easyfirst.model.bundled import find_model


def serve(
    model: ModelName = "en",
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
    max_words: Annotated[int, Option(min=1, help="The maximum number of words in a request.")] = 10_000,
    max_sentence_words: Annotated[int, Option(min=1, help="The maximum number of words in a sentence.")] = 1_000,
    max_waiting: Annotated[int, Option(min=1, help="The maximum number of waiting requests; others get a 503.")] = 256,
    timeout: Annotated[float, Option(min=0.1, help="The maximum time of a request in seconds.")] = 30.0,
    threads: Threads = None,
    log_requests: Annotated[bool, Option("--log-requests", help="Print a line for every request.")] = False,
) -> None:
    """Serve a model on this machine: a page to type text into, and a JSON API (described at /docs).

    \b
    Examples:
      easyfirst serve
      easyfirst serve --model my-model --port 8080 --no-open
      curl --json '{"text": "The fox jumps."}' http://127.0.0.1:8000/parse

    Requests that arrive together are parsed in one batch. Ctrl-C (or SIGTERM) finishes the open requests and stops.
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
        max_words=max_words,
        max_sentence_words=max_sentence_words,
        max_waiting=max_waiting,
        timeout=timeout,
    )
    warn_of_name(model)
    path = find_model(model)
    listening = bind(host, port)
    parser = load(path)
    name = path.resolve().name
    facts = {**describe(path, parser), "path": name}  # its place on this machine stays private
    address = address_of(listening)
    opens_page = _has_desktop() if open_page is None else open_page

    def welcome() -> None:
        print(f"serving the model {name} at {address} (Ctrl-C stops it)", flush=True)
        if opens_page:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    hosts = [host, socket.gethostname(), *(allow_host or ())]
    app = create_app(parser, name=name, facts=facts, limits=limits, hosts=hosts, on_start=welcome)
    if not ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback:
        print(
            f"warning: anyone can reach {host} from other machines: there is no password and no encryption",
            file=sys.stderr,
        )
    run(app, listening, limits, log_requests=log_requests)
    print("stopped")


def _has_desktop() -> bool:
    """Return whether this is a terminal on a desktop, where a browser can open."""
    if not is_terminal(sys.stdout) or not is_terminal(sys.stdin):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
