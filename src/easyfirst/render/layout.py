"""The layout of a picture: words in lines that fit a width, arcs above them.

An arc rises from one word, runs level, and falls to the other. Longer arcs are higher, so the arcs of a projective
tree do not cross. An arc between words of different lines leaves one line at its end and enters the other at its
start: it has a piece in each line. Everything is laid out from left to right and mirrored for right-to-left scripts.

No fonts are available, so text widths are estimated generously.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from easyfirst.render.drawing import Drawing

FORM_SIZE, TAG_SIZE, LABEL_SIZE = 16, 11, 11  # font sizes in pixels
TAG_HEIGHT = TAG_SIZE * 1.4
GAP, MARGIN, OPEN_MARGIN = 18.0, 14.0, 46.0
LEVEL, BASE, SLOT = 20.0, 12.0, 8.0
LINE_GAP = 14.0
HALVINGS = 8  # of the length of lines, to find the shortest that needs no more lines
_NARROW, _BROAD = set("fijlrtI.,;:!|'`()[]{}/\\- "), set("mwMW@%—…")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a word: the middle of its column, and the height at which arcs touch it."""

    word: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of an arc, or of the root's arrow, in one line. It is open where its head or modifier is elsewhere."""

    head: int
    modifier: int
    start: float  # x on the head's side
    end: float  # x on the modifier's side
    top: float  # y of the level part
    base: float  # y where it touches words
    has_head: bool
    has_modifier: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The places and pieces of a picture, in pixels; y grows downward."""

    width: float
    height: float
    places: tuple[Place, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    """The first and last words an arc spans in a line; half a word outside the line where the arc is open."""

    head: int
    modifier: int
    first: float
    last: float


def text_width(text: str, size: float) -> float:
    """Estimate the width of text in a common sans-serif font."""
    return size * sum(map(_character_width, text))


def _character_width(c: str) -> float:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(c) in "WF":
        return 1.25 if ord(c) > 0x1F000 else 1.02
    if c in _NARROW:
        return 0.36
    if c in _BROAD or "\u0900" <= c <= "\u109f":  # Indic and neighbouring scripts are broad
        return 0.95
    return 0.72 if c.isupper() else 0.6


def label_of(drawing: Drawing, m: int) -> tuple[str, str]:
    """Return the text on an arc: the relation and the step, either of which may be empty."""
    step = drawing.step_of(m)
    return drawing.relation(m), "" if step is None else str(step)


def lay_out(drawing: Drawing, width: float) -> Layout:
    """Lay out a picture that is not wider than ``width`` unless a single word is."""
    texts = [texts for _, texts in drawing.lines()]
    columns = _columns(drawing, texts)
    gaps = _gaps(drawing, columns)
    lines = _break_lines(columns, gaps, width)
    places: list[Place] = []
    pieces: list[Piece] = []
    y, right = LINE_GAP / 2, 0.0
    for first, last in lines:
        spans = _spans(drawing, first, last)
        levels = _levels(spans)
        base = y + max(levels, default=0) * LEVEL + BASE
        start = OPEN_MARGIN if any(span.first < first for span in spans) else MARGIN
        out = OPEN_MARGIN if any(span.last > last for span in spans) else MARGIN
        centres = _centres(columns, gaps, range(first, last + 1), start)
        right = max(right, centres[last] + columns[last - 1] / 2 + out)
        places += [Place(m, x, base) for m, x in centres.items()]
        pieces += _pieces(spans, levels, centres, columns, base)
        n_below = max((n for n, text in enumerate(texts, 1) if any(text[first - 1 : last])), default=0)
        y = base + FORM_SIZE * 1.35 + TAG_HEIGHT * n_below + LINE_GAP
    edge, way = (right, -1) if drawing.is_right_to_left else (0.0, 1)
    places = [replace(place, x=edge + way * place.x) for place in places]
    ends = [(edge + way * min(piece.start, right), edge + way * min(piece.end, right)) for piece in pieces]
    pieces = [replace(piece, start=start, end=end) for piece, (start, end) in zip(pieces, ends, strict=True)]
    return Layout(right, y, tuple(places), tuple(pieces))


def _columns(drawing: Drawing, below: Sequence[Sequence[str]]) -> list[float]:
    """Return the width of each word's column, with room for its form, the texts below it, its arcs and the root's
    label."""
    arcs = ((m, head) for m, head in enumerate(drawing.heads, 1) if head is not None)
    n_arcs = Counter(word for arc in arcs for word in arc)
    columns: list[float] = []
    for m, form in enumerate(drawing.forms, 1):
        own = text_width(" ".join(label_of(drawing, m)), LABEL_SIZE) if drawing.heads[m - 1] == 0 else 14.0
        texts = (text_width(line[m - 1], TAG_SIZE) for line in below)
        columns.append(max(own, text_width(form, FORM_SIZE), n_arcs[m] * SLOT * 0.7, *texts))
    return columns


def _gaps(drawing: Drawing, columns: Sequence[float]) -> list[float]:
    """Return the space after each word, enough that every arc is as wide as its label."""
    gaps = [GAP] * len(columns)
    for h, m in sorted(drawing.arcs, key=lambda arc: abs(arc[0] - arc[1])):
        first, last = min(h, m) - 1, max(h, m) - 1
        needed = text_width(" ".join(label_of(drawing, m)), LABEL_SIZE) + 2 * SLOT
        inside = (columns[first] + columns[last]) / 2 - 3 * SLOT
        room = inside + sum(columns[first + 1 : last]) + sum(gaps[first:last])
        for i in range(first, last):
            gaps[i] += max(needed - room, 0.0) / (last - first)
    return gaps


def _break_lines(columns: Sequence[float], gaps: Sequence[float], width: float) -> list[tuple[int, int]]:
    """Return the first and last word of each line. The lines are as few as the width allows, and about equally long, so
    that no word or two stand alone in the last one."""
    room = width - 2 * MARGIN
    if sum(columns) + sum(gaps[:-1]) <= room:
        return [(1, len(columns))]
    room = width - 2 * OPEN_MARGIN
    lines = _fill(columns, gaps, room)
    least = 0.0
    for _ in range(HALVINGS):
        middle = (least + room) / 2
        found = _fill(columns, gaps, middle)
        if len(found) > len(lines):
            least = middle
        else:
            room, lines = middle, found
    return lines


def _fill(columns: Sequence[float], gaps: Sequence[float], room: float) -> list[tuple[int, int]]:
    """Return the first and last word of each line, filled one after the other."""
    lines: list[tuple[int, int]] = []
    first, used = 1, columns[0]
    for m in range(2, len(columns) + 1):
        more = gaps[m - 2] + columns[m - 1]
        if used + more > room:
            lines.append((first, m - 1))
            first, used = m, columns[m - 1]
        else:
            used += more
    return [*lines, (first, len(columns))]


def _spans(drawing: Drawing, first: int, last: int) -> list[_Span]:
    """Return the spans of the arcs in a line, lowest first; the root's arrow is the highest."""
    spans: list[_Span] = []
    for h, m in drawing.arcs:
        a, b = max(min(h, m), first - 0.5), min(max(h, m), last + 0.5)
        if a < b and b >= first and a <= last:
            spans.append(_Span(h, m, a, b))
    roots = [_Span(0, m, m, m) for m in range(first, last + 1) if drawing.heads[m - 1] == 0]
    spans.sort(key=lambda span: (span.last - span.first, abs(span.head - span.modifier), span.modifier))
    return spans + roots


