"""Dependency trees as HTML for the output of a notebook's cell.

Pictures need no script, and their style sheet names nothing but them, so they cannot disturb the page. Their colours
follow the theme of the notebook (Jupyter, VS Code, Colab), or else the viewer's preference. The page that steps through
a derivation is in a sandboxed frame of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from easyfirst.render.drawing import Drawing
from easyfirst.render.html import draw_html
from easyfirst.render.layout import lay_out
from easyfirst.render.markup import element, escape
from easyfirst.render.svg import WIDTH, Theme, draw_svg, theme_style

AUTO = "easyfirst-auto"  # the class of pictures that follow the theme
LIGHT = ':is([data-jp-theme-light="true"],.vscode-light)'
DARK = ':is([data-jp-theme-light="false"],.vscode-dark,.vscode-high-contrast,html[theme="dark"])'
CONTROLS_HEIGHT, MAX_HEIGHT = 430, 800  # pixels of the frame: below a picture, and at most


class Display:
    """HTML that a notebook shows. ``display.html`` is its text, for example for a file."""

    def __init__(self, html: str, description: str) -> None:
        self.html = html
        self._description = description

    def __repr__(self) -> str:
        return f"<Display: {self._description}>"

    def _repr_html_(self) -> str:
        return self.html


def notebook_trees(
    drawings: Sequence[Drawing], *, width: float = WIDTH, theme: Theme = "auto", note: str | None = None
) -> str:
    """Return the pictures of sentences, one below the other, and a note after them."""
    pictures = [_picture(drawing, width, theme) for drawing in drawings]
    parts = [element("style", notebook_style()) if theme == "auto" else "", *pictures]
    if note is not None:
        parts.append(element("p", escape(note), style="margin:.5em 0;opacity:.8"))
    return element("div", "".join(parts), class_=AUTO if theme == "auto" else None)


def notebook_steps(drawings: Iterable[Drawing], *, width: float = WIDTH) -> str:
    """Return a frame with the page that steps through the derivations of sentences."""
    found = list(drawings)
    height = sum(lay_out(drawing, width).height + CONTROLS_HEIGHT for drawing in found)
    title = "Derivation" if len(found) == 1 else "Derivations"
    page = draw_html(found, title=title, width=width, shows_steps=True)
    look = {"srcdoc": page, "sandbox": "allow-scripts", "title": "Steps of the parser"}
    look |= {"width": "100%", "height": min(int(height), MAX_HEIGHT), "style": "border:1px solid #8888"}
    return element("iframe", "", look)


def notebook_style() -> str:
    """Return the colours that follow the theme of a notebook."""
    preferred = f"@media (prefers-color-scheme:dark){{{theme_style('dark', f'.{AUTO}')}}}"
    return preferred + theme_style("light", f"{LIGHT} .{AUTO}") + theme_style("dark", f"{DARK} .{AUTO}")


def _picture(drawing: Drawing, width: float, theme: Theme) -> str:
    named = repr((drawing.forms, drawing.heads, drawing.relations, drawing.title)).encode(errors="replace")
    name = f"tree-{hashlib.blake2s(named, digest_size=6).hexdigest()}"
    svg = draw_svg(drawing, width=width, theme=theme, name=name, has_style=False)
    return element("div", svg, style="overflow-x:auto")
