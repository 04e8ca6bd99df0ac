"""The picture: accuracy against speed, from raw text and from gold tokens, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from bench.peers.systems import OURS
from easyfirst.render.layout import text_width
from easyfirst.render.markup import element, escape
from easyfirst.render.svg import FONT

INK, GREY, LINE, PAPER, ACCENT = "#1a1a1a", "#6b6b6b", "#e3e3e8", "#ffffff", "#3b66c4"
WIDTH, HEIGHT, GAP = 400.0, 300.0, 76.0  # of a panel, and between panels
LEFT, TOP, BOTTOM, RIGHT = 62.0, 44.0, 52.0, 24.0
SMALL, NORMAL = 12, 14
STEPS = (1, 2, 5)


class Point(NamedTuple):
    """A system in a panel."""

    name: str
    title: str
    speed: float  # words per CPU second
    accuracy: float  # LAS


class Panel(NamedTuple):
    """A picture of some points."""

    title: str
    points: Sequence[Point]


def label(x: float, y: float, text: str, *, size: int = SMALL, colour: str = GREY, anchor: str = "middle") -> str:
    """Return a text."""
    return element("text", escape(text), {"x": x, "y": y, "fill": colour}, font_size=size, text_anchor=anchor)


def line(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return a line of the grid."""
    return element("line", "", {"x1": x, "y1": y, "x2": to_x, "y2": to_y, "stroke": LINE})


def speed_ticks(low: float, high: float) -> list[int]:
    """Return round speeds from the one below ``low`` to the one above ``high``: 1, 2 and 5 times the powers of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10**power for power in powers for step in STEPS]
    first = max(i for i, tick in enumerate(ticks) if tick <= low)
    last = min((i for i, tick in enumerate(ticks) if tick >= high), default=len(ticks) - 1)
    return [round(tick) for tick in ticks[first : max(last, first + 1) + 1]]


def accuracy_ticks(low: float, high: float) -> list[int]:
    """Return scores around ``low`` and ``high``, at most eight, that are multiples of 1, 2, 5 or 10."""
    for step in (1, 2, 5, 10, 20):
        ticks = list(range(step * math.floor(low / step), step * math.ceil(high / step) + 1, step))
        if len(ticks) <= 8:
            break
    return ticks if len(ticks) > 1 else [*ticks, ticks[0] + 1]


def places(points: Sequence[Point], xs: Sequence[float], ys: Sequence[float]) -> list[float]:
    """Return the heights of the labels of points: those that would overlap are moved apart."""
    order = sorted(range(len(points)), key=lambda i: ys[i])
    heights = list(ys)
    for above, i in pairwise(order):
        near = abs(xs[i] - xs[above]) < 150
        if near and heights[i] - heights[above] < SMALL + 3:
            heights[i] = heights[above] + SMALL + 3
    return heights


def draw_panel(panel: Panel, left: float) -> str:
    """Draw a panel whose axes begin at ``left``."""
    right, bottom = left + WIDTH, TOP + HEIGHT
    parts = [label(left, TOP - 18, panel.title, size=NORMAL, colour=INK, anchor="start")]
    if not panel.points:
        return "".join([*parts, label((left + right) / 2, (TOP + bottom) / 2, "not measured yet")])
    speeds, accuracies = [p.speed for p in panel.points], [p.accuracy for p in panel.points]
    columns, rows = speed_ticks(min(speeds), max(speeds)), accuracy_ticks(min(accuracies), max(accuracies))
    low, high = math.log(columns[0]), math.log(columns[-1])

    def x_of(speed: float) -> float:
        return left + WIDTH * (math.log(speed) - low) / (high - low)

    def y_of(accuracy: float) -> float:
        return bottom - HEIGHT * (accuracy - rows[0]) / (rows[-1] - rows[0])

    for tick in columns:
        parts += [line(x_of(tick), TOP, x_of(tick), bottom), label(x_of(tick), bottom + 18, f"{tick:,}")]
    for tick in rows:
        parts += [line(left, y_of(tick), right, y_of(tick)), label(left - 8, y_of(tick) + 4, str(tick), anchor="end")]
    parts.append(label((left + right) / 2, bottom + 40, "words per second of CPU time, one thread"))
    parts.append(label(left - 8, TOP - 18, "LAS", anchor="end"))
    xs, ys = [x_of(p.speed) for p in panel.points], [y_of(p.accuracy) for p in panel.points]
    for point, x, y, height in zip(panel.points, xs, ys, places(panel.points, xs, ys), strict=True):
        colour = ACCENT if point.name == OURS else INK
        fits = x + 12 + text_width(point.title, SMALL) < right + RIGHT
        parts.append(element("circle", "", {"cx": x, "cy": y, "r": 5, "fill": colour}))
        anchor, shift = ("start", 10) if fits else ("end", -10)
        parts.append(label(x + shift, height + 4, point.title, colour=colour, anchor=anchor))
    return "".join(parts)


def draw(panels: Sequence[Panel]) -> str:
    """Draw the panels side by side."""
    width = LEFT + len(panels) * WIDTH + (len(panels) - 1) * GAP + RIGHT
    height = TOP + HEIGHT + BOTTOM
    paper = element("rect", "", {"width": "100%", "height": "100%", "rx": 6, "fill": PAPER})
    drawn = "".join(draw_panel(panel, LEFT + i * (WIDTH + GAP)) for i, panel in enumerate(panels))
    look = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width:g} {height:g}", "width": width}
    look |= {"height": height, "role": "img", "font-family": FONT}
    return element("svg", element("title", "Accuracy against speed") + paper + drawn, look) + "\n"