def _levels(spans: Sequence[_Span]) -> list[int]:
    """Return the level of each span: above all earlier spans that it overlaps."""
    levels: list[int] = []
    for i, span in enumerate(spans):
        below = (
            level
            for other, level in zip(spans[:i], levels, strict=True)
            if (other.first < span.last and span.first < other.last)
            or (not span.head and other.first <= span.first <= other.last)
        )
        levels.append(1 + max(below, default=0))
    return levels


def _centres(columns: Sequence[float], gaps: Sequence[float], words: range, x: float) -> dict[int, float]:
    centres: dict[int, float] = {}
    for m in words:
        centres[m] = x + columns[m - 1] / 2
        x += columns[m - 1] + gaps[m - 1]
    return centres


def _pieces(
    spans: Sequence[_Span], levels: Sequence[int], centres: dict[int, float], columns: Sequence[float], base: float
) -> list[Piece]:
    anchors = _anchors(spans, centres, columns)
    pieces: list[Piece] = []
    for i, (span, level) in enumerate(zip(spans, levels, strict=True)):
        h, m = span.head, span.modifier
        left, right = anchors.get((i, span.first), 0.0), anchors.get((i, span.last), float("inf"))
        start, end = (left, right) if h < m else (right, left)
        top = base - BASE / 2 - level * LEVEL + LEVEL / 2
        pieces.append(Piece(h, m, start, end, top, base, has_head=h in centres, has_modifier=m in centres))
    return pieces


def _anchors(
    spans: Sequence[_Span], centres: dict[int, float], columns: Sequence[float]
) -> dict[tuple[int, float], float]:
    """Return where each span touches its words. Among arcs to the same side, the longest is nearest to the middle."""
    touching: dict[int, list[tuple[float, int]]] = {m: [] for m in centres}
    for i, span in enumerate(spans):
        rank = 1.0 / (i + 1) if span.head else 0.0  # spans are sorted from low to high
        for end, place in {span.first: rank, span.last: -rank}.items():
            if end in touching:
                touching[int(end)].append((place, i))
    anchors: dict[tuple[int, float], float] = {}
    for m, ends in touching.items():
        step = min(SLOT, columns[m - 1] / max(len(ends), 1))
        for place, (_, i) in enumerate(sorted(ends)):
            anchors[i, float(m)] = centres[m] + (place - (len(ends) - 1) / 2) * step
    return anchors
