"""The endpoints of annotation: the page, the next sentence, and saving.

Trees are parsed by ``POST /parse``; these endpoints only give out sentences and save what people confirmed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from ipaddress import ip_address
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from starlette.responses import HTMLResponse

from easyfirst.annotation.queue import Queue
from easyfirst.annotation.records import Annotation, Check, Status, check_name
from easyfirst.annotation.store import UNTOUCHED, ChangedError, Record
from easyfirst.errors import DataError
from easyfirst.server.annotation_page import draw_annotation
from easyfirst.server.answers import to_json
from easyfirst.server.body import Bodies, check_json
from easyfirst.server.guard import JSON
from easyfirst.server.limits import RefusedError
from easyfirst.server.parse_request import read_object

NEXT_EXAMPLE = 'as in {"annotator": "anna", "after": 17}'
SAVE_EXAMPLE = (
    'as in {"annotator": "anna", "status": "done", "heads": [2, 0], "relations": ["nsubj", "root"], '
    '"checks": {"1": "corrected"}, "revision": ""}'
)
SAVE_KEYS = ("annotator", "status", "heads", "relations", "checks", "revision")
SENTENCE = "/annotate/sentences/{number}"


class Annotating:
    """The endpoints of annotation."""

    def __init__(self, queue: Queue, bodies: Bodies, *, name: str, relations: Sequence[str], annotator: str) -> None:
        """``name`` and ``relations`` are those of the model."""
        self._queue, self._store, self._bodies = queue, queue.store, bodies
        self._page, self._page_elsewhere = (
            draw_annotation(name, relations, proposed, self._store.name) for proposed in (annotator, "")
        )

    def add_to(self, app: FastAPI) -> None:
        """Add the endpoints to an application."""
        add = app.add_api_route
        add("/annotate", self.page, include_in_schema=False)
        add("/annotate/progress", self.progress, include_in_schema=False)
        add("/annotate/next", self.next, methods=["POST"], include_in_schema=False)
        add(SENTENCE, self.sentence, include_in_schema=False)
        add(SENTENCE, self.save, methods=["POST"], include_in_schema=False)

    async def page(self, request: Request) -> Response:
        """Return the page. It proposes the name of the user of this machine only to a browser on this machine."""
        is_here = request.client is not None and is_loopback(request.client.host)
        return HTMLResponse(self._page if is_here else self._page_elsewhere)

    async def progress(self) -> Response:
        """Return how much is done, also by other processes."""
        await asyncio.to_thread(self._store.refresh)
        return _json(self._progress())

    async def next(self, request: Request) -> Response:
        """Claim the next sentence for an annotator and return it, or null if there is none."""
        values = await self._body(request, NEXT_EXAMPLE, "annotator", "after")
        after = values.get("after")
        if after is not None and (isinstance(after, bool) or after not in self._store.corpus):
            raise RefusedError(f"after is {after!r}; it must be the number of a sentence, {NEXT_EXAMPLE}")
        await asyncio.to_thread(self._store.refresh)
        number = self._queue.next(_annotator(values), after)
        return _json({"sentence": None if number is None else self._describe(number), "progress": self._progress()})

    async def sentence(self, number: str, request: Request) -> Response:
        """Return a sentence with what was confirmed, and claim it for an annotator, unless somebody else has it. A page
        of another site claims nothing: browsers send its images without an Origin, but say that they are cross-site."""
        place = self._number(number)
        await asyncio.to_thread(self._store.refresh)
        is_own = request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
        name = request.query_params.get("annotator", "") if is_own else ""
        owner = self._queue.claim(place, check_name(name)) if name else None
        return _json({"sentence": self._describe(place), "open_at": owner, "progress": self._progress()})

    async def save(self, number: str, request: Request) -> Response:
        """Save a sentence. When the response comes, it is on disk."""
        place = self._number(number)
        values = await self._body(request, SAVE_EXAMPLE, *SAVE_KEYS)
        annotator, revision = _annotator(values), values.get("revision", UNTOUCHED)
        before = self._store[place]
        annotation = Annotation.of(
            self._store.corpus.sentence(place),
            _status(values.get("status")),
            _column(values, "heads", int),
            _column(values, "relations", str),
            _checks(values.get("checks", {})),
            by=annotator,
            before=None if before is None else before.annotation,
        )
        try:
            new = await asyncio.to_thread(self._store.save, place, annotation, revision=revision)
        except ChangedError as error:
            raise RefusedError(str(error), 409) from None
        except DataError as error:  # a full disk
            raise RefusedError(str(error), 500) from None
        if annotation.status is Status.done:
            self._queue.release(place, annotator)
        return _json({"revision": new, "progress": self._progress()})

    async def _body(self, request: Request, example: str, *keys: str) -> dict[str, Any]:
        check_json(request)
        async with self._bodies.read(request) as body:
            values = read_object(body, example)
        if unknown := [key for key in values if key not in keys]:
            raise RefusedError(f"unknown key {unknown[0]!r}; write the body {example}")
        return values

    def _number(self, given: str) -> int:
        number = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0
        if number not in self._store.corpus:
            raise RefusedError(
                f"there is no sentence {given}; they are numbered from 1 to {len(self._store.corpus)}", 404
            )
        return number

    def _describe(self, number: int) -> dict[str, Any]:
        item, record = self._store.corpus.items[number - 1], self._store[number]
        return {
            "number": number,
            "place": self._queue.place(number),
            "confidence": item.confidence,
            "conllu": item.read().to_bytes().decode(errors="replace"),
            **_state(record),
        }

    def _progress(self) -> dict[str, Any]:
        progress = self._store.progress
        return {**asdict(progress), "left": progress.left}


def _state(record: Record | None) -> dict[str, Any]:
    """Return what people have confirmed of a sentence. The constraints are those that complete its tree."""
    if record is None:
        return {"status": None, "by": [], "time": None, "revision": UNTOUCHED, "constraints": None, "checks": {}}
    found = record.annotation
    heads = {m: head for m, head in enumerate(found.heads, 1) if head is not None}
    relations = {m: relation for m, relation in enumerate(found.relations, 1) if relation is not None}
    return {
        "status": found.status.value,
        "by": found.annotators,
        "time": found.time,
        "revision": record.revision,
        "constraints": {"heads": heads, "relations": relations, "forbidden": [], "brackets": []},
        "checks": {m: check.value for m, check in found.checks.items()},
    }


def _json(value: object) -> Response:
    return Response(to_json(value), media_type=JSON)


def is_loopback(address: str) -> bool:
    """Return whether a client's address is one of this machine itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def _annotator(values: dict[str, Any]) -> str:
    name = values.get("annotator")
    if not isinstance(name, str):
        raise RefusedError("annotator must be a string: the name of the person who annotates")
    return check_name(name)


def _status(value: object) -> Status:
    if not isinstance(value, str) or value not in Status.__members__:
        raise RefusedError(f"status is {value!r}; it must be done or partial, {SAVE_EXAMPLE}")
    return Status(value)


def _column(values: dict[str, Any], key: str, kind: type) -> list[Any]:
    """Return the heads or the relations: a list with values or null."""
    given = values.get(key)
    cells = cast("list[object]", given) if isinstance(given, list) else [given]
    if not isinstance(given, list) or any(type(cell) is not kind and cell is not None for cell in cells):
        raise RefusedError(f"{key} must be a list with a value or null for each word, {SAVE_EXAMPLE}")
    return cells


def _checks(given: object) -> dict[int, Check]:
    if not isinstance(given, dict):
        raise RefusedError(f"checks must be an object, {SAVE_EXAMPLE}")
    found: dict[int, Check] = {}
    for m, check in cast("dict[str, object]", given).items():
        is_number = m.isascii() and m.isdecimal() and len(m) < 10
        if not is_number or not isinstance(check, str) or check not in Check.__members__:
            raise RefusedError(f"checks has {m!r}: {check!r}; give the number of a word, and seen or corrected")
        found[int(m)] = Check(check)
    return found
