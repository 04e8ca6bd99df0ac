"""Pictures of constituency trees: for the terminal, as SVG, and for LaTeX with the package forest."""

from __future__ import annotations

from easyfirst.constituents.tree import Constituents
from easyfirst.render.latex import escape_latex, preamble
from easyfirst.render.layout import FORM_SIZE, MARGIN, TAG_SIZE, text_width
from easyfirst.render.markup import element, escape, number
from easyfirst.render.svg import COLOURS, FONT, Theme, dark_style

LATEX_HEAD = preamble("border=4pt", "forest")
"""The preamble of a document with trees."""
ROW, GAP = 40.0, 12.0  # between the levels of an SVG, and between words


def draw_constituents(tree: Constituents) -> str:
    """Draw a tree in text, with a line for each phrase and each word.

    >>> from easyfirst.constituents.tree import Node
    >>> print(draw_constituents(Constituents(("The", "fox"), ("DT", "NN"), (Node("NP", 0, 2),))))
    NP
    ├─ DT The
    └─ NN fox
    """
    lines: list[str] = []
    children = tree.child_numbers()
    waiting = [(0 if tree.nodes else -1, "", "")]  # what is drawn next, the beginning of its line, and of those below
    while waiting:
        number, begin, below = waiting.pop()
        lines.append(begin + _text(tree, number))
        inside = children[number] if number >= 0 else []
        for position, child in reversed(list(enumerate(inside))):
            is_last = position == len(inside) - 1
            waiting.append((child, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  ")))
    return "\n".join(lines)


def draw_constituents_latex(tree: Constituents) -> str:
    """Return a ``forest`` environment."""
    opening: list[str] = [""] * len(tree)
    closing = [0] * len(tree)
    for label, start, end in tree.nodes:
        opening[start] += f"[{{{escape_latex(label)}}} "
        closing[end - 1] += 1
    words = zip(opening, tree.tags, tree.forms, closing, strict=True)
    inside = " ".join(
        f"{before}[{{{escape_latex(tag)}}} [{{{escape_latex(form)}}}]]{']' * n}" for before, tag, form, n in words
    )
    return f"\\begin{{forest}}\n  {inside}\n\\end{{forest}}\n"


def draw_constituents_svg(tree: Constituents, *, theme: Theme = "auto", name: str = "tree") -> str:
    """Return a picture with all words on one line, as wide as they need. In a page with several pictures, each needs a
    unique ``name``."""
    widths = [
        max(text_width(form, FORM_SIZE), text_width(tag, TAG_SIZE)) + GAP
        for form, tag in zip(tree.forms, tree.tags, strict=True)
    ]
    edges = [MARGIN]
    for width in widths:
        edges.append(edges[-1] + width)
    children, heights = tree.child_numbers(), _heights(tree)
    base = MARGIN + FORM_SIZE + ROW * max(heights, default=0)  # the line of the tags
    places = {-1 - word: ((edges[word] + edges[word + 1]) / 2, base) for word in range(len(tree))}
    for node in range(len(tree.nodes) - 1, -1, -1):
        across = [places[child][0] for child in children[node]]
        places[node] = (across[0] + across[-1]) / 2, base - ROW * heights[node]
    colours = COLOURS["dark" if theme == "dark" else "light"]
    lines = [
        _line(places[node], places[child], colours["arc"]) for node, found in enumerate(children) for child in found
    ]
    labels = [_label(tree.nodes[node].label, *places[node], "label", colours) for node in range(len(tree.nodes))]
    for word, (tag, form) in enumerate(zip(tree.tags, tree.forms, strict=True)):
        x, y = places[-1 - word]
        labels += [_label(tag, x, y, "tag", colours), _label(form, x, y + 1.5 * FORM_SIZE, "form", colours)]
    width, height = edges[-1] + MARGIN, base + 2.5 * FORM_SIZE
    style = element("style", f"@media (prefers-color-scheme:dark){{{dark_style()}}}") if theme == "auto" else ""
    text = " ".join(tree.forms)
    parts = (
        element("title", escape(text), id=f"{name}-title"),
        element("desc", escape(tree.to_brackets()), id=f"{name}-desc"),
        style,
        element("rect", class_="background", width="100%", height="100%", fill=colours["background"]),
        *lines,
        *labels,
    )
    frame = {"viewBox": f"0 0 {number(width)} {number(height)}", "xmlns": "http://www.w3.org/2000/svg"}
    look = {"class": "easyfirst", "width": width, "height": height, "role": "img"}
    about = {"aria-labelledby": f"{name}-title {name}-desc", "font-family": FONT, "font-size": FORM_SIZE}
    return element("svg", "".join(parts), frame | look | about)


def _text(tree: Constituents, number: int) -> str:
    return tree.nodes[number].label if number >= 0 else f"{tree.tags[-1 - number]} {tree.forms[-1 - number]}"


def _heights(tree: Constituents) -> list[int]:
    """Return how many phrases each phrase is above the words, counting itself."""
    children, heights = tree.child_numbers(), [0] * len(tree.nodes)
    for node in range(len(tree.nodes) - 1, -1, -1):
        heights[node] = 1 + max(heights[child] if child >= 0 else 0 for child in children[node])
    return heights


def _line(above: tuple[float, float], below: tuple[float, float], colour: str) -> str:
    (x1, y1), (x2, y2) = above, below
    return element("line", class_="line", x1=x1, y1=y1 + 4, x2=x2, y2=y2 - FORM_SIZE, stroke=colour)


def _label(text: str, x: float, y: float, kind: str, colours: dict[str, str]) -> str:
    size = {"font-size": TAG_SIZE} if kind == "tag" else {}
    return element(
        "text", escape(text), {"class": kind, "text-anchor": "middle", "x": x, "y": y, **size}, fill=colours[kind]
    )
