"""A dependency tree as a dict that displaCy draws: ``displacy.render(dicts, style="dep", manual=True)``."""

from __future__ import annotations

from typing import Any

from easyfirst.render.drawing import Drawing


def to_displacy(drawing: Drawing) -> dict[str, Any]:
    """The words and the arcs of a sentence, for JSON. Words are counted from 0 here, and the root has no arc. What is
    known of an arc's confidence and step is there as well; displaCy takes no notice of it."""
    arcs: list[dict[str, Any]] = []
    for h, m in drawing.arcs:
        arc: dict[str, Any] = {
            "start": min(h, m) - 1,
            "end": max(h, m) - 1,
            "label": drawing.relation(m),
            "dir": "left" if m < h else "right",
        }
        known = {"confidence": drawing.confidence_of(m), "step": drawing.step_of(m)}
        arcs.append(arc | {key: value for key, value in known.items() if value is not None})
    words = [{"text": form, "tag": drawing.tag(m)} for m, form in enumerate(drawing.forms, 1)]
    picture: dict[str, Any] = {"words": words, "arcs": arcs}
    if drawing.title is not None:
        picture["title"] = drawing.title
    if drawing.is_right_to_left:
        picture["settings"] = {"direction": "rtl"}
    return picture
