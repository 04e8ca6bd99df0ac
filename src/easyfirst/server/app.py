"""The server as an ASGI application: a page, a JSON API, and the API's description."""

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
from easyfirst.errors import DataError, EasyFirstError, InputError
from easyfirst.parser import Parser
from easyfirst.server import schema
from easyfirst.server.answers import Answerer, SentenceAnswer, to_json
from easyfirst.server.asked import Asked, check_words, read_asked
from easyfirst.server.batching import Batcher
from easyfirst.server.body import Bodies
from easyfirst.server.docs import draw_docs
from easyfirst.server.guard import JSON, Guard, error_response, refusal
from easyfirst.server.limits import Limits
from easyfirst.server.page import EXPLAINED_WORDS, Form, draw_page, policy, read_form
from easyfirst.server.refusals import MediaTypeError, RefusedError

logger = logging.getLogger("uvicorn.error")

REFUSALS = {
    400: "The body is not JSON.",
    403: "The request comes from a page of another site.",
    408: "The body did not arrive in time.",
    413: "The body has too many bytes, or too many words.",
    415: "The body is said to be something else than JSON.",
    421: "The server is called by a name that is not its own.",
    422: "The model cannot parse this: the message says why.",
    500: "Something is wrong with the server or the model.",
    503: "Too many requests are waiting; Retry-After says when to try again.",
    504: "It took too long.",
}
ALWAYS = (403, 421, 500)
FAULTS_OF_INPUT = (InputError, DataError)
"""The model has been read long before a request, so these say what is wrong with the request."""
PAGE_WORDS = 2_000
"""The most that the page draws at a time: a word takes more than a kilobyte there."""


def create_app(
    parser: Parser,
    *,
    name: str,
    facts: Mapping[str, Any],
    limits: Limits | None = None,
    hosts: Iterable[str] = (),
    on_start: Callable[[], None] | None = None,
) -> Guard:
    """The application that serves a model under a ``name``. ``facts`` is what it says about the model; ``hosts`` are
    names it may be called by, apart from localhost and addresses of IP. ``on_start`` is called when it is ready, and
    a signal would stop it as it should."""
    service = _Service(parser, name, facts, limits or Limits(), on_start)
    return Guard(service.app(), names=hosts, policy=policy())


