"""Draw the pictures of ``docs/how-it-works.md``.

    python -m tools.docsite.pictures

The derivation is that of the bundled model. The other pictures are schematic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import easyfirst
from easyfirst.render.drawing import Drawing
from easyfirst.render.layout import text_width
from easyfirst.render.markup import element, escape
from easyfirst.render.svg import FONT, draw_svg

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "img" / "how-it-works"
SENTENCE = "The black fox likes red apples"
INK, GREY, PAPER = "#1a1a1a", "#6b6b6b", "#ffffff"
BLUE, BLUE_EDGE, ORANGE, ORANGE_EDGE, PLAIN, PLAIN_EDGE = (
    "#dbe7ff",
    "#3b66c4",
    "#ffe3c2",
    "#b86a00",
    "#f3f3f5",
    "#b4b4bc",
)
GOOD, BAD = "#1b7a3d", "#b3261e"
BOX = 30.0  # the height of a box


def box(x: float, y: float, text: str, *, width: float | None = None, fill: str = PLAIN, edge: str = PLAIN_EDGE) -> str:
    """Return a box with a text in its middle."""
    wide = width_of(text) if width is None else width
    shape = {"x": x, "y": y, "width": wide, "height": BOX, "rx": 5, "fill": fill, "stroke": edge}
    return element("rect", "", shape) + label(x + wide / 2, y + BOX / 2 + 5, text)


def width_of(text: str) -> float:
    """Return the width of the box of a text."""
    return text_width(text, 15) + 18


def label(x: float, y: float, text: str, *, size: int = 15, colour: str = INK, anchor: str = "middle") -> str:
    """Return a text."""
    return element("text", escape(text), {"x": x, "y": y, "fill": colour}, font_size=size, text_anchor=anchor)


def arrow(x: float, y: float, to_x: float, to_y: float, *, colour: str = INK, bend: float = 0.0) -> str:
    """Return an arrow that points down, up or along; ``bend`` lifts its middle."""
    middle = f"Q{(x + to_x) / 2:g} {min(y, to_y) - bend:g} {to_x:g} {to_y:g}" if bend else f"L{to_x:g} {to_y:g}"
    line = {"d": f"M{x:g} {y:g}{middle}", "fill": "none", "stroke": colour, "stroke-width": 1.6}
    return element("path", "", line, marker_end=f"url(#tip-{colour[1:]})")


def frame(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """Return a picture of these parts, with a title for screen readers."""
    tips = "".join(
        element("marker", element("path", "", {"d": "M0 0L8 4L0 8z", "fill": colour}), {"id": f"tip-{colour[1:]}",
                "viewBox": "0 0 8 8", "refX": 7, "refY": 4, "markerWidth": 7, "markerHeight": 7, "orient": "auto"})
        for colour in (INK, GREY, GOOD, BAD, BLUE_EDGE, ORANGE_EDGE)
    )  # fmt: skip
    paper = element("rect", "", {"width": "100%", "height": "100%", "rx": 6, "fill": PAPER})
    look = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width:g} {height:g}", "width": width}
    look |= {"height": height, "role": "img", "font-family": FONT}
    content = element("title", escape(title)) + element("defs", tips) + paper + "".join(parts)
    return element("svg", content, look) + "\n"


def draw_tree() -> str:
    """Draw the finished tree with the step of each arc."""
    drawing = easyfirst.load("en")(SENTENCE)[0].drawing()
    plain = Drawing(drawing.forms, drawing.heads, drawing.relations, tags=drawing.tags, steps=drawing.steps)
    return draw_svg(plain, width=640, theme="light", name="how-it-works") + "\n"


def draw_pending() -> str:
    """Draw the pending list before every step of the derivation, with the chosen pair."""
    parse = easyfirst.load("en")(SENTENCE)[0]
    forms = parse.sentence.forms
    widths = [width_of(form) for form in forms]
    left, gap, row = 78.0, 12.0, 62.0
    starts = [left + sum(widths[:i]) + gap * i for i in range(len(forms))]
    width = starts[-1] + widths[-1] + 190.0
    gone: set[int] = set()
    parts: list[str] = []
    for number, step in enumerate(parse.derivation):
        y = 34.0 + number * row
        parts.append(label(12, y + 20, f"step {step.step}", colour=GREY, anchor="start"))
        for m in (m for m in range(1, len(forms) + 1) if m not in gone):
            fill, edge = {step.head: (BLUE, BLUE_EDGE), step.modifier: (ORANGE, ORANGE_EDGE)}.get(
                m, (PLAIN, PLAIN_EDGE)
            )
            parts.append(box(starts[m - 1], y, forms[m - 1], fill=fill, edge=edge))
        middles = [starts[m - 1] + widths[m - 1] / 2 for m in (step.head, step.modifier)]
        parts.append(arrow(middles[0], y, middles[1], y - 1, bend=26))
        said = f"{step.relation}: {forms[step.modifier - 1]} ← {forms[step.head - 1]}"
        parts.append(label(width - 12, y + 20, said, colour=GREY, anchor="end", size=14))
        gone.add(step.modifier)
    y = 34.0 + len(parse.derivation) * row
    [root] = [m for m in range(1, len(forms) + 1) if m not in gone]
    parts += [label(12, y + 20, "end", colour=GREY, anchor="start"), box(starts[root - 1], y, forms[root - 1])]
    parts.append(label(width - 12, y + 20, "the root", colour=GREY, anchor="end", size=14))
    return frame(width, y + BOX + 14, "The pending list before each step", parts)


def draw_window() -> str:
    """Draw the window of six subtrees around a pair, and the scores that are computed from it."""
    names = ["p₁", "p₂", "p₃", "p₄", "p₅", "p₆", "p₇", "p₈"]
    wide, gap, y = 58.0, 14.0, 46.0
    starts = [16 + i * (wide + gap) for i in range(len(names))]
    parts = [label((starts[3] + starts[4] + wide) / 2, 26, "the pair", colour=BLUE_EDGE)]
    for i, name in enumerate(names):
        fill, edge = (BLUE, BLUE_EDGE) if i in (3, 4) else (ORANGE, ORANGE_EDGE) if 1 <= i <= 6 else (PLAIN, PLAIN_EDGE)
        parts.append(box(starts[i], y, name, width=wide, fill=fill, edge=edge))
        if 1 <= i <= 6:
            parts.append(arrow(starts[i] + wide / 2, y + BOX, starts[i] + wide / 2, y + BOX + 28, colour=GREY))
    first, last = starts[1], starts[6] + wide
    parts.append(box(first, 106, "x: the six vectors, one after the other", width=last - first))
    half = (last - first - 16) / 2
    for x, text, result in (
        (first, "MLP for the arc", "2 scores: left, right"),
        (first + half + 16, "MLP for the relation", "2 scores for each relation"),
    ):
        parts += [arrow(x + half / 2, 136, x + half / 2, 160, colour=GREY), box(x, 162, text, width=half)]
        parts += [arrow(x + half / 2, 192, x + half / 2, 214, colour=GREY), label(x + half / 2, 232, result, size=14)]
    return frame(starts[-1] + wide + 16, 248, "The window of six subtrees that scores a pair", parts)


def draw_tree_lstm() -> str:
    """Draw the two LSTMs that read the modifiers of a head from the inside out."""
    names, wide, gap, y = ["left 2", "left 1", "head", "right 1", "right 2"], 92.0, 34.0, 128.0
    starts = [16 + i * (wide + gap) for i in range(5)]
    middles = [start + wide / 2 for start in starts]
    parts = [
        box(starts[i], y, name, width=wide, fill=BLUE if i == 2 else ORANGE, edge=BLUE_EDGE if i == 2 else ORANGE_EDGE)
        for i, name in enumerate(names)
    ]
    parts.append(
        label(middles[2], y + BOX + 22, "words and subtrees, in the order of the sentence", colour=GREY, size=14)
    )
    for side, text in ((-1, "LSTM to the left"), (1, "LSTM to the right")):
        cells = [middles[2] + side * 20, middles[2 + side], middles[2 + 2 * side]]
        for i, x in enumerate(cells):
            parts.append(element("circle", "", {"cx": x, "cy": 88, "r": 11, "fill": PAPER, "stroke": INK}))
            parts.append(arrow(x, y, x, 101, colour=GREY))
            if i:
                parts.append(arrow(cells[i - 1] + side * 12, 88, x - side * 12, 88))
        parts.append(label(middles[2 + side], 64, text, size=14))
        line = {"d": f"M{cells[-1]:g} 77V23H{middles[2] + side * 94:g}", "fill": "none", "stroke": GREY}
        parts.append(element("path", "", line, stroke_width=1.6, marker_end=f"url(#tip-{GREY[1:]})"))
    parts.append(box(middles[2] - 92, 8, "vector of the subtree", width=184, fill=BLUE, edge=BLUE_EDGE))
    return frame(starts[-1] + wide + 16, y + BOX + 36, "The tree LSTM reads modifiers outward from the head", parts)


def draw_oracle() -> str:
    """Draw three actions in one state: a correct one and two mistakes."""
    forms, heads = ["black", "fox", "likes", "apples"], [1, 2, None, 2]
    widths, gap = [width_of(form) for form in forms], 16.0
    cases = (
        (1, 0, GOOD, "correct: black has no modifier to wait for, and fox is its gold head"),
        (2, 1, BAD, "too early: fox would leave before black is attached to it"),
        (3, 2, BAD, "wrong head: likes is the gold head of apples, not the other way round"),
    )
    starts = [16 + sum(widths[:i]) + gap * i for i in range(4)]
    middles = [start + width / 2 for start, width in zip(starts, widths, strict=True)]
    parts = [label(16, 22, "the gold tree", colour=GREY, anchor="start", size=14)]
    for row in range(4):
        y = 62.0 + row * 100
        parts += [box(x, y, form) for x, form in zip(starts, forms, strict=True)]
        if row == 0:
            parts += [arrow(middles[h], y, middles[m], y - 1, bend=26) for m, h in enumerate(heads) if h is not None]
            continue
        head, modifier, colour, text = cases[row - 1]
        parts.append(arrow(middles[head], y, middles[modifier], y - 1, bend=26, colour=colour))
        parts.append(label(16, y + BOX + 22, text, colour=colour, anchor="start", size=14))
    width = max(text_width(text, 14) for *_, text in cases) + 32
    return frame(width, 62 + 3 * 100 + BOX + 34, "What the dynamic oracle says of three actions", parts)


PICTURES: dict[str, Callable[[], str]] = {
    "tree.svg": draw_tree,
    "pending.svg": draw_pending,
    "window.svg": draw_window,
    "tree-lstm.svg": draw_tree_lstm,
    "oracle.svg": draw_oracle,
}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
