"""Dependency trees as SVG: arcs over words, in as many lines as the width requires.

The picture has a title and a description for screen readers, and needs no script, font or network. Its colours follow
the viewer's preference for a light or dark background (``theme="auto"``), or a fixed theme.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal

from easyfirst.errors import InputError
from easyfirst.render.bands import BANDS, band_of, per_cent
from easyfirst.render.drawing import Drawing
from easyfirst.render.layout import (
    FORM_SIZE,
    LABEL_SIZE,
    MARGIN,
    TAG_HEIGHT,
    TAG_SIZE,
    Piece,
    Place,
    label_of,
    lay_out,
    text_width,
)
from easyfirst.render.markup import element, escape, number

Theme = Literal["auto", "light", "dark"]
WIDTH, MIN_WIDTH = 960.0, 160.0
COLOURS = {
    "light": {"background": "#ffffff", "form": "#1a1a1a", "tag": "#5c5c5c", "arc": "#3a3a3a", "label": "#333333"},
    "dark": {"background": "#17171c", "form": "#f2f2f2", "tag": "#b0b0b8", "arc": "#c8c8d0", "label": "#dcdce4"},
}
FONT = "'Noto Sans', 'DejaVu Sans', Verdana, system-ui, sans-serif"
CORNER, TIP, LEGEND_HEIGHT = 6.0, 4.0, 24.0


def draw_svg(
    drawing: Drawing, *, width: float = WIDTH, theme: Theme = "auto", name: str = "tree", has_style: bool = True
) -> str:
    """Return a picture at most ``width`` pixels wide, unless a single word is wider.

    In a page with several pictures each needs a unique ``name`` of letters, digits and hyphens. Without ``has_style``
    the page's own style sheet must include :func:`dark_style`.

    >>> svg = draw_svg(Drawing(["The", "fox"], [2, 0], ["det", "root"]))
    >>> svg.startswith("<svg "), svg.endswith("</svg>")
    (True, True)
    """
    if not width >= MIN_WIDTH:
        raise InputError(f"a width of {width:g} pixels is too small for a picture; give {MIN_WIDTH:g} or more")
    layout = lay_out(drawing, width)
    is_dark, direction = theme == "dark", "rtl" if drawing.is_right_to_left else None
    legend, legend_width, below = "", 0.0, layout.height
    if drawing.confidence is not None:
        legend, legend_width, below = _legend(layout.height, max(width, layout.width), is_dark=is_dark)
    full_width, height = max(layout.width, legend_width), below
    shift = full_width - layout.width if direction else 0.0
    colours = COLOURS["dark" if is_dark else "light"]
    modifier = attrgetter("modifier")
    crosses = drawing.has_crossing
    by_arc = groupby(sorted(layout.pieces, key=_high_first if crosses else modifier), key=modifier)
    room = layout.width
    arcs = "".join(_arc(drawing, list(pieces), room, is_dark=is_dark, has_halo=crosses) for _, pieces in by_arc)
    lines = drawing.lines()
    words = "".join(_word(drawing, lines, place, colours, direction) for place in layout.places)
    words += "".join(_bracket(drawing, bracket, layout.places, colours["form"]) for bracket in drawing.brackets)
    style = f"@media (prefers-color-scheme:dark){{{dark_style()}}}" if has_style and theme == "auto" else ""
    clauses = [_describe(drawing, m) for m, head in enumerate(drawing.heads, 1) if head is not None]
    parts = (
        element("title", escape(drawing.title or drawing.text), id=f"{name}-title"),
        element("desc", escape(drawing.text + (f" — {'; '.join(clauses)}." if clauses else "")), id=f"{name}-desc"),
        element("style", style) if style else "",
        element("rect", class_="background", width="100%", height="100%", fill=colours["background"]),
        element("g", arcs + words, transform=f"translate({number(shift)} 0)" if shift else None),
        legend,
    )
    frame = {"viewBox": f"0 0 {number(full_width)} {number(height)}", "xmlns": "http://www.w3.org/2000/svg"}
    look = {"class": "easyfirst", "width": full_width, "height": height, "role": "img"}
    text = {"aria-labelledby": f"{name}-title {name}-desc", "font-family": FONT, "font-size": FORM_SIZE}
    text |= {"text-anchor": "middle"}
    return element("svg", "".join(parts), frame | look | text)


def _high_first(piece: Piece) -> tuple[int, int]:
    """Sort long arcs, which are high, before short ones: where a line falls across a lower arc, its label is on top."""
    return -abs(piece.head - piece.modifier) if piece.head else -sys.maxsize, piece.modifier


def _describe(drawing: Drawing, m: int) -> str:
    """Describe an arc in words: "The 1: det of fox 2 (step 1, 98 %)"."""
    head, relation = drawing.heads[m - 1], drawing.relation(m) or "modifier"
    step, confidence = drawing.step_of(m), drawing.confidence_of(m)
    facts = [] if step is None else [f"step {step}"]
    facts += [] if confidence is None else [per_cent(confidence)]
    if (old := drawing.moved_head(m)) is not None:
        facts.append(f"moved from {drawing.forms[old - 1]} {old}")
    if fixed := [what for what, words in _fixed(drawing) if m in words]:
        facts.append(f"{' and '.join(fixed)} fixed")
    what = f"{relation} of {drawing.forms[head - 1]} {head}" if head else relation
    return f"{drawing.forms[m - 1]} {m}: {what}" + (f" ({', '.join(facts)})" if facts else "")


def _fixed(drawing: Drawing) -> tuple[tuple[str, Collection[int]], ...]:
    return ("head", drawing.fixed_heads), ("relation", drawing.fixed_relations)


def dark_style() -> str:
    """Return the colours for a dark background as CSS."""
    return theme_style("dark")


def theme_style(theme: Literal["light", "dark"], within: str = "") -> str:
    """Return the colours of a theme as CSS for pictures ``within`` an element, given by a selector."""
    colours, of_picture = COLOURS[theme], f"{within} .easyfirst".lstrip()
    rules = [f"{of_picture} .{part}{{fill:{colours[part]}}}" for part in ("background", "form", "tag", "label")]
    rules.append(f"{of_picture} .span{{stroke:{colours['form']}}}")
    rules.append(f"{of_picture} .halo{{stroke:{colours['background']}}}")
    rules.append(f"{of_picture} .line{{stroke:{colours['arc']}}}{of_picture} .tip{{fill:{colours['arc']}}}")
    for band in BANDS:
        of, colour = f"{of_picture} .{band.name}", band.dark if theme == "dark" else band.light
        rules.append(f"{of} .line{{stroke:{colour}}}{of} .tip,{of} .label{{fill:{colour}}}")
    return "".join(rules)


def _arc(drawing: Drawing, pieces: list[Piece], room: float, *, is_dark: bool, has_halo: bool) -> str:
    """Return all pieces of an arc as one group, with the numbers of its words. Labels stay within the ``room``.
    ``has_halo``: keep the lines of other arcs off its label. An arc that a user has fixed is a thick line that starts
    with a dot."""
    head, m = pieces[0].head, pieces[0].modifier
    confidence = drawing.confidence_of(m)
    colours = COLOURS["dark" if is_dark else "light"]
    line, label, name = colours["arc"], colours["label"], "arc"
    if confidence is not None:
        band = band_of(confidence)
        line = label = band.dark if is_dark else band.light
        name = f"arc {band.name}"
    is_fixed = m in drawing.fixed_heads
    name += " is-fixed" * is_fixed + " is-punctuation" * drawing.relation(m).startswith("punct")
    dashes = "5 3" if confidence is not None and confidence < 0.5 and not is_fixed else None
    look = {"fill": "none", "stroke": line, "stroke-width": 3.0 if is_fixed else 1.5, "stroke-dasharray": dashes}
    parts = [element("title", escape(_describe(drawing, m)))]
    for piece in pieces:
        parts.append(element("path", "", look, class_="line", d=_path(piece)))
        if piece.has_modifier:
            x, y = piece.end, piece.base
            tip = f"M{number(x)} {number(y)}l{number(-TIP)} {number(-1.7 * TIP)}h{number(2 * TIP)}z"
            parts.append(element("path", class_="tip", d=tip, fill=line))
        if is_fixed and piece.has_head:
            at = (piece.start, piece.base - TIP) if head else (piece.end, piece.top)
            parts.append(element("circle", class_="tip", cx=at[0], cy=at[1], r=4.0, fill=line))
        if piece.has_head or piece.has_modifier:
            parts.append(_label(drawing, piece, room, label, halo=colours["background"] if has_halo else None))
    facts = {"data-head": head, "data-modifier": m, "data-step": drawing.step_of(m)}
    facts |= {"data-confidence": None if confidence is None else f"{confidence:.4g}"}
    return element("g", "".join(parts), facts, class_=name)


def _path(piece: Piece) -> str:
    """Return a path up from the head, level, and down to the modifier with round corners; open ends run level."""
    start, end, top, tip = number(piece.start), number(piece.end), number(piece.top), number(piece.base - TIP)
    if not piece.head:
        return f"M{end} {top}V{tip}"
    bend = min(CORNER, abs(piece.end - piece.start) / 2)
    along, bent = bend if piece.end > piece.start else -bend, number(piece.top + bend)
    begin = f"M{start} {top}"
    if piece.has_head:
        begin = f"M{start} {number(piece.base)}V{bent}Q{start} {top} {number(piece.start + along)} {top}"
    if not piece.has_modifier:
        return f"{begin}H{end}"
    return f"{begin}H{number(piece.end - along)}Q{end} {top} {end} {bent}V{tip}"


def _label(drawing: Drawing, piece: Piece, room: float, colour: str, *, halo: str | None) -> str:
    """Return the label of an arc, with a ``halo`` of this colour, within the room. A relation that a user has fixed is
    underlined."""
    relation, step = label_of(drawing, piece.modifier)
    if not (relation or step):
        return ""
    is_fixed = piece.modifier in drawing.fixed_relations
    content = element("tspan", escape(relation), text_decoration="underline") if is_fixed else escape(relation)
    if step:
        content += element("tspan", escape(step), class_="step", font_weight="bold", dx=4 if relation else None)
    half = text_width(f"{relation} {step}", LABEL_SIZE) / 2
    x = min(max((piece.start + piece.end) / 2 if piece.head else piece.end, half), max(room - half, half))
    look = {"class": "label halo" if halo else "label", "x": x, "y": piece.top - 3, "fill": colour}
    look |= {"stroke": halo, "stroke-width": 3, "paint-order": "stroke"} if halo else {}
    return element("text", content, look, font_size=LABEL_SIZE)


def _bracket(drawing: Drawing, bracket: tuple[int, int], places: Sequence[Place], colour: str) -> str:
    """Return the lines below the words of a bracket, one for each line of the picture, with ends that turn up."""
    first, last = bracket
    depth = sum(a <= first and last <= b for a, b in drawing.brackets)  # inner ones are higher
    lines: dict[float, list[Place]] = {}
    for place in places:
        if first <= place.word <= last:
            lines.setdefault(place.y, []).append(place)
    parts = [element("title", f"Bracket from {first} to {last}")]
    for y, inside in lines.items():
        edges = [(p.x, text_width(drawing.forms[p.word - 1], FORM_SIZE) / 2) for p in inside]
        left, right = min(x - half for x, half in edges), max(x + half for x, half in edges)
        bottom = number(y + FORM_SIZE * 1.35 + TAG_HEIGHT * len(drawing.lines()) + 6 - 3 * (depth - 1))
        path = f"M{number(left)} {bottom}v-4v4H{number(right)}v-4"
        parts.append(element("path", class_="span", d=path, fill="none", stroke=colour, stroke_width=1.5))
    return element("g", "".join(parts), {"data-first": first, "data-last": last}, class_="bracket")


def _word(
    drawing: Drawing,
    lines: list[tuple[str, list[str]]],
    place: Place,
    colours: dict[str, str],
    direction: str | None,
) -> str:
    m, x = place.word, place.x
    y = place.y + FORM_SIZE * 1.1
    look = {"fill": colours["form"], "direction": direction}
    parts = element("text", escape(drawing.forms[m - 1]), look, class_="form", x=x, y=y)
    for name, texts in lines:
        y += TAG_HEIGHT
        if text := texts[m - 1]:
            look = {"class": "tag", "x": x, "y": y, "fill": colours["tag"]}
            look |= {"data-column": None if name == "tag" else name}
            parts += element("text", escape(text), look, font_size=TAG_SIZE)
    return element("g", parts, {"data-id": m}, class_="word")


def _legend(y: float, width: float, *, is_dark: bool) -> tuple[str, float, float]:
    """Return the key to the colours at the bottom, in lines that fit a width, with its right and its lower edge."""
    x, right = MARGIN, 0.0
    parts: list[str] = []
    for band in BANDS:
        colour = band.dark if is_dark else band.light
        end = x + 23 + text_width(band.label, LABEL_SIZE)
        if end + MARGIN > width and x > MARGIN:
            end, x, y = end - x + MARGIN, MARGIN, y + LEGEND_HEIGHT
        sample = f"M{number(x)} {number(y + 8)}h18"
        dashes = "5 3" if band is BANDS[0] else None
        line = element("path", class_="line", d=sample, stroke=colour, stroke_width=2.5, stroke_dasharray=dashes)
        look = {"fill": colour, "font-size": LABEL_SIZE, "text-anchor": "start"}
        label = element("text", band.label, look, class_="label", x=x + 23, y=y + 12)
        parts.append(element("g", line + label, class_=f"key {band.name}"))
        x, right = end + 12, max(right, end + MARGIN)
    return element("g", "".join(parts), class_="legend"), right, y + LEGEND_HEIGHT
