"""Dependency trees for the terminal: one word per line, with arcs of box-drawing characters on the left.

      ╭───► The    DET   det
      │ ╭─► black  ADJ   amod
    ╭─┴─┴─► fox    NOUN  nsubj
    ╰────── jumps  VERB  root

Longer arcs are farther from the words, so the arcs of a projective tree never cross. Where arcs cross, the level line
is interrupted (``─│─``). If the arcs need more columns than there are, the tree is drawn by indentation instead.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from easyfirst.render.bands import band_of, per_cent

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_LINES = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"  # the character of a cell, indexed by the sum of the directions of its lines
ARROW, STEP = "►", 2
DIM, BOLD, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[0m"
MAX_ARC_WIDTH = 1000  # the columns for the arcs where no width is given: the arcs of long sentences could take millions
MIN_TEXT_WIDTH = 24  # the columns reserved for the words
MIN_COLUMN_WIDTH = 12  # wider columns of a sentence are shortened before they are left out


def draw_tree(
    forms: Sequence[str],
    heads: Sequence[int | None],
    relations: Sequence[str | None],
    tags: Sequence[str] | None = None,
    *,
    columns: Mapping[str, Sequence[str]] | None = None,
    confidence: Sequence[float | None] | None = None,
    steps: Sequence[int | None] | None = None,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Return the tree of a sentence, one line for each word. Heads are numbered from 1, 0 is the root, None unknown.

    ``columns`` are shown in place of ``tags``. No line is wider than ``width`` columns of the terminal: if one would
    be, the tags or columns are shortened or left out, and then lines are cut. With ``color`` the arcs are dim, the root
    is bold, and relations have the colour of their confidence.
    """
    room = MAX_ARC_WIDTH if width is None else max(width - MIN_TEXT_WIDTH, 0)
    arcs = _draw_arcs(heads, room) or _indent(heads, room)
    words = pad(list(map(visible, forms)))
    facts = [[visible(relation or "_") for relation in relations]]
    if steps is not None:
        facts.append(["" if step is None else str(step) for step in steps])
    if confidence is not None:
        facts.append(["" if value is None else per_cent(value) for value in confidence])
    facts[:-1] = [pad(cells) for cells in facts[:-1]]
    if columns is None:
        columns = {"tag": tags} if tags is not None and any(tag != "_" for tag in tags) else {}
    used = max(display_width("  ".join(cells)) - 1 for cells in zip(arcs, words, *facts, strict=True))
    shown = _fit([list(map(visible, cells)) for cells in columns.values()], None if width is None else width - used)
    lines: list[str] = []
    for i, arc in enumerate(arcs):
        word, rest = "  ".join(cells[i] for cells in (words, *shown)), "  ".join(cells[i] for cells in facts)
        line = cut(f"{arc} {word}  {rest}".rstrip(), width)
        value = confidence[i] if confidence is not None else None
        lines.append(_paint(line, len(arc), len(arc) + len(word), heads[i], value) if color else line)
    return "\n".join(lines)


def _fit(columns: Sequence[Sequence[str]], room: int | None) -> list[list[str]]:
    """Pad columns. If they are too wide, each with two spaces before it, shorten the widest. If that is not enough,
    leave out the last ones."""
    for n in range(len(columns), 0, -1):
        widths = [max(map(display_width, cells)) for cells in columns[:n]]
        while room is not None and (excess := sum(widths) + 2 * n - room) > 0 and max(widths) > MIN_COLUMN_WIDTH:
            widest = widths.index(max(widths))
            widths[widest] = max(widths[widest] - excess, MIN_COLUMN_WIDTH)
        if room is None or sum(widths) + 2 * n <= room:
            return [
                pad([cut(cell, at_most) for cell in cells]) for cells, at_most in zip(columns, widths, strict=False)
            ]
    return []


def _paint(line: str, arc_end: int, words_end: int, head: int | None, confidence: float | None) -> str:
    """Colour a line: its arcs, its words, and the facts about its arc."""
    arc, words, rest = line[:arc_end], line[arc_end : words_end + 1], line[words_end + 1 :]
    colour = "" if confidence is None else f"\x1b[38;5;{band_of(confidence).terminal}m"
    parts = ((DIM, arc), (BOLD if head == 0 else "", words), (colour, rest))
    return "".join(f"{code}{part}{PLAIN}" if code and part.strip() else part for code, part in parts)


