"""``easyfirst serve``: a page to type text into, and a JSON API."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from easyfirst.cli.info import describe
from easyfirst.cli.loading import set_threads, warn_of_name
from easyfirst.cli.options import ModelName, Threads
from easyfirst.cli.outputs import check_output
from easyfirst.cli.serving import AllowedHosts, Host, LogRequests, Port, require_server, serve_parser
from easyfirst.model.bundled import find_model, known_models

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
    installed: Annotated[
        bool, Option("--installed", help="Serve all models that 'easyfirst models' lists, to choose on the page.")
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    open_page: Annotated[
        bool | None,
        Option("--open/--no-open", help="Open the page in a browser; default: yes on a terminal of a desktop."),
    ] = None,
    allow_host: AllowedHosts = None,
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
    log_requests: LogRequests = False,
) -> None:
    """Serve a model: a page to type text into, and an API.

    Only this machine can reach it by default. The API speaks JSON and is described at /docs.

    \b
    Examples:
      easyfirst serve
      easyfirst serve --model my-model --port 8080 --no-open
      easyfirst serve --installed
      curl --json '{"text": "The fox jumps."}' http://127.0.0.1:8000/parse

    Requests that arrive together are parsed in one batch. Ctrl-C (or SIGTERM, or SIGHUP) finishes the
    open requests and stops.
    """
    set_threads(threads)
    check_output(None)
    require_server()

    from easyfirst.parser import load
    from easyfirst.server.limits import Limits
    from easyfirst.server.running import bind

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
    serve_parser(
        load(path),
        path,
        listening,
        limits,
        host=host,
        allowed_hosts=allow_host or (),
        opens_page=open_page,
        log_requests=log_requests,
        others=dict(_served(each) for each in _others(model, also or (), installed=installed)),
    )
    print("stopped")


def _others(model: str, also: Sequence[str], *, installed: bool) -> list[str]:
    """Return the models to serve beside the main one, each once."""
    known = [each.name for each in known_models()] if installed else []
    return [name for name in dict.fromkeys((*also, *known)) if name != model]


def _served(model: str) -> tuple[str, tuple[Parser, dict[str, Any]]]:
    """Load another model, and return its name and what is known about it."""
    from easyfirst.parser import load

    warn_of_name(model)
    path = find_model(model)
    parser, name = load(path), path.resolve().name
    return name, (parser, {**describe(path, parser), "path": name})
