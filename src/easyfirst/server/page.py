"""The page one types text into: a form and, below it, the trees with their step-through. All of it is made here, so it
needs no script but the one of ``render.html``, and works without that one too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

from easyfirst.errors import InputError
from easyfirst.parser import Parser
from easyfirst.render.bands import per_cent
from easyfirst.render.drawing import Drawing
from easyfirst.render.html import content_rules, draw_section, page_script, page_style
from easyfirst.render.markup import element, escape
from easyfirst.server.answers import SentenceAnswer
from easyfirst.server.asked import Asked, texts_asked, words_asked
from easyfirst.server.limits import Limits
from easyfirst.server.refusals import BadRequestError

KINDS = {
    "text": "text, to be split into sentences",
    "lines": "one sentence a line",
    "tokens": "one sentence a line, with spaces between all words",
}
COLUMNS = {
    "id": "Number",
    "form": "Word",
    "upos": "UPOS",
    "xpos": "XPOS",
    "head": "Head",
    "relation": "Relation",
    "step": "Step",
    "score": "Score",
    "margin": "Margin",
    "label_margin": "Margin of the relation",
    "arc_confidence": "Confidence of the head",
    "label_confidence": "Confidence of head and relation",
}
"""What the table of words shows of the JSON, where it is there."""
EXPLAINED_WORDS = 500
"""The most that the page shows the runners-up of: to find them takes three times as long as to parse."""


@dataclass(frozen=True, slots=True)
class Form:
    """What can be typed in, and what was."""

    kinds: tuple[str, ...]
    kind: str
    text: str = ""

    @classmethod
    def of(cls, parser: Parser) -> Form:
        """An empty form. A model without a tokenizer reads words only."""
        try:
            parser.read(())
        except InputError:
            return cls(("tokens",), "tokens")
        return cls(tuple(KINDS), "text")

    def asked(self, parser: Parser, limits: Limits) -> Asked:
        """What is to be parsed."""
        if self.kind == "text":
            return texts_asked([self.text], parser, limits, one_sentence=False)
        lines = [line for line in self.text.split("\n") if line.strip()]
        if self.kind == "lines":
            return texts_asked(lines, parser, limits, one_sentence=True)
        return words_asked([line.split() for line in lines], parser, limits)


def read_form(body: bytes, form: Form) -> Form:
    """The form as a browser sends it, filled in."""
    try:
        values = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=10)
    except ValueError:
        raise BadRequestError("this is not what the form of this page sends") from None
    kind = values.get("kind", [form.kind])[-1]
    if kind not in form.kinds:
        raise BadRequestError(f"kind is {kind!r}; it must be {' or '.join(form.kinds)}")
    return replace(form, kind=kind, text=values.get("text", [""])[-1].replace("\r\n", "\n"))


def policy() -> str:
    """The Content-Security-Policy of everything the server sends."""
    return content_rules(page_script(), _style(), form_action="'self'") + "; frame-ancestors 'none'"


def draw_page(form: Form, *, name: str, sentences: Sequence[SentenceAnswer] | None = None, message: str = "") -> str:
    """The page with a form and, if it was sent, its trees or a message. ``name`` is the model's."""
    heading = f"easyfirst: the model {name}"
    if sentences is None:
        return frame(heading, element("h1", escape(heading)) + _draw_form(form, has_focus=True))
    found = (
        _count(len(sentences), "sentence") + ", " + _count(sum(len(answer["words"]) for answer in sentences), "word")
    )
    if message:
        result = element("p", escape(message), class_="error", role="alert", id="result", tabindex=-1)
    else:
        result = element("p", found, role="status", id="result", tabindex=-1) + _draw_limit(sentences)
    sections = "".join(_draw_sentence(answer, n) for n, answer in enumerate(sentences, 1))
    title = "It could not be parsed" if message else found
    return frame(f"{title} – {heading}", element("h1", escape(heading)) + _draw_form(form) + result + sections)


def frame(title: str, content: str) -> str:
    """A whole page around some content. Style and script are those that :func:`policy` allows."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n'
        f"<main>\n{content}\n</main>\n"
        '<footer class="note"><a href="/">Parse</a> · <a href="/docs">API</a> · <a href="/model">Model</a></footer>\n'
        f"<script>{page_script()}</script>\n</body>\n</html>\n"
    )


def _draw_form(form: Form, *, has_focus: bool = False) -> str:
    options = "".join(
        element("option", escape(KINDS[kind]), value=kind, selected="selected" if kind == form.kind else None)
        for kind in form.kinds
    )
    parts = (
        element("label", "Text", for_="text"),
        # a line end directly after the tag is none
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
        element("label", "This is", for_="kind"),
        element("select", options, name_="kind", id="kind", autocomplete="off"),
        element("button", "Parse", type="submit"),
    )
    return element("form", "\n".join(parts), method="post", action="/#result")


def _draw_limit(sentences: Sequence[SentenceAnswer]) -> str:
    """Which sentences have no runners-up, if some have not."""
    n = sum("notes" in answer for answer in sentences)
    if n == len(sentences):
        return ""
    which = "this" if len(sentences) == 1 else "these" if n == 0 else f"those after the first {n:,}"
    message = f"Runners-up are shown for {EXPLAINED_WORDS:,} words at most, so not for {which}."
    return element("p", message, class_="note")


def _draw_sentence(answer: SentenceAnswer, n: int) -> str:
    words: list[dict[str, Any]] = answer["words"]
    title = f"Sentence {n}"
    if (confidence := answer.get("confidence")) is not None:
        title += f" (confidence {per_cent(confidence)})"
    drawing = Drawing(
        [word["form"] for word in words],
        [word["head"] for word in words],
        [word["relation"] for word in words],
        [word["upos"] or word["xpos"] or "_" for word in words],
        _known([word.get("arc_confidence") for word in words]),
        _known([word["step"] for word in words]),
        title,
        answer.get("notes"),
    )
    return draw_section(drawing, n) + element("details", element("summary", "All words") + _draw_words(words))


def _draw_words(words: Sequence[dict[str, Any]]) -> str:
    keys = [key for key in COLUMNS if any(word.get(key) is not None for word in words)]
    head = element("tr", "".join(element("th", COLUMNS[key], scope="col") for key in keys))
    rows = "\n".join(
        element("tr", "".join(element("td", f"<bdi>{escape(_shown(word.get(key)))}</bdi>") for key in keys))
        for word in words
    )
    return element("table", element("thead", head) + element("tbody", rows))


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _known(values: list[Any]) -> list[Any] | None:
    return values if any(value is not None for value in values) else None


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


@cache
def _style() -> str:
    return page_style() + files("easyfirst.server").joinpath("page.css").read_text(encoding="utf-8")