def _draw_arcs(heads: Sequence[int | None], room: int) -> list[str]:
    """Return what is left of each word, all of the same width; nothing if that is more columns than there is room."""
    arcs = [(min(m, head), max(m, head), m) for m, head in enumerate(heads, 1) if head]
    levels = _levels(arcs, heads)
    n_levels = max(levels.values(), default=0)
    if STEP * n_levels + 1 > room:
        return []
    grid = [[0] * (STEP * n_levels) for _ in heads]
    passed: set[tuple[int, int]] = set()  # the cells in which an arc runs past a word
    for first, last, m in arcs:
        column = STEP * (n_levels - levels[m])
        for row in range(first - 1, last):
            grid[row][column] |= (UP if row > first - 1 else 0) | (DOWN if row < last - 1 else 0)
        passed.update((row, column) for row in range(first, last - 1))
        for row in (first - 1, last - 1):
            grid[row][column] |= RIGHT
            for x in range(column + 1, STEP * n_levels):
                grid[row][x] |= LEFT | RIGHT
    for row, column in passed:
        grid[row][column] = UP | DOWN
    ends = [ARROW if head else ("─" if any(cells) else " ") for head, cells in zip(heads, grid, strict=True)]
    return ["".join(_LINES[cell] for cell in cells) + end for cells, end in zip(grid, ends, strict=True)]


def _levels(arcs: Sequence[tuple[int, int, int]], heads: Sequence[int | None]) -> dict[int, int]:
    """Return the level of each arc, by its modifier: outside all shorter arcs that it overlaps, and not in the column
    of an arc that it touches."""
    levels: dict[int, int] = {}
    heights = _Heights()
    of_head: dict[int, list[int]] = {}
    for first, last, m in arcs:
        of_head.setdefault(first + last - m, []).append(m)
    for first, last, m in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc)):
        level = 1 + heights.highest(first, last)
        taken = {levels[other] for other in _touching(first, last, m, heads, of_head) if other in levels}
        levels[m] = next(free for free in count(level) if free not in taken)
        heights.cover(first, last, levels[m])
    return levels


def _touching(
    first: int, last: int, m: int, heads: Sequence[int | None], of_head: Mapping[int, Sequence[int]]
) -> Iterator[int]:
    """Yield the modifiers of the arcs that end where an arc begins, or the other way round, so that they would look
    like one arc. Two arcs from the same head may share a column, so one of them is the arc of the word itself."""
    head = first + last - m
    yield from (other for other in of_head.get(m, ()) if (other < m) == (m < head))
    if (above := heads[head - 1]) and (head < above) == (m < head):
        yield head


class _Heights:
    """The level of the outermost arc over each gap between two words: a step function. Arcs come from short to long."""

    def __init__(self) -> None:
        self._begins, self._levels = [0], [0]

    def highest(self, first: int, last: int) -> int:
        """Return the highest level between two words."""
        return max(self._levels[bisect_right(self._begins, first) - 1 : bisect_left(self._begins, last)], default=0)

    def cover(self, first: int, last: int, level: int) -> None:
        """Set the level between two words, which is higher than all that are there."""
        begin, end = bisect_left(self._begins, first), bisect_left(self._begins, last)
        after = self._levels[bisect_right(self._begins, last) - 1]
        is_begun = end < len(self._begins) and self._begins[end] == last
        self._begins[begin:end] = [first] if is_begun else [first, last]
        self._levels[begin:end] = [level] if is_begun else [level, after]


def _indent(heads: Sequence[int | None], room: int) -> list[str]:
    """Indent each word by its depth, as far as there is room."""
    depths = _depths(heads)
    deepest = max(depths)
    step = min(STEP, room // deepest) if deepest else 0
    return [f"{' ' * min(step * depth, room)}{'·' if depth else ' '}".ljust(step * deepest + 1) for depth in depths]


def _depths(heads: Sequence[int | None]) -> list[int]:
    """Return the number of words above each word. Heads may form a cycle; below one, it is the number of all words."""
    depths: dict[int, int] = {}
    for m in range(1, len(heads) + 1):
        path: list[int] = []
        seen: set[int] = set()
        above: int | None = m
        while above and above not in depths and above not in seen:
            path.append(above)
            seen.add(above)
            above = heads[above - 1]
        depth = -1 if not above else depths.get(above, len(heads))
        for word in reversed(path):
            depth = min(depth + 1, len(heads))
            depths[word] = depth
    return [depths[m] for m in range(1, len(heads) + 1)]


def visible(form: str) -> str:
    """Replace the characters of a form that would break the lines."""
    return "".join(c if unicodedata.category(c)[0] not in "CZ" or c == " " else "\N{OPEN BOX}" for c in form)


def pad(cells: Sequence[str], *, right: bool = False) -> list[str]:
    """Pad cells to the width of the widest, aligned left or ``right``."""
    widest = max(map(display_width, cells))
    spaces = [" " * (widest - display_width(cell)) for cell in cells]
    return [space + cell if right else cell + space for cell, space in zip(cells, spaces, strict=True)]


def display_width(text: str) -> int:
    """Return the number of terminal columns of a text."""
    return sum(_column_width(c) for c in text)


def _column_width(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def cut(line: str, width: int | None) -> str:
    """Cut a line to at most ``width`` columns."""
    if width is None or display_width(line) <= width:
        return line
    end, room = 0, width - 1
    while (room := room - _column_width(line[end])) >= 0:  # ends, as the line is too wide
        end += 1
    return line[:end] + "…"
