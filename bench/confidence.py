"""How far a model's confidence can be trusted, on sentences it was not fitted on.

    python bench/confidence.py --model en --treebank test.conllu

Arcs, labels and trees, then arcs and labels of each relation, and obliques with a noun between them and the verb that
they modify: the noun was attached earlier, and could have been their head. Gold tokens and, as the model is used,
predicted tags (``--given-tags``: those of the treebank). Writes tables, all figures as JSON and the reliability plot of
arcs and labels as SVG. The calibration is fitted on dev ('easyfirst calibrate' or training); the test set is looked at
here only.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

import easyfirst
from bench import report
from easyfirst import Parse, Sentence
from easyfirst.confidence.estimates import require_confidence
from easyfirst.confidence.fitting import evaluate_confidence
from easyfirst.confidence.reliability import Calibrated, Reliability, ReliabilityReport, relation_rows
from easyfirst.model.bundled import find_model
from easyfirst.text.tagging import without_tags

PLOT = Path(__file__).parent.parent / "docs" / "img" / "reliability.svg"
SIDE, EDGE = 320, 48
STYLE = (
    "text{font:12px 'Noto Sans','DejaVu Sans',sans-serif;fill:#1a1a1a}.frame{fill:#fff;stroke:#767676}"
    ".ideal{stroke:#767676;stroke-dasharray:4 4}.arcs{fill:none;stroke:#2166ac;stroke-width:2}"
    ".labels{fill:none;stroke:#b35806;stroke-width:2;stroke-dasharray:7 3}"
    ".arcs-dot{fill:#2166ac}.labels-dot{fill:#b35806}"
)


def plot(reliability: ReliabilityReport, caption: str) -> str:
    """Draw the reliability diagram: the accuracy of each bin (y) over its mean confidence (x)."""
    middle, size = EDGE + SIDE / 2, SIDE + 2 * EDGE
    parts = [
        f'<rect class="frame" x="{EDGE}" y="{EDGE}" width="{SIDE}" height="{SIDE}"/>',
        f'<line class="ideal" x1="{EDGE}" y1="{EDGE + SIDE}" x2="{EDGE + SIDE}" y2="{EDGE}"/>',
        f'<text x="{middle}" y="{EDGE + SIDE + 36}" text-anchor="middle">mean confidence</text>',
        f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">share that is right</text>',
        f'<text x="{EDGE}" y="{EDGE - 16}">{caption}</text>',
    ]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x, y = _place(tick, tick)
        parts.append(f'<text x="{x:.1f}" y="{EDGE + SIDE + 16}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{EDGE - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for number, (name, found) in enumerate((("arcs", reliability.arcs), ("labels", reliability.labels))):
        parts += _line(name, found)
        y = EDGE + SIDE - 40 + 20 * number
        parts.append(f'<line class="{name}" x1="{EDGE + 170}" y1="{y}" x2="{EDGE + 200}" y2="{y}"/>')
        parts.append(f'<text x="{EDGE + 208}" y="{y + 4}">{name}, ECE {found.ece:.4f}</text>')
    title = f"<title>{caption}: reliability of arcs and labels</title><style>{STYLE}</style>"
    shape = f'viewBox="0 0 {size} {size}" width="{size}" height="{size}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {shape} role="img">'
    return "\n".join([head, title, '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>", ""])


def _line(name: str, found: Reliability) -> list[str]:
    places = [_place(b.confidence, b.accuracy) for b in found.bins]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [f'<circle class="{name}-dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
    return [f'<polyline class="{name}" points="{points}"/>', *dots]


def _place(confidence: float, accuracy: float) -> tuple[float, float]:
    return EDGE + SIDE * confidence, EDGE + SIDE * (1 - accuracy)


def across_nouns(parse: Parse) -> list[int]:
    """Return the obliques with a preposition that have a noun between their head and the preposition."""
    found: list[int] = []
    for case, (m, relation) in enumerate(zip(parse.heads, parse.relations, strict=True), 1):
        if relation == "case" and case < m and parse.relations[m - 1] == "obl" and m not in found:
            between = parse.tagged.upos[parse.heads[m - 1] : case - 1]
            found += [m] if {"NOUN", "PROPN", "PRON"} & set(between) else []
    return found


def reliability_across_nouns(parses: Sequence[Parse], gold: Sequence[Sentence]) -> tuple[int, Calibrated]:
    """Measure how well their arcs are calibrated, and count them."""
    confidences: list[float] = []
    right: list[bool] = []
    for parse, sentence in zip(parses, gold, strict=True):
        words = across_nouns(parse)
        confidences += [require_confidence(parse.confidence).arcs[m - 1] for m in words]
        right += [parse.heads[m - 1] == sentence.heads[m - 1] for m in words]
    return len(right), Calibrated.of(np.array(confidences), np.array(right))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--given-tags", action="store_true")
    options.add_argument("--name", default="confidence", help="of the results file")
    options.add_argument("--plot", type=Path, default=PLOT)
    given = options.parse_args()
    parser = easyfirst.load(given.model)
    gold = list(easyfirst.read_conllu(given.treebank))
    sentences = gold if given.given_tags else without_tags(gold, parser.tagger, given.model)
    parses = parser.parse(sentences)
    reliability = evaluate_confidence(parses, gold)
    n_across, across = reliability_across_nouns(parses, gold)
    assert parser.model.calibration is not None
    model = find_model(given.model).name
    result = {
        "model": model,
        "treebank": given.treebank.name,
        "tags": "given" if given.given_tags else "predicted",
        "fitted_on": parser.model.calibration.fitted_on.file,
        "bins": "15 of equal size",
        **reliability.to_dict(),
        "obl_across_noun": {"count": n_across, **asdict(across)},
    }
    header = ["", "number", "right %", "mean confidence %", "ECE"]
    header += [f"wrong % of the surest {100 * share:g} %" for share, _ in reliability.arcs.risks]
    kinds = (("arcs", reliability.arcs), ("labels", reliability.labels), ("trees", reliability.trees))
    rows = [
        [name, f"{found.count:,}", f"{100 * found.accuracy:.2f}", f"{100 * found.confidence:.2f}", f"{found.ece:.4f}"]
        + [f"{100 * risk:.2f}" for _, risk in found.risks]
        for name, found in kinds
    ]
    least = ["least sure tenth of the sentences", "", f"{100 * reliability.least_sure_errors:.1f} of all wrong heads"]
    rows.append(least + [""] * (len(header) - len(least)))
    header_of_relations, of_relations = relation_rows(reliability)
    shares = [f"{100 * share:.1f}" for share in (across.accuracy, across.confidence)]
    figures = [f"{n_across:,}", *shares, f"{across.ece:.3f}", f"{across.by_chance:.3f}"]
    of_relations.append(["obl with a preposition, across a noun", *figures, *[""] * 4])
    more = ["", *report.table(header_of_relations, of_relations)]
    report.write(given.name, result, header, rows, more=more)
    given.plot.parent.mkdir(parents=True, exist_ok=True)
    given.plot.write_text(plot(reliability, f"{model} on {given.treebank.name}"), encoding="utf-8")


if __name__ == "__main__":
    main()
