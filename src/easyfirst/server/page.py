"""The page with a form to type text into and, below it, the trees with their derivations.

Without scripts it is a form and pictures. With them it is the workbench (``scripts/workbench.js``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from urllib.parse import parse_qs

from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.parser import Parser
from easyfirst.render.html import content_rules, page_script, page_style
from easyfirst.render.markup import element, escape
from easyfirst.server.answers import Answer
from easyfirst.server.constrained import MISC
from easyfirst.server.extras import drawing_of, section_of
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.parse_request import ParseRequest, request_conllu, request_texts, request_words

KINDS = {
    "text": "raw text",
    "lines": "one sentence per line",
    "tokens": "tokenized, one sentence per line",
    "conllu": "CoNLL-U",
}
TAGLINE = "Type a sentence, see how it is parsed, and correct it: the parser completes the rest of the tree."
EXAMPLES = (
    "I saw the man with the telescope.",
    "The old man the boat.",
    "She told the girl who had asked about the results that the committee, which met on Friday, would publish them "
    "before the end of the year.",
)
EDITOR = ("constraints", "picture", "panel", "editor")
"""The scripts of the editor of one sentence, which other pages can use too: see ``scripts/editor.js``."""
SCRIPTS = (*EDITOR, "exports", "store", "workbench", "walk", "annotate")
"""All scripts. They are on every page, because the Content-Security-Policy names one script."""
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
            return cls(("tokens", "conllu"), "tokens")
        return cls(tuple(KINDS), "text")

    def to_request(self, parser: Parser, limits: Limits) -> ParseRequest:
        """Make the request to parse the text that was typed in."""
        if self.kind == "text":
            return request_texts([self.text], parser, limits, one_sentence=False)
        lines = [line for line in self.text.split("\n") if line.strip()]
        if self.kind == "lines":
            return request_texts(lines, parser, limits, one_sentence=True)
        if self.kind == "conllu":
            return replace(request_conllu(self.text, limits), constraints=MISC)
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
    rules = content_rules(page_script(scripts(*SCRIPTS)), style(), form_action="'self'", connect="'self'")
    return rules + "; frame-ancestors 'none'"


def scripts(*names: str) -> tuple[str, ...]:
    """Return scripts of this package, for :func:`easyfirst.render.html.page_script`."""
    return tuple(_resource(f"scripts/{name}.js") for name in names)


def draw_page(
    form: Form,
    *,
    name: str,
    relations: Mapping[str, Sequence[str]] | None = None,
    answer: Answer | None = None,
    message: str = "",
) -> str:
    """Draw the page of the model ``name``: the form and, if it was sent, its trees or an error message. ``relations``
    are those of all models that the page can use."""
    models = {model: list(found) for model, found in (relations or {name: ()}).items()}
    facts = {"data-workbench": json.dumps({"model": name, "models": models})}
    parts = [element("h1", f"easyfirst <small>with the model {escape(name)}</small>")]
    if answer is None:
        parts += [element("p", escape(TAGLINE), class_="tagline"), _draw_form(form, has_focus=True)]
        parts += [_draw_examples(form), element("div", "", id="results")]
        return frame(f"easyfirst: the model {name}", element("div", "\n".join(parts), facts))
    found = count(len(answer.parses), "sentence") + ", " + count(sum(map(len, answer.parses)), "word")
    if message:
        result = element("p", escape(message), class_="error", role="alert", id="result", tabindex=-1)
    else:
        result = element("p", found, role="status", id="result", tabindex=-1) + _draw_limit(answer)
        result += "".join(element("p", escape(f"Warning: {each}."), class_="error") for each in answer.warnings)
    sections = "".join(
        section_of(sentence, drawing_of(sentence, None, n), n) for n, sentence in enumerate(answer.sentences, 1)
    )
    parts += [_draw_form(form), _draw_examples(form), element("div", result + sections, id="results")]
    title = "It could not be parsed" if message else found
    return frame(f"{title} – easyfirst: the model {name}", element("div", "\n".join(parts), facts))


def frame(title: str, content: str) -> str:
    """Draw a whole page around its content, with the style and the script that :func:`policy` allows."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>{style()}</style>\n</head>\n<body>\n'
        f"<main>\n{content}\n</main>\n"
        '<footer class="note"><a href="/">Parse</a> · <a href="/docs">API</a> · <a href="/model">Model</a></footer>\n'
        f"<script>{page_script(scripts(*SCRIPTS))}</script>\n</body>\n</html>\n"
    )


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
        element("button", "Parse", type="submit", title="Ctrl+Enter"),
    )
    fields, controls = "\n".join(parts[:2]), element("div", "\n".join(parts[2:]), class_="controls")
    return element("form", fields + controls, method="post", action="/#result", class_="input")


def _draw_examples(form: Form) -> str:
    """Draw a small form for each example, so that they work without scripts."""
    if "text" not in form.kinds:
        return element("div", "", class_="examples")
    forms = "".join(
        element(
            "form",
            f'<input type="hidden" name="text" value="{escape(text)}"><input type="hidden" name="kind" value="text">'
            + element("button", escape(text), type="submit"),
            method="post",
            action="/#result",
        )
        for text in EXAMPLES
    )
    return element("div", element("p", "Or try one of these:", class_="note") + forms, class_="examples")


def _draw_limit(answer: Answer) -> str:
    """Draw a note about the sentences that have no runners-up, if there are any."""
    n, n_explained = len(answer.parses), len(answer.explanations)
    if n == n_explained:
        return ""
    which = "this" if n == 1 else "these" if n_explained == 0 else f"those after the first {n_explained:,}"
    message = f"Runners-up are shown for {EXPLAINED_WORDS:,} words at most, so not for {which}."
    return element("p", message, class_="note")


@cache
def _resource(name: str) -> str:
    return files("easyfirst.server").joinpath(name).read_text(encoding="utf-8")


def style() -> str:
    """Return the style sheet of the pages."""
    return page_style() + "".join(map(_resource, ("page.css", "editor.css", "annotate.css")))