class _Service:
    """The answers to all requests."""

    def __init__(
        self,
        parser: Parser,
        name: str,
        facts: Mapping[str, Any],
        limits: Limits,
        on_start: Callable[[], None] | None,
    ) -> None:
        self._on_start = on_start
        self._parser, self._name, self._facts, self._limits = parser, name, dict(facts), limits
        self._model = {"name": name, "easyfirst_version": facts.get("easyfirst_version")}
        self._batcher: Batcher[Asked, list[SentenceAnswer]] = Batcher(
            Answerer(parser, limits), max_waiting=limits.max_waiting, timeout=limits.timeout
        )
        self._bodies = Bodies(limits)
        self._page_limits = replace(limits, max_words=min(limits.max_words, PAGE_WORDS))

    def app(self) -> FastAPI:
        app = FastAPI(
            title=f"easyfirst: the model {self._name}",
            version=__version__,
            description=_description(self._limits),
            docs_url=None,
            redoc_url=None,
            lifespan=self._lifespan,
            exception_handlers={
                EasyFirstError: _handle_error,
                HTTPException: _handle_http,
                Exception: _handle_bug,
            },
        )
        add = app.add_api_route
        add(
            "/parse",
            self.parse,
            methods=["POST"],
            summary="Parse text, or sentences in words",
            responses=_responses(schema.ParseAnswer, *REFUSALS),
            openapi_extra={"requestBody": schema.body_of_parse()},
        )
        add("/model", self.model, summary="What the model is", responses=_responses(schema.ModelAnswer, *ALWAYS))
        add("/health", self.health, summary="Is it there?", responses=_responses(schema.HealthAnswer, *ALWAYS))
        add("/", self.page, include_in_schema=False)
        add("/", self.page_with_trees, methods=["POST"], include_in_schema=False)
        add("/docs", self.docs, include_in_schema=False)
        self._app = app
        return app

    @asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncGenerator[None, None]:
        self._batcher.start()
        if self._on_start is not None:
            self._on_start()
        yield
        await self._batcher.close()

    async def parse(self, request: Request) -> Response:
        """The tree of every sentence, in order: what easyfirst parse --to json writes."""
        kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
        if kind != JSON:
            raise MediaTypeError(f"the body is said to be {kind!r}; send JSON, with the header Content-Type: {JSON}")
        async with self._bodies.read(request) as body:
            asked = read_asked(body, self._parser, self._limits)
            sentences = await self._batcher.submit(asked, weight=asked.weight)
        return Response(to_json({"model": self._model, "sentences": sentences}), media_type=JSON)

    async def model(self) -> Response:
        """What easyfirst info --json says about the model."""
        return Response(to_json(self._facts), media_type=JSON)

    async def health(self) -> Response:
        """An answer means that the server is there."""
        facts = {"status": "ok", "model": self._name, "easyfirst_version": __version__}
        return Response(to_json({**facts, "waiting": self._batcher.n_waiting}), media_type=JSON)

    async def page(self) -> Response:
        return HTMLResponse(draw_page(Form.of(self._parser), name=self._name))

    async def page_with_trees(self, request: Request) -> Response:
        """The same page, with what was typed in and its trees, or what is wrong with it."""
        form, message, status = Form.of(self._parser), "", 200
        sentences: list[SentenceAnswer] = []
        try:
            async with self._bodies.read(request) as body:
                form = read_form(body, form)
                asked = replace(form.asked(self._parser, self._page_limits), max_explained=EXPLAINED_WORDS)
                parsed = await self._batcher.submit(asked, weight=asked.weight)
            check_words(sum(len(sentence["words"]) for sentence in parsed), self._page_limits)
            sentences = parsed
        except (RefusedError, *FAULTS_OF_INPUT) as error:
            message = str(error)
            status = error.status if isinstance(error, RefusedError) else RefusedError.status
        page = await asyncio.to_thread(draw_page, form, name=self._name, sentences=sentences, message=message)
        return HTMLResponse(page, status)

    async def docs(self) -> Response:
        return HTMLResponse(draw_docs(self._app.openapi()))


def _responses(model: type[BaseModel], *statuses: int) -> dict[int | str, dict[str, Any]]:
    refusals = {status: {"model": schema.ErrorAnswer, "description": REFUSALS[status]} for status in statuses}
    return {200: {"model": model, "description": model.__doc__}, **refusals}


def _description(limits: Limits) -> str:
    return (
        f"A request may have up to {limits.max_bytes:,} bytes and {limits.max_words:,} words, and a sentence up to "
        f"{limits.max_sentence_words:,} words. Every error is an object with one key, error, that says what to do."
    )


async def _handle_error(request: Request, error: Exception) -> Response:
    if isinstance(error, RefusedError):
        return refusal(error)
    if isinstance(error, FAULTS_OF_INPUT):
        return error_response(RefusedError.status, str(error))
    logger.error("%s %s: %s", request.method, request.url.path, error)
    return error_response(500, str(error))


async def _handle_http(request: Request, error: Exception) -> Response:
    """There is no such path, or it has no such method."""
    assert isinstance(error, HTTPException)
    message = {
        404: f"there is nothing at {request.url.path}; see /docs",
        405: f"{request.method} is not for {request.url.path}; see /docs",
    }.get(error.status_code, error.detail)
    return error_response(error.status_code, message, dict(error.headers or {}))


async def _handle_bug(request: Request, error: Exception) -> Response:
    return error_response(500, "something went wrong in the server; its log says what")
