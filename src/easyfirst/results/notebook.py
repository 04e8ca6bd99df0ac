"""What notebooks show of results: the trees of a sentence, or of the first sentences of a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.render.notebook import Display, notebook_steps, notebook_trees
from easyfirst.render.svg import WIDTH, Theme

if TYPE_CHECKING:
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse

MAX_SENTENCES, MAX_WORDS = 5, 200  # what is drawn without asking


def shown(
    parses: Sequence[Parse],
    *,
    steps: bool = False,
    width: float = WIDTH,
    theme: Theme = "auto",
    show: str | Iterable[str] | None = None,
    note: str | None = None,
) -> Display:
    """Draw parses, or with ``steps`` a page that steps through their derivations."""
    columns = None if show is None or isinstance(show, str) else list(show)
    drawings = [parse.drawing(show=show if columns is None else columns) for parse in parses]
    what = count(len(drawings), "sentence")
    if steps:
        if theme != "auto":
            raise InputError("the steps follow the viewer's preference; leave out the theme")
        return Display(notebook_steps(drawings, width=width), f"the steps of {what}")
    return Display(notebook_trees(drawings, width=width, theme=theme, note=note), what)


def parse_html(parse: Parse) -> str:
    """Return what a notebook shows of a parse."""
    if len(parse) <= MAX_WORDS:
        return shown([parse]).html
    return shown([], note=f"A sentence of {count(len(parse), 'word')}; .display() draws it.").html


def document_html(document: Document) -> str:
    """Return what a notebook shows of a document: its first sentences."""
    n_words, n_drawn = 0, 0
    for parse in document.sentences[:MAX_SENTENCES]:
        n_words += len(parse)
        if n_words > MAX_WORDS:
            break
        n_drawn += 1
    rest = document.sentences[n_drawn:]
    note = None
    if not document.sentences:
        note = "A document without words."
    elif rest:
        more = count(len(rest), f"{'more ' * bool(n_drawn)}sentence")
        note = f"… {more} ({count(sum(map(len, rest)), 'word')}); .display() draws all, document[{n_drawn}] the next."
    return shown(document.sentences[:n_drawn], note=note).html
