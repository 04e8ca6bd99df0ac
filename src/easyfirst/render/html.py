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

from easyfirst.counting import count
from easyfirst.render.bands import per_cent
from easyfirst.render.drawing import Drawing
from easyfirst.render.markup import element, escape
from easyfirst.render.svg import WIDTH, dark_style, draw_svg


def draw_html(drawings: Iterable[Drawing], *, title: str = "Dependency trees", width: float = WIDTH) -> str:
    """Return a page with all the sentences.

    >>> page = draw_html([Drawing(["The", "fox"], [2, 0], ["det", "root"])])
    >>> page.startswith("<!DOCTYPE html>"), page.count("<svg ")
    (True, 1)
    """
    return "".join(html_parts(drawings, title=title, width=width))


def html_parts(drawings: Iterable[Drawing], *, title: str = "Dependency trees", width: float = WIDTH) -> Iterator[str]:
    """Yield the page of :func:`draw_html` one sentence at a time, for inputs of any length."""
    script, style = page_script(), page_style()
    rules, name = content_rules(script, style), escape(title)
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n'
        f"<h1>{name}</h1>\n"
    )
    for n, drawing in enumerate(drawings, 1):
        yield draw_section(drawing, n, width=width)
    yield f"</main>\n<script>{script}</script>\n</body>\n</html>\n"


def page_script() -> str:
    """Return the script of the sliders."""
    return _resource("page.js")


def page_style() -> str:
    """Return the style sheet, for light and dark backgrounds."""
    return f"{_resource('page.css')}@media (prefers-color-scheme: dark) {{ {dark_style()} }}\n"


def content_rules(script: str, style: str, *, form_action: str = "'none'") -> str:
    """Return the Content-Security-Policy of a page that contains only this script and this style sheet."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action {form_action}; "
        f"script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'"
    )


def draw_section(drawing: Drawing, n: int, *, width: float = WIDTH) -> str:
    """Return the ``n``-th sentence of a page: its picture, its controls (hidden without scripts) and its steps."""
    order = drawing.order()
    name = drawing.title or f"Sentence {n}"
    direction = "rtl" if drawing.is_right_to_left else "ltr"
    svg = draw_svg(drawing, width=width, name=f"tree-{n}", has_style=False)
    picture = element("div", svg, class_="picture", tabindex=0, role="group", aria_label=f"Picture of {name}")
    heading = element("h2", escape(name), id=f"name-{n}")
    parts = [heading, element("p", escape(drawing.text), dir=direction, lang=""), picture]
    if order:
        parts += [_stepper(drawing, n, len(order), direction), _table(drawing, order)]
    attributes = {"data-steps": len(order) or None}
    return element("section", "\n".join(parts), attributes, aria_labelledby=f"name-{n}") + "\n"


def _stepper(drawing: Drawing, n: int, n_steps: int, direction: str) -> str:
    last = n_steps + 1
    slider = f'<input type="range" id="step-{n}" min="0" max="{last}" value="{last}" step="1" autocomplete="off">'
    back, forward = (element("button", name, type="button") for name in ("Back", "Forward"))
    controls = element("label", "Step", for_=f"step-{n}") + back + slider + forward
    items = "".join(
        element("li", f'<bdi>{escape(form)}</bdi> <span class="role"></span>', {"data-id": m})
        for m, form in enumerate(drawing.forms, 1)
    )
    roots = [form for form, head in zip(drawing.forms, drawing.heads, strict=True) if not head]
    left = f"{_quoted(roots[0])} is left: it is the root." if len(roots) == 1 else f"{len(roots)} words are left."
    messages = {
        "data-start": f"Start: all {len(drawing)} words are pending.",
        "data-end": f"Done after {count(n_steps, 'step')}. {left}",
    }
    parts = [
        element("div", controls, class_="controls"),
        element("p", "", class_="now", aria_live="polite"),
        element("p", "Pending list:", class_="note", id=f"pending-{n}"),
        element("ol", items, class_="pending", dir=direction, aria_labelledby=f"pending-{n}"),
    ]
    if drawing.notes is not None:
        parts.append(element("p", "Chosen, and runners-up:", class_="note", id=f"others-{n}"))
        parts.append(element("ul", "", class_="others", aria_labelledby=f"others-{n}"))
    return element("div", "\n".join(parts), messages, class_="stepper").replace("<div ", "<div hidden ", 1)


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
        text = f"Step {step} of {len(order)}: {_quoted(form)} becomes {relation or 'modifier'} of {_quoted(head_form)}"
        text += f", confidence {percentage}." if percentage else "."
        text += f" The arc was moved to {_quoted(drawing.forms[end - 1])} at the end." if head != end else ""
        facts = {"data-modifier": m, "data-head": head, "data-moved": end if head != end else None, "data-text": text}
        content = "".join(element("td", f"<bdi>{escape(cell)}</bdi>") for cell in cells)
        if drawing.notes is not None:
            notes = "".join(element("li", f"<bdi>{escape(note)}</bdi>") for note in drawing.notes[m - 1])
            content += element("td", element("ul", notes) if notes else "")
        rows.append(element("tr", content, facts))
    headings = element("tr", "".join(element("th", title, scope="col") for title in titles))
    table = element("table", element("thead", headings) + element("tbody", "\n".join(rows)))
    note = "" if drawing.has_steps else " (in a possible order: the input has no steps)"
    return element("details", element("summary", f"All steps{note}") + table)


def _quoted(form: str) -> str:
    """Quote a form and isolate its writing direction from the surrounding text."""
    return f"“\N{FIRST STRONG ISOLATE}{form}\N{POP DIRECTIONAL ISOLATE}”"


@cache
def _resource(name: str) -> str:
    return files("easyfirst.render").joinpath(name).read_text(encoding="utf-8")
