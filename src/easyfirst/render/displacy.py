"""Dependency trees as dicts for ``displacy.render(dicts, style="dep", manual=True)``."""

from __future__ import annotations

from typing import Any

from easyfirst.render.drawing import Drawing


def to_displacy(drawing: Drawing) -> dict[str, Any]:
    """Return the words and arcs of a sentence as JSON values. Words are numbered from 0, and the root has no arc. Words
    have the columns that are shown, of which displaCy draws the tag and the lemma. Arcs also have their confidence and
    step, if known, which displaCy ignores."""
    arcs: list[dict[str, Any]] = []
    for h, m in drawing.arcs:
        arc = {"start": min(h, m) - 1, "end": max(h, m) - 1, "label": drawing.relation(m)}
        arc |= {"dir": "left" if m < h else "right", "confidence": drawing.confidence_of(m), "step": drawing.step_of(m)}
        arcs.append({key: value for key, value in arc.items() if value is not None})
    words = [{"text": form, "tag": drawing.tag(m)} for m, form in enumerate(drawing.forms, 1)]
    columns = drawing.columns or {}
    for name, cells in columns.items():
        if name == "upos" or (name == "xpos" and "upos" not in columns):
            continue  # it is the tag
        for word, cell in zip(words, cells, strict=True):
            if cell != "_":
                word.setdefault(name, cell)
    picture: dict[str, Any] = {"words": words, "arcs": arcs}
    if drawing.title is not None:
        picture["title"] = drawing.title
    if drawing.is_right_to_left:
        picture["settings"] = {"direction": "rtl"}
    return picture
