"""The table of all words of a parse."""

from __future__ import annotations

from collections.abc import Sequence

from easyfirst.confidence.estimates import rounded
from easyfirst.render.markup import element, escape
from easyfirst.results.parses import Parse
from easyfirst.results.plain import finite, given


def draw_words(parse: Parse) -> str:
    """Draw the table of all words, without the columns that are empty."""
    decided = {step.modifier: step for step in parse.derivation}
    steps = [decided.get(m) for m in range(1, len(parse) + 1)]
    confidence = parse.confidence
    columns: dict[str, Sequence[str | float | None]] = {
        "Number": range(1, len(parse) + 1),
        "Word": parse.tagged.forms,
        "Lemma": list(map(given, parse.tagged.lemmas)),
        "UPOS": list(map(given, parse.tagged.upos)),
        "XPOS": list(map(given, parse.tagged.xpos)),
        "Features": list(map(given, parse.tagged.feats)),
        "Head": parse.heads,
        "Relation": parse.relations,
        "Moved from": [parse.moved.get(m) for m in range(1, len(parse) + 1)],
        "Step": [step and step.step for step in steps],
        "Score": [step and finite(step.score) for step in steps],
        "Margin": [step and finite(step.margin) for step in steps],
        "Margin of the relation": [step and finite(step.label_margin) for step in steps],
        "Confidence of the head": [rounded(arc) for arc in confidence.arcs] if confidence else (),
        "Confidence of head and relation": [rounded(label) for label in confidence.labels] if confidence else (),
    }
    shown = {name: column for name, column in columns.items() if any(cell is not None for cell in column)}
    head = element("tr", "".join(element("th", name, scope="col") for name in shown))
    rows = "\n".join(
        element("tr", "".join(element("td", escape(_shown(cell))) for cell in row))
        for row in zip(*shown.values(), strict=True)
    )
    return element("table", element("thead", head) + element("tbody", rows))


def _shown(value: str | float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
