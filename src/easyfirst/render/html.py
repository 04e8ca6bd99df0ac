"""Dependency trees as a self-contained HTML page. Each sentence has a picture and a slider that steps through its
derivation: the pending list, the chosen pair, and the arcs in the order they were added.

The page loads nothing, and its Content-Security-Policy allows only its own script and style sheet, by their hashes.
Without scripts it shows the complete trees and tables of their steps. All controls work with the keyboard, and changes
are announced to screen readers.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from easyfirst.render.bands import per_cent
from easyfirst.render.drawing import Drawing
from easyfirst.render.markup import element, escape
from easyfirst.render.svg import WIDTH, dark_style, draw_svg

FOLDED_AFTER = 100  # sentences: of a longer page the others are folded, so that browsers need not lay them out
SCRIPTS = ("steps", "view")


def draw_html(
    drawings: Iterable[Drawing], *, title: str = "Dependency trees", width: float = WIDTH, shows_steps: bool = False
) -> str:
    """Return a page with all the sentences. With ``shows_steps``, their steps are unfolded.

    >>> page = draw_html([Drawing(["The", "fox"], [2, 0], ["det", "root"])])
    >>> page.startswith("<!DOCTYPE html>"), page.count("<svg ")
    (True, 1)
    """
    return "".join(html_parts(drawings, title=title, width=width, shows_steps=shows_steps))


def html_parts(
    drawings: Iterable[Drawing], *, title: str = "Dependency trees", width: float = WIDTH, shows_steps: bool = False
) -> Iterator[str]:
    """Yield the page of :func:`draw_html` one sentence at a time, for inputs of any length."""
    script, style = page_script(), page_style()
    rules, name = content_rules(script, style), escape(title)
    switches = element("div", "", {"data-switches": "tags punctuation numbers"}, class_="controls")
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n'
        f"<h1>{name}</h1>\n{switches}\n"
    )
    for n, drawing in enumerate(drawings, 1):
        section = draw_section(drawing, n, width=width, shows_steps=shows_steps)
        if n > FOLDED_AFTER:
            summary = element("summary", f"{escape(drawing.title or f'Sentence {n}')}: {_written(drawing)}")
            section = element("details", f"{summary}\n{section}", class_="sentence") + "\n"
        yield section
    yield f"</main>\n<script>{script}</script>\n</body>\n</html>\n"


def page_script(more: Iterable[str] = ()) -> str:
    """Return the script that steps through derivations, with ``more`` scripts after it. Their names are visible to one
    another and to nothing else on the page."""
    scripts = (*(_resource(f"scripts/{name}.js") for name in SCRIPTS), *more)
    return '(() => {\n"use strict";\n' + "\n".join(scripts) + "})();\n"


def page_style() -> str:
    """Return the style sheet, for light and dark backgrounds."""
    return f"{_resource('page.css')}@media (prefers-color-scheme: dark) {{ {dark_style()} }}\n"


def content_rules(script: str, style: str, *, form_action: str = "'none'", connect: str = "'none'") -> str:
    """Return the Content-Security-Policy of a page that contains only this script and this style sheet."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action {form_action}; connect-src {connect}; "
        f"script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'"
    )


def draw_section(drawing: Drawing, n: int, *, width: float = WIDTH, shows_steps: bool = False, more: str = "") -> str:
    """Return the ``n``-th sentence of a page: its picture, its steps, folded unless ``shows_steps``, and ``more``."""
    order = drawing.order()
    name = drawing.title or f"Sentence {n}"
    svg = draw_svg(drawing, width=width, name=f"tree-{n}", has_style=False)
    picture = element("div", svg, class_="picture", tabindex=0, role="group", aria_label=f"Picture of {name}")
    heading = element("h2", escape(name), id=f"name-{n}")
    parts = [heading, element("p", _written(drawing), class_="written", dir=_direction(drawing), lang=""), picture]
    if order:
        parts.append(_steps(drawing, order, is_open=shows_steps))
    attributes = {"data-steps": len(order) or None}
    return element("section", "\n".join([*parts, more]), attributes, aria_labelledby=f"name-{n}") + "\n"


def _direction(drawing: Drawing) -> str:
    return "rtl" if drawing.is_right_to_left else "ltr"


def _written(drawing: Drawing) -> str:
    """Return the sentence as it is written, isolated from the text around it."""
    return element("bdi", escape(drawing.text))


def _steps(drawing: Drawing, order: tuple[int, ...], *, is_open: bool) -> str:
    note = "" if drawing.has_steps else " (in a possible order: the input has no steps)"
    key = "The number after the relation on an arc is its step. " if drawing.has_steps else ""
    key += "At each step the parser attaches a word to a neighbour in the pending list, the easiest first."
    parts = (element("summary", f"Steps{note}"), element("p", key, class_="note legend"), _table(drawing, order))
    return element("details", "".join(parts), class_="steps", open="open" if is_open else None)


def _table(drawing: Drawing, order: tuple[int, ...]) -> str:
    has_confidence = drawing.confidence is not None
    titles = ["Step", "Modifier", "Relation", "Head", *["Confidence"] * has_confidence]
    titles += ["Chosen, and runners-up"] * (drawing.notes is not None)
    rows: list[str] = []
    for step, m in enumerate(order, 1):
        end, confidence = drawing.heads[m - 1] or 0, drawing.confidence_of(m)
        head = drawing.moved_head(m) or end
        form, head_form, relation = drawing.forms[m - 1], drawing.forms[head - 1], drawing.relation(m)
        percentage = "" if confidence is None else per_cent(confidence)
        moved = "" if head == end else f", moved to {drawing.forms[end - 1]} {end} at the end"
        cells = [str(step), f"{form} {m}", relation, f"{head_form} {head}{moved}", *[percentage] * has_confidence]
        facts = {"data-modifier": m, "data-head": head, "data-moved": end if head != end else None}
        content = "".join(element("td", escape(cell)) for cell in cells)
        if drawing.notes is not None:
            notes = "".join(element("li", escape(note)) for note in drawing.notes[m - 1])
            content += element("td", element("ul", notes) if notes else "")
        rows.append(element("tr", content, facts))
    headings = element("tr", "".join(element("th", title, scope="col") for title in titles))
    table = element("table", element("thead", headings) + element("tbody", "\n".join(rows)))
    return element("div", table, class_="scrolled", tabindex=0, role="group", aria_label="Table of the steps")


@cache
def _resource(name: str) -> str:
    return files("easyfirst.render").joinpath(name).read_text(encoding="utf-8")
