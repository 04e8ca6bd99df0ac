"""Dependency trees for LaTeX with the package tikz-dependency.

Scripts other than Latin need XeLaTeX or LuaLaTeX and a font that covers them.
"""

from __future__ import annotations

import re

from easyfirst.render.bands import band_of
from easyfirst.render.drawing import Drawing


def preamble(options: str, package: str) -> str:
    """Return the preamble of a document of pictures, with the options of its class and the package that draws them."""
    return rf"""\documentclass[{options}]{{standalone}}
\usepackage{{iftex}}
\iftutex
  \usepackage{{fontspec}} % \setmainfont{{...}}: a font that has all characters
\else
  \usepackage[T1]{{fontenc}}
\fi
\usepackage{{{package}}}
\begin{{document}}
"""


HEAD = preamble("multi=dependency,border=4pt", "tikz-dependency")
"""The preamble of a document in which each tree becomes a page."""
TAIL = "\\end{document}\n"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPES = str.maketrans(
    {
        **{character: f"\\{character}" for character in "{}$#%_"},
        **{character: f"{character}{{}}" for character in "-'`,!?"},  # two of them would form a ligature
        "\\": r"\textbackslash{}",
        "&": r"\char38{}",  # \& ends a cell
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "[": "{[}",  # else it could start the options of a command
        "]": "{]}",
        "\N{REPLACEMENT CHARACTER}": "?{}",
    }
)


def draw_latex(drawing: Drawing) -> str:
    """Return a ``dependency`` environment. Sentences in right-to-left scripts run from right to left."""
    columns = range(1, len(drawing) + 1)[:: -1 if drawing.is_right_to_left else 1]
    place = {m: column for column, m in enumerate(columns, 1)}
    lines = [r"\begin{dependency}", r"  \begin{deptext}[column sep=0.6em]"]
    lines.append(_row([drawing.forms[m - 1] for m in columns]))
    lines += [_row([texts[m - 1] for m in columns]) for _, texts in drawing.lines()]
    lines.append(r"  \end{deptext}")
    for m, head in enumerate(drawing.heads, 1):
        if head is not None:
            command = rf"\depedge{_style(drawing, m)}{{{place[head]}}}" if head else rf"\deproot{_style(drawing, m)}"
            lines.append(f"  {command}{{{place[m]}}}{{{_label(drawing, m)}}}")
    return "\n".join([*lines, "\\end{dependency}\n"])


def _row(cells: list[str]) -> str:
    return "    " + r" \& ".join(escape_latex(cell) or "{}" for cell in cells) + r" \\"


def _style(drawing: Drawing, m: int) -> str:
    confidence = drawing.confidence_of(m)
    if confidence is None:
        return ""
    color = band_of(confidence).light
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    dashes = ", dashed" if confidence < 0.5 else ""
    return f"[edge style={{draw={{rgb,255:red,{red};green,{green};blue,{blue}}}{dashes}}}]"


def _label(drawing: Drawing, m: int) -> str:
    step = drawing.step_of(m)
    return escape_latex(drawing.relation(m)) + ("" if step is None else rf"\textsuperscript{{{step}}}")


def escape_latex(text: str) -> str:
    r"""Escape text so that LaTeX prints it character by character.

    >>> print(escape_latex("50 % of R&D"))
    50 \% of R\char38{}D
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).translate(_ESCAPES)
