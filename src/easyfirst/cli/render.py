"""``easyfirst render``: CoNLL-U in; pictures of its trees out."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from easyfirst.cli import options
from easyfirst.cli.constituency import draw_trees, is_brackets, read_trees
from easyfirst.cli.files import STANDARD, Files
from easyfirst.cli.formats import by_suffix
from easyfirst.cli.outputs import check_output, open_output, writes_terminal
from easyfirst.errors import DataError, InputError
from easyfirst.render.columns import read_columns
from easyfirst.render.displacy import to_displacy
from easyfirst.render.dot import draw_dot
from easyfirst.render.drawing import Drawing
from easyfirst.render.html import html_parts
from easyfirst.render.latex import HEAD, TAIL, draw_latex
from easyfirst.render.svg import MIN_WIDTH, WIDTH, draw_svg
from easyfirst.render.terminal import draw_tree


class Picture(str, Enum):
    """The format of the output."""

    svg = "svg"
    html = "html"
    latex = "latex"
    dot = "dot"
    terminal = "terminal"
    displacy = "displacy"


SUFFIXES = {
    ".svg": Picture.svg,
    **dict.fromkeys((".html", ".htm"), Picture.html),
    ".tex": Picture.latex,
    **dict.fromkeys((".dot", ".gv"), Picture.dot),
}


class Theme(str, Enum):
    """The background of an SVG."""

    auto = "auto"
    light = "light"
    dark = "dark"


def render(
    inputs: Annotated[
        list[str] | None, Argument(metavar="INPUT", help="CoNLL-U with trees, plain or .gz; none or '-': stdin.")
    ] = None,
    encoding: options.Encoding = None,
    target: Annotated[
        Picture | None,
        Option(
            "--to",
            help="The format of the output: svg (a sentence per file), html (a page to step through), latex "
            "(tikz-dependency), dot (Graphviz), terminal, or displacy (JSON for spaCy's displaCy). Default: by the "
            "name of the output, else terminal.",
        ),
    ] = None,
    output: Annotated[
        str | None, Option("--output", "-o", help="The file to write; for svg also a directory; default: stdout.")
    ] = None,
    sentence: Annotated[
        int | None, Option("--sentence", "-s", min=1, help="Draw only this sentence, counted from 1.")
    ] = None,
    width: Annotated[
        int | None,
        Option(
            min=24,
            help="Pixels for svg and html (default: 960), columns for terminal (default: those of the terminal).",
        ),
    ] = None,
    theme: Annotated[Theme, Option(help="The background of an svg; auto: the viewer's preference.")] = Theme.auto,
    show: options.Show = None,
    constituency: Annotated[
        bool, Option("--constituency", help="Draw phrases: the input is brackets, as .ptb and .mrg files always are.")
    ] = False,
) -> None:
    """Draw the trees of CoNLL-U files, or of brackets.

    ArcConf= and Step= in MISC become colours and numbers. An SVG holds one sentence: if there are several, choose one
    with --sentence, or write them to a directory as 1.svg, 2.svg and so on (-o DIR/). Other formats hold any number.

    \b
    Examples:
      easyfirst render trees.conllu
      easyfirst render trees.conllu -o trees.html
      easyfirst render trees.conllu --sentence 3 -o third.svg
      easyfirst render trees.conllu --to svg -o pictures/
      easyfirst render trees.conllu --to html --show lemma,feats -o trees.html
      easyfirst parse --text "The fox jumps." --to conllu | easyfirst render --to latex
      easyfirst render trees.ptb --sentence 3 -o third.svg
    """
    target = target or by_suffix(output, SUFFIXES) or Picture.terminal
    is_directory = target is Picture.svg and output is not None and output != STANDARD and _is_directory(output)
    if not is_directory:
        check_output(output, inputs or ())
    if width is not None and target in (Picture.svg, Picture.html) and width < MIN_WIDTH:
        raise InputError(f"--width {width} is too little for {target.value}; give {MIN_WIDTH:g} pixels or more")
    shown = None if show is None else read_columns(show)
    if constituency or any(map(is_brackets, inputs or ())):
        trees = list(islice(read_trees(inputs or [], encoding), (sentence or 1) - 1, sentence))
        with open_output(output) as stream:
            stream.write(draw_trees(trees, target.value, theme.value).encode(errors="replace"))
        return
    files = Files(inputs or [], encoding)
    files.announce()
    drawings: Iterable[Drawing] = map(partial(Drawing.of, show=shown), files.sentences())
    if sentence is not None:
        drawings = list(islice(drawings, sentence - 1, sentence))
        if not drawings:
            raise InputError(f"there is no sentence {sentence}: the input has fewer; give --sentence a smaller number")
    if is_directory and output is not None:
        _write_directory(drawings, Path(output), width, theme, first=sentence or 1)
        return
    with open_output(output) as stream:
        for piece in _pieces(drawings, target, width, theme, on_terminal=writes_terminal(output)):
            stream.write(piece.encode(errors="replace"))


def _is_directory(name: str) -> bool:
    path = Path(name)
    if name.endswith(("/", os.sep)) and not path.exists():
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise DataError(f"the directory cannot be made: {error.strerror or error}", source=name) from error
    return path.is_dir()


def _pieces(
    drawings: Iterable[Drawing], target: Picture, width: int | None, theme: Theme, *, on_terminal: bool
) -> Iterator[str]:
    """Yield the output piece by piece."""
    if target is Picture.svg:
        first = list(islice(drawings, 2))
        if not first:
            raise InputError("the input has no sentence to draw")
        if len(first) > 1:
            hint = "pick one with --sentence N, give a directory with -o DIR, or use --to html"
            raise InputError(f"an SVG holds one sentence and the input has several; {hint}")
        yield draw_svg(first[0], width=width or WIDTH, theme=theme.value) + "\n"
    elif target is Picture.html:
        yield from html_parts(drawings, width=width or WIDTH)
    elif target is Picture.latex:
        yield HEAD
        yield from map(draw_latex, drawings)
        yield TAIL
    elif target is Picture.dot:
        yield from map(draw_dot, drawings)
    elif target is Picture.displacy:
        yield from _json(drawings)
    else:
        yield from _terminal(drawings, width, on_terminal=on_terminal)


def _write_directory(drawings: Iterable[Drawing], place: Path, width: int | None, theme: Theme, *, first: int) -> None:
    """Write a file for each sentence, named by its number in the input."""
    n = first - 1
    for n, drawing in enumerate(drawings, first):
        with open_output(str(place / f"{n}.svg")) as stream:
            stream.write(f"{draw_svg(drawing, width=width or WIDTH, theme=theme.value)}\n".encode())
    if n < first:
        raise InputError("the input has no sentence to draw")


def _json(drawings: Iterable[Drawing]) -> Iterator[str]:
    """Yield one list of all sentences."""
    separator = "[\n"
    for drawing in drawings:
        yield separator + json.dumps(to_displacy(drawing), ensure_ascii=False)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _terminal(drawings: Iterable[Drawing], width: int | None, *, on_terminal: bool) -> Iterator[str]:
    """Yield trees with an empty line after each; on a terminal, as wide as it is and in colours."""
    if width is None and on_terminal:
        width = shutil.get_terminal_size().columns
    for drawing in drawings:
        tree = draw_tree(
            drawing.forms,
            drawing.heads,
            drawing.relations,
            drawing.tags,
            columns=drawing.columns,
            confidence=drawing.confidence,
            steps=drawing.steps,
            width=width,
            color=on_terminal and not os.environ.get("NO_COLOR"),
        )
        yield f"{tree}\n\n"
