"""The ASGI application of the server: a page, a JSON API, and the description of the API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from easyfirst import __version__
from easyfirst.annotation.queue import Queue
from easyfirst.errors import DataError, EasyFirstError, InputError
from easyfirst.parser import Parser
from easyfirst.server import schema
from easyfirst.server.annotating import Annotating
from easyfirst.server.answers import Answer, Router, to_json
from easyfirst.server.batching import Batcher
from easyfirst.server.body import Bodies, check_json
from easyfirst.server.connections import client_of
from easyfirst.server.constrained import ConflictError
from easyfirst.server.docs_page import draw_docs, draw_model
from easyfirst.server.guard import JSON, Guard, error_response
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.page import EXPLAINED_WORDS, Form, draw_page, frame, policy, read_form
from easyfirst.server.parse_request import ParseRequest, check_words, read_request

logger = logging.getLogger("uvicorn.error")

REFUSALS = {
    400: "The body is not JSON, or the request is not HTTP.",
    403: "The request comes from a page of another site.",
    408: "The headers or the body did not arrive in time.",
    409: "The constraints on a sentence do not fit it, or they cannot hold together; the answer names the conflict.",
    413: "The body has too many bytes, characters or words.",
    415: "The Content-Type of the body is not JSON.",
    421: "The host name of the request is not one of the server's.",
    422: "The model cannot parse the input; the message says why.",
    431: "The headers have too many bytes.",
    500: "The server or the model has failed.",
    503: "Too many requests are waiting, or the server is shutting down; Retry-After says when to try again.",
    504: "The request took too long.",
}
ALWAYS = (400, 403, 408, 421, 431, 500, 503)
DESCRIPTION = (
    "A request may have up to {limits.max_bytes:,} bytes, {limits.max_characters:,} characters and "
    "{limits.max_words:,} words, and a sentence up to {limits.max_sentence_words:,} words. Every error is an object "
    "with one key, error, that says what to do."
)
FAULTS_OF_INPUT = (InputError, DataError)  # the model was loaded before, so it is not to blame
PAGE_WORDS = 2_000  # the most that the page draws at a time: a word takes more than a kilobyte there


def create_app(
    parser: Parser,
    *,
    name: str,
    facts: Mapping[str, Any],
    limits: Limits | None = None,
    hosts: Iterable[str] = (),
    allowed_hosts: Iterable[str] = (),
    on_start: Callable[[], None] | None = None,
    others: Mapping[str, tuple[Parser, Mapping[str, Any]]] | None = None,
    queue: Queue | None = None,
    annotator: str = "",
) -> Guard:
    """Create the application that serves a model under a ``name``.

    ``facts`` are the answer to ``GET /model``. ``hosts`` and ``allowed_hosts`` are the host names that requests may use
    besides localhost and IP addresses; pages at ``allowed_hosts`` may use the server too. ``on_start`` is called when
    the server is ready and handles signals. ``others`` are models that requests can name instead, with facts about
    them. With a ``queue``, its sentences are annotated at ``/annotate``, where the page proposes the name of an
    ``annotator``.
    """
    served = {name: (parser, facts), **(others or {})}
    service = _Service(served, name, limits or Limits(), on_start)
    app = service.app()
    if queue is not None:
        Annotating(queue, service.bodies, name=name, relations=parser.relations, annotator=annotator).add_to(app)
    return Guard(app, names=hosts, allowed=allowed_hosts, policy=policy())


class _Service:
    """The endpoints."""

    def __init__(
        self,
        served: Mapping[str, tuple[Parser, Mapping[str, Any]]],
        name: str,
        limits: Limits,
        on_start: Callable[[], None] | None,
    ) -> None:
        self._on_start = on_start
        parsers = {each: parser for each, (parser, _) in served.items()}
        self._facts = {each: dict(facts) for each, (_, facts) in served.items()}
        self._parsers, self._name, self._limits = parsers, name, limits
        self._parser = parser = parsers[name]
        router = Router({None: parser, **parsers}, limits)
        self._batcher: Batcher[ParseRequest, Answer] = Batcher(
            router, router.steps, max_waiting=limits.max_waiting, timeout=limits.timeout
        )
        self._drawing = asyncio.Lock()  # pages are drawn one at a time, so that parsing keeps half of the time
        self.bodies = Bodies(limits)
        relations = {each: parsers[each].relations for each in parsers}
        self._page_facts: dict[str, Any] = {"name": name, "relations": relations}
        self._page_limits = replace(limits, max_words=min(limits.max_words, PAGE_WORDS))

    def app(self) -> FastAPI:
        app = FastAPI(
            title=f"easyfirst: the model {self._name}",
            version=__version__,
            description=DESCRIPTION.format(limits=self._limits),
            docs_url=None,
            redoc_url=None,
            lifespan=self._lifespan,
            exception_handlers={EasyFirstError: _handle_error, HTTPException: _handle_http, Exception: _handle_bug},
        )
        add = app.add_api_route
        add(
            "/parse",
            self.parse,
            methods=["POST"],
            summary="Parse text, or sentences in words",
            responses=_responses(schema.ParseResponse, *REFUSALS),
            openapi_extra={"requestBody": schema.body_of_parse()},
        )
        add("/model", self.model, summary="Describe the model", responses=_responses(schema.ModelResponse, *ALWAYS))
        add(
            "/health",
            self.health,
            summary="Check that the server is running",
            responses=_responses(schema.HealthResponse, *ALWAYS),
        )
        add("/", self.page, include_in_schema=False)
        add("/", self.page_with_trees, methods=["POST"], include_in_schema=False)
        add("/docs", self.docs, include_in_schema=False)
        return app

    @asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncGenerator[None, None]:
        self._batcher.start()
        if self._on_start is not None:
            self._on_start()
        yield
        await self._batcher.close()

    async def parse(self, request: Request) -> Response:
        """Return the tree of each sentence, in order, as easyfirst parse --to json writes it."""
        check_json(request)
        async with self.bodies.read(request) as body:
            asked = read_request(body, self._parser, self._limits, self._parsers)
            answer = await self._batcher.submit(asked, weight=asked.weight, client=_client(request))
        name = asked.model or self._name
        model = to_json({"name": name, "easyfirst_version": self._facts[name].get("easyfirst_version")})
        warnings = to_json(answer.warnings)
        parts = (b'{"model": ', model, b', "sentences": ', answer.written, b', "warnings": ', warnings, b"}")
        return Response(b"".join(parts), media_type=JSON)

    async def model(self, request: Request) -> Response:
        """Return what easyfirst info --json prints about the model, or a page about it to those who prefer HTML."""
        headers = {"Vary": "Accept"}
        if _prefers_html(request.headers.get("accept", "")):
            page = "".join(draw_model(name, facts) for name, facts in self._facts.items())
            return HTMLResponse(frame("Models", page), headers=headers)
        return Response(to_json(self._facts[self._name]), media_type=JSON, headers=headers)

    async def health(self) -> Response:
        """Return the state of the server."""
        facts = {"status": "ok", "model": self._name, "easyfirst_version": __version__}
        return Response(to_json({**facts, "waiting": self._batcher.n_waiting}), media_type=JSON)

    async def page(self) -> Response:
        return HTMLResponse(draw_page(Form.of(self._parser), **self._page_facts))

    async def page_with_trees(self, request: Request) -> Response:
        """Return the page with the text that was sent and its trees, or with an error message."""
        form, answer, message, status = Form.of(self._parser), Answer(), "", 200
        try:
            async with self.bodies.read(request) as body:
                form = read_form(body, form)
                asked = form.to_request(self._parser, self._page_limits)
                asked = replace(asked, max_explained=EXPLAINED_WORDS, is_json=False)
                answer = await self._batcher.submit(asked, weight=asked.weight, client=_client(request))
            check_words(sum(map(len, answer.parses)), self._page_limits)
        except (RefusedError, *FAULTS_OF_INPUT) as error:
            answer, message = Answer(), str(error)
            status = error.status if isinstance(error, RefusedError) else 422
        async with self._drawing:
            page = await asyncio.to_thread(draw_page, form, answer=answer, message=message, **self._page_facts)
        return HTMLResponse(page, status)

    async def docs(self, request: Request) -> Response:
        return HTMLResponse(draw_docs(request.app.openapi()))


def _responses(model: type[BaseModel], *statuses: int) -> dict[int | str, dict[str, Any]]:
    refusals = {status: {"model": schema.ErrorResponse, "description": REFUSALS[status]} for status in statuses}
    return {200: {"model": model, "description": model.__doc__}, **refusals}


def _prefers_html(accept: str) -> bool:
    """Return whether an Accept header names HTML before JSON, as those of browsers do."""
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return "text/html" in kinds and JSON not in kinds[: kinds.index("text/html")]


def _client(request: Request) -> str:
    return "" if request.client is None else client_of(request.client.host)


async def _handle_error(request: Request, error: Exception) -> Response:
    if isinstance(error, RefusedError):
        details = error.details if isinstance(error, ConflictError) else None
        return error_response(error.status, str(error), details=details)
    if isinstance(error, FAULTS_OF_INPUT):
        return error_response(422, str(error))
    logger.error("%s %s: %s", request.method, request.url.path, error)
    return error_response(500, str(error))


async def _handle_http(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown path, or with a method that the path does not support."""
    assert isinstance(error, HTTPException)
    message = {
        404: f"there is nothing at {request.url.path}; see /docs",
        405: f"{request.url.path} does not support {request.method}; see /docs",
    }.get(error.status_code, error.detail)
    return error_response(error.status_code, message, dict(error.headers or {}))


async def _handle_bug(request: Request, error: Exception) -> Response:
    return error_response(500, "something went wrong in the server; its log says what")
