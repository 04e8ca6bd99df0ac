"""The page with a form to type text into and, below it, the trees with their derivations; and that about the API.

The only script is that of ``render.html``, and the pages work without it too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

from easyfirst.confidence.estimates import rounded
from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.parser import Parser
from easyfirst.render.bands import per_cent
from easyfirst.render.html import content_rules, draw_section, page_script, page_style
from easyfirst.render.markup import element, escape
from easyfirst.results.explanations import Explanation
from easyfirst.results.parses import Parse
from easyfirst.results.plain import finite, given
from easyfirst.server.answers import Answer
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.parse_request import ParseRequest, request_texts, request_words

KINDS = {
    "text": "raw text",
    "lines": "one sentence per line",
    "tokens": "tokenized, one sentence per line",
}
EXPLAINED_WORDS = 500  # the most with runners-up: finding them takes three times as long as parsing


@dataclass(frozen=True, slots=True)
class Form:
    """The form: the kinds of input it offers, the one that was chosen, and the text that was typed in."""

    kinds: tuple[str, ...]
    kind: str
    text: str = ""

    @classmethod
    def of(cls, parser: Parser) -> Form:
        """Make an empty form. A model without a tokenizer reads words only."""
        try:
            parser.require_tokenizer()
        except InputError:
            return cls(("tokens",), "tokens")
        return cls(tuple(KINDS), "text")

    def to_request(self, parser: Parser, limits: Limits) -> ParseRequest:
        """Make the request to parse the text that was typed in."""
        if self.kind == "text":
            return request_texts([self.text], parser, limits, one_sentence=False)
        lines = [line for line in self.text.split("\n") if line.strip()]
        if self.kind == "lines":
            return request_texts(lines, parser, limits, one_sentence=True)
        return request_words([line.split() for line in lines], limits)


def read_form(body: bytes, form: Form) -> Form:
    """Fill in a form with the values that a browser sent."""
    try:
        values = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=10)
    except ValueError:
        raise RefusedError("this is not what the form of this page sends", 400) from None
    kind = values.get("kind", [form.kind])[-1]
    if kind not in form.kinds:
        raise RefusedError(f"kind is {kind!r}; it must be {' or '.join(form.kinds)}", 400)
    return replace(form, kind=kind, text=values.get("text", [""])[-1].replace("\r\n", "\n"))


def policy() -> str:
    """Return the Content-Security-Policy of all responses."""
    return content_rules(page_script(), _style(), form_action="'self'") + "; frame-ancestors 'none'"


def draw_page(form: Form, *, name: str, answer: Answer | None = None, message: str = "") -> str:
    """Draw the page of the model ``name``: the form and, if it was sent, its trees or an error message."""
    heading = f"easyfirst: the model {name}"
    if answer is None:
        return frame(heading, element("h1", escape(heading)) + _draw_form(form, has_focus=True))
    found = count(len(answer.parses), "sentence") + ", " + count(sum(map(len, answer.parses)), "word")
    if message:
        result = element("p", escape(message), class_="error", role="alert", id="result", tabindex=-1)
    else:
        result = element("p", found, role="status", id="result", tabindex=-1) + _draw_limit(answer)
        result += "".join(element("p", escape(f"Warning: {each}."), class_="error") for each in answer.warnings)
    explained = len(answer.explanations)
    sentences = (*answer.explanations, *answer.parses[explained:])
    sections = "".join(_draw_sentence(sentence, n) for n, sentence in enumerate(sentences, 1))
    title = "It could not be parsed" if message else found
    return frame(f"{title} – {heading}", element("h1", escape(heading)) + _draw_form(form) + result + sections)


def frame(title: str, content: str) -> str:
    """Draw a whole page around its content, with the style and the script that :func:`policy` allows."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n'
        f"<main>\n{content}\n</main>\n"
        '<footer class="note"><a href="/">Parse</a> · <a href="/docs">API</a> · <a href="/model">Model</a></footer>\n'
        f"<script>{page_script()}</script>\n</body>\n</html>\n"
    )


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


