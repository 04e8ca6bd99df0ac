"""The page of annotation: a frame that ``scripts/annotate.js`` fills with one sentence after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from easyfirst.render.markup import element, escape
from easyfirst.server.page import frame


def draw_annotation(name: str, relations: Sequence[str], annotator: str, output: str) -> str:
    """Draw the page for the model ``name``. ``annotator``: the name that it proposes. ``output``: the file."""
    file = Path(output).name
    facts = {"relations": list(relations), "annotator": annotator, "file": file}
    parts = (
        element("h1", f"Annotate <small>with the model {escape(name)}, into {escape(file)}</small>"),
        element("noscript", element("p", "This page needs JavaScript.", class_="error")),
        element("div", "", class_="annotating"),
    )
    return frame(f"Annotate – {file}", element("div", "\n".join(parts), {"data-annotation": json.dumps(facts)}))
