"""Dependency trees for Graphviz: ``dot -Tsvg tree.dot``. A file may hold several graphs."""

from __future__ import annotations

import re

from easyfirst.render.bands import band_of, per_cent
from easyfirst.render.drawing import Drawing

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def draw_dot(drawing: Drawing) -> str:
    """Return a directed graph with arcs from head to modifier and the root at the top."""
    lines = [f"digraph {_quote(drawing.title or drawing.text)} {{", "  ordering=out;"]
    lines += ["  node [shape=plaintext];", "  edge [fontsize=11];"]
    below = [texts for _, texts in drawing.lines()]
    for m, form in enumerate(drawing.forms, 1):
        texts = [form, *(line[m - 1] for line in below if line[m - 1])]
        label = "\\n".join(map(_escape, texts))
        lines.append(f'  w{m} [label="{label}"];')
    lines += [f"  w{h} -> w{m} [{_attributes(drawing, m)}];" for h, m in drawing.arcs]
    for m, head in enumerate(drawing.heads, 1):
        if head == 0:
            lines += [f"  root{m} [shape=point];", f"  root{m} -> w{m} [{_attributes(drawing, m)}];"]
    return "\n".join([*lines, "}\n"])


def _attributes(drawing: Drawing, m: int) -> str:
    step, confidence = drawing.step_of(m), drawing.confidence_of(m)
    label = drawing.relation(m) if step is None else f"{drawing.relation(m)} {step}"
    attributes = [f"label={_quote(label.strip())}"]
    if confidence is not None:
        color = band_of(confidence).light
        attributes += [f'color="{color}"', f'fontcolor="{color}"', f"tooltip={_quote(per_cent(confidence))}"]
        attributes += ["style=dashed"] * (confidence < 0.5)
    return ", ".join(attributes)


def _quote(text: str) -> str:
    return f'"{_escape(text)}"'


def _escape(text: str) -> str:
    """Escape text for a quoted string, in which Graphviz interprets backslashes and entities like ``&lt;``."""
    visible = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    return visible.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