def _draw_form(form: Form, *, has_focus: bool = False) -> str:
    options = "".join(
        element("option", escape(KINDS[kind]), value=kind, selected="selected" if kind == form.kind else None)
        for kind in form.kinds
    )
    parts = (
        element("label", "Text", for_="text"),
        # browsers drop a line end directly after the tag
        element(
            "textarea",
            "\n" + escape(form.text),
            name_="text",
            id="text",
            rows=4,
            dir="auto",
            lang="",
            autofocus="autofocus" if has_focus else None,
        ),
        element("label", "Input", for_="kind"),
        element("select", options, name_="kind", id="kind", autocomplete="off"),
        element("button", "Parse", type="submit"),
    )
    return element("form", "\n".join(parts), method="post", action="/#result")


def _draw_limit(answer: Answer) -> str:
    """Draw a note about the sentences that have no runners-up, if there are any."""
    n, n_explained = len(answer.parses), len(answer.explanations)
    if n == n_explained:
        return ""
    which = "this" if n == 1 else "these" if n_explained == 0 else f"those after the first {n_explained:,}"
    message = f"Runners-up are shown for {EXPLAINED_WORDS:,} words at most, so not for {which}."
    return element("p", message, class_="note")


def _draw_sentence(sentence: Parse | Explanation, n: int) -> str:
    drawing = sentence.drawing()
    parse = sentence.parse if isinstance(sentence, Explanation) else sentence
    pairs = zip(parse.tagged.upos, parse.tagged.xpos, strict=True)
    drawing = replace(drawing, title=f"Sentence {n}", tags=[xpos if upos == "_" else upos for upos, xpos in pairs])
    if confidence := parse.confidence:
        title = f"{drawing.title} (confidence {per_cent(rounded(confidence.tree))})"
        drawing = replace(drawing, title=title, confidence=[rounded(arc) for arc in confidence.arcs])
    return draw_section(drawing, n) + element("details", element("summary", "All words") + _draw_words(parse))


def _draw_words(parse: Parse) -> str:
    """Draw the table of all words, without the columns that are empty."""
    decided = {step.modifier: step for step in parse.derivation}
    steps = [decided.get(m) for m in range(1, len(parse) + 1)]
    confidence = parse.confidence
    columns: dict[str, Sequence[str | float | None]] = {
        "Number": range(1, len(parse) + 1),
        "Word": parse.tagged.forms,
        "Lemma": list(map(given, parse.tagged.lemmas)),
        "UPOS": list(map(given, parse.tagged.upos)),
        "XPOS": list(map(given, parse.tagged.xpos)),
        "Features": list(map(given, parse.tagged.feats)),
        "Head": parse.heads,
        "Relation": parse.relations,
        "Moved from": [parse.moved.get(m) for m in range(1, len(parse) + 1)],
        "Step": [step and step.step for step in steps],
        "Score": [step and finite(step.score) for step in steps],
        "Margin": [step and finite(step.margin) for step in steps],
        "Margin of the relation": [step and finite(step.label_margin) for step in steps],
        "Confidence of the head": [rounded(arc) for arc in confidence.arcs] if confidence else (),
        "Confidence of head and relation": [rounded(label) for label in confidence.labels] if confidence else (),
    }
    shown = {name: column for name, column in columns.items() if any(cell is not None for cell in column)}
    head = element("tr", "".join(element("th", name, scope="col") for name in shown))
    rows = "\n".join(
        element("tr", "".join(element("td", f"<bdi>{escape(_shown(cell))}</bdi>") for cell in row))
        for row in zip(*shown.values(), strict=True)
    )
    return element("table", element("thead", head) + element("tbody", rows))


def _shown(value: str | float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@cache
def _style() -> str:
    return page_style() + files("easyfirst.server").joinpath("page.css").read_text(encoding="utf-8")
