"""The page about the API, drawn from its OpenAPI description, and the page about the model."""

from __future__ import annotations

import json
from typing import Any, cast

from easyfirst.render.markup import element, escape
from easyfirst.server.page import frame


def draw_docs(description: dict[str, Any]) -> str:
    """Draw a section for each operation and one for each schema."""
    info = description["info"]
    parts = [
        element("h1", escape(info["title"])),
        element("p", escape(info["description"])),
        element("p", 'For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).'),
    ]
    for path, methods in description["paths"].items():
        parts += [_draw_operation(path, method, operation) for method, operation in methods.items()]
    parts.append(element("h2", "Values", id="values"))
    for name, schema in description["components"]["schemas"].items():
        parts.append(element("details", element("summary", escape(name), id=name) + _draw_json(schema)))
    return frame(f"API – {info['title']}", "\n".join(parts))


def _draw_operation(path: str, method: str, operation: dict[str, Any]) -> str:
    name = f"{method}-{path.strip('/')}"
    parts = [
        element("h2", f"<code>{escape(f'{method.upper()} {path}')}</code> {escape(operation['summary'])}", id=name),
        element("p", escape(operation.get("description", ""))),
    ]
    if body := operation.get("requestBody"):
        [content] = body["content"].values()
        examples = "".join(
            element("p", escape(example["summary"])) + _draw_json(example["value"], indent=None)
            for example in content.get("examples", {}).values()
        )
        parts.append(element("p", "Body, as JSON:") + examples)
        parts.append(element("details", element("summary", "Schema of the body") + _draw_json(content["schema"])))
    rows = "".join(
        element(
            "tr", element("td", status) + element("td", escape(answer["description"])) + element("td", _kind(answer))
        )
        for status, answer in operation["responses"].items()
    )
    head = element("tr", "".join(element("th", title, scope="col") for title in ("Status", "Meaning", "Answer")))
    parts.append(element("table", element("thead", head) + element("tbody", rows)))
    return element("section", "\n".join(parts), aria_labelledby=name)


def _kind(answer: dict[str, Any]) -> str:
    """Return a link to the schema of an answer."""
    contents: dict[str, Any] = answer.get("content", {})
    names = [content["schema"].get("$ref", "").rpartition("/")[2] for content in contents.values()]
    return ", ".join(element("a", escape(name), href=f"#{name}") for name in names)


def _draw_json(value: object, *, indent: int | None = 2) -> str:
    return element("pre", escape(json.dumps(value, ensure_ascii=False, indent=indent)), tabindex=0)


def draw_model(name: str, facts: dict[str, Any]) -> str:
    """Draw what is known about a model: a table, in which long values are folded."""
    hint = element("p", "For programs: the same as JSON, with the header <code>Accept: application/json</code>.")
    return element("h1", f"The model {escape(name)}") + _draw_facts(facts) + hint


def _draw_facts(facts: dict[str, Any]) -> str:
    """Draw a table of values. Those that have parts themselves are folded."""
    rows: list[str] = []
    for key, value in facts.items():
        heading = element("th", escape(key.replace("_", " ")), scope="row")
        rows.append(element("tr", heading + element("td", _draw_fact(key, value))))
    return element("table", element("tbody", "\n".join(rows)))


def _draw_fact(key: str, value: object) -> str:
    if isinstance(value, dict):
        values = cast("dict[str, Any]", value)
        summary = element("summary", f"{len(values)} values of {escape(key.replace('_', ' '))}")
        return element("details", summary + _draw_facts(values))
    if isinstance(value, list):
        items = cast("list[object]", value)
        if any(isinstance(item, dict) for item in items):
            return "".join(_draw_fact(key, item) for item in items)
        return escape(", ".join(map(str, items))) if items else "none"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}"
    return escape("unknown" if value is None else str(value))
