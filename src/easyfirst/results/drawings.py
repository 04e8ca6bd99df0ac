"""The drawings of parses: what pictures show of a sentence, its tree and its derivation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from easyfirst.render.columns import columns_of
from easyfirst.render.drawing import Drawing
from easyfirst.treebank.raw_text import text_of

if TYPE_CHECKING:
    from easyfirst.results.parses import Parse


def drawing_of(parse: Parse, show: str | Iterable[str] | None = None) -> Drawing:
    """Return the drawing of a parse, with the columns to ``show``."""
    confidence, known = parse.confidence, parse.constraints
    steps: list[int | None] = [None] * len(parse)
    moved: list[int | None] = [None] * len(parse)
    attached = zip(parse.steps.modifiers.tolist(), parse.steps.heads.tolist(), strict=True)
    for step, (m, head) in enumerate(attached, 1):
        steps[m - 1], moved[m - 1] = step, head if head != parse.heads[m - 1] else None
    return Drawing(
        parse.tagged.forms,
        parse.heads,
        parse.relations,
        tags=parse.tagged.upos,
        confidence=confidence.arcs if confidence else None,
        steps=steps,
        title=parse.sentence.metadata.get("sent_id"),
        moved_from=moved if any(moved) else None,
        columns=None if show is None else columns_of(parse.tagged, show),
        written=text_of(parse.sentence),
        fixed_heads=parse.fixed_heads,
        fixed_relations=parse.fixed_relations,
        brackets=() if known is None else known.brackets,
    )
