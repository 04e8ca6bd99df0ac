"""A parse as plain values: for JSON, and for the column MISC of CoNLL-U."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from easyfirst.confidence.estimates import Confidence, rounded
from easyfirst.parsing.validity import Change
from easyfirst.treebank.misc import ARC_CONFIDENCE, DECIDED, LABEL_CONFIDENCE, MOVED_FROM, STEP

if TYPE_CHECKING:
    from easyfirst.results.parses import Parse

_UNDECIDED = (None, None, None, None)  # the step, score and margins of the root


def parse_dict(parse: Parse) -> dict[str, Any]:
    """Return the values of :meth:`Parse.to_dict`."""
    confidence = parse.confidence
    ranking = {} if parse.ranking is None else parse.ranking.to_dict()
    words = _words(parse, confidence)
    found = ranking | {"confidence": rounded(confidence.tree) if confidence else None, "words": words}
    if (phrases := parse.constituents) is not None:
        found["constituents"] = str(phrases)
    if parse.alternatives:
        found["alternatives"] = [parse_dict(each) for each in parse.alternatives]
    return found


def _words(parse: Parse, confidence: Confidence | None) -> list[dict[str, Any]]:
    steps = parse.steps
    numbers = (array.tolist() for array in (steps.modifiers, steps.scores, steps.margins, steps.label_margins))
    decided = {m: (step, *values) for step, (m, *values) in enumerate(zip(*numbers, strict=True), 1)}
    words: list[dict[str, Any]] = []
    tagged = parse.tagged
    columns = (tagged.forms, tagged.lemmas, tagged.upos, tagged.xpos, tagged.feats, parse.heads, parse.relations)
    for m, (form, lemma, upos, xpos, feats, head, relation) in enumerate(zip(*columns, strict=True), 1):
        step, score, margin, label_margin = decided.get(m, _UNDECIDED)
        words.append(
            {
                "id": m,
                "form": form,
                "lemma": given(lemma),
                "upos": given(upos),
                "xpos": given(xpos),
                "feats": given(feats),
                "head": head,
                "relation": relation,
                "arc_confidence": rounded(confidence.arcs[m - 1]) if confidence else None,
                "label_confidence": rounded(confidence.labels[m - 1]) if confidence else None,
                "step": step,
                "score": None if score is None else round(score, 4),
                "margin": finite(margin),
                "label_margin": finite(label_margin),
            }
        )
    if parse.constraints is not None:
        fixed = {"head": parse.fixed_heads, "relation": parse.fixed_relations}
        for m, word in enumerate(words, 1):
            word["fixed"] = [what for what, modifiers in fixed.items() if m in modifiers]
    for m, head in parse.moved.items():
        words[m - 1]["moved_from"] = head
    for word, *decided in parse.changes:
        words[word - 1]["decided"] = dict(zip(Change._fields[1:], decided, strict=True))
    return words


def misc_of(parse: Parse, confidence: Confidence) -> list[dict[str, str | None]]:
    """Return the entries of MISC for each word; the root has no step."""
    pairs, moved = zip(confidence.arcs, confidence.labels, strict=True), parse.moved
    cells: list[dict[str, str | None]] = [
        {
            ARC_CONFIDENCE: f"{rounded(arc):.4f}",
            LABEL_CONFIDENCE: f"{rounded(label):.4f}",
            STEP: None,
            MOVED_FROM: str(moved[m]) if m in moved else None,
            DECIDED: None,
        }
        for m, (arc, label) in enumerate(pairs, 1)
    ]
    for step, m in enumerate(parse.steps.modifiers.tolist(), 1):
        cells[m - 1][STEP] = str(step)
    for change in parse.changes:
        if change.word in (*parse.changed_heads, *parse.changed_relations):
            cells[change.word - 1][DECIDED] = f"{change.head}:{change.relation}"
    return cells


def given(cell: str) -> str | None:
    """Return the value of a cell for JSON; None if it is empty."""
    return None if cell == "_" else cell


def finite(value: float | None) -> float | None:
    """Round a score or a margin for JSON, which has no infinity; None stays."""
    return round(value, 4) if value is not None and math.isfinite(value) else None
