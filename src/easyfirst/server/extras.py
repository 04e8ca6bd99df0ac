"""What a response has besides the trees, if the request asks for it: alternatives, CoNLL-U, and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from easyfirst.confidence.estimates import rounded
from easyfirst.constraints.annotations import constraint_entries
from easyfirst.errors import InputError
from easyfirst.render.bands import per_cent
from easyfirst.render.columns import read_columns
from easyfirst.render.drawing import Drawing
from easyfirst.render.html import draw_section
from easyfirst.render.latex import draw_latex
from easyfirst.render.markup import element
from easyfirst.render.svg import MIN_WIDTH, WIDTH, draw_svg
from easyfirst.results.explanations import Explanation
from easyfirst.results.parses import Parse
from easyfirst.server.constrained import constraints_dict
from easyfirst.server.limits import RefusedError
from easyfirst.server.words_table import draw_words

NAMES = ("alternatives", "conllu", "svg", "latex", "html")
PICTURES = ("svg", "latex", "html")
DRAWING = 2  # the cost of drawing a word, relative to parsing it
MAX_WIDTH, MAX_FIRST = 10_000, 1_000_000_000


@dataclass(frozen=True, slots=True)
class Extras:
    """What is to be included, and how pictures are drawn."""

    names: tuple[str, ...] = ()
    width: float = WIDTH
    show: str | None = None  # the columns below the words
    first: int = 1  # the number of the first sentence, for its title and for ids in its page

    @property
    def has_alternatives(self) -> bool:
        return "alternatives" in self.names

    @property
    def weight(self) -> int:
        """The work for each word, relative to parsing it."""
        return DRAWING * sum(name in PICTURES for name in self.names)

    @classmethod
    def read(cls, values: dict[str, Any]) -> Extras:
        """Read and remove the keys ``include``, ``width``, ``show`` and ``first`` of a request."""
        names, width, show = values.pop("include", []), values.pop("width", WIDTH), values.pop("show", None)
        first = values.pop("first", 1)
        if isinstance(first, float) and first.is_integer():  # JSON makes no difference between 1.0 and 1
            first = int(first)
        if type(first) is not int or not 1 <= first <= MAX_FIRST:  # "in range" compares a string with each number
            raise RefusedError(f"first must be a whole number from 1 to {MAX_FIRST:,}")
        if not isinstance(names, list) or any(name not in NAMES for name in cast("list[Any]", names)):
            raise RefusedError(f"include must be a list of some of {', '.join(NAMES)}")
        if isinstance(width, bool) or not isinstance(width, int | float) or not MIN_WIDTH <= width <= MAX_WIDTH:
            raise RefusedError(f"width must be a number of pixels from {MIN_WIDTH:g} to {MAX_WIDTH:,}")
        if show is not None and not isinstance(show, str):
            raise RefusedError('show must be a string with the names of columns, as in "lemma,upos"')
        try:
            read_columns("none" if show is None else show)
        except InputError as error:
            raise RefusedError(f"show cannot be read: {error}") from None
        return cls(tuple(dict.fromkeys(cast("list[str]", names))), width, show, first)

    def of(self, found: Parse | Explanation, number: int) -> dict[str, Any]:
        """Return the values for a sentence, given its number in the response."""
        parse = found.parse if isinstance(found, Explanation) else found
        values: dict[str, Any] = {}
        if parse.constraints is not None:
            values["constraints"] = constraints_dict(parse.constraints.items)
        if self.has_alternatives and isinstance(found, Explanation):
            values["alternatives"] = [[each.to_dict() for each in of_word] for of_word in found.alternatives]
        if "conllu" in self.names:
            values["conllu"] = to_conllu(parse)
        return values | dict(self._pictures(found, number + self.first - 1))

    def _pictures(self, found: Parse | Explanation, number: int) -> Iterator[tuple[str, str]]:
        if not any(name in PICTURES for name in self.names):
            return
        drawing = drawing_of(found, self.show, number)
        if "svg" in self.names:
            yield "svg", draw_svg(drawing, width=self.width, theme="light")
        if "latex" in self.names:
            yield "latex", draw_latex(replace(drawing, title=None))
        if "html" in self.names:
            yield "html", section_of(found, drawing, number, self.width)


PLAIN = Extras()
"""No more than the trees."""


def drawing_of(found: Parse | Explanation, show: str | None, number: int) -> Drawing:
    """Return the drawing of a parse, with its confidence in the title. By default it has UPOS, or XPOS where there is
    none, below the words."""
    parse, notes = (found.parse, found.drawing().notes) if isinstance(found, Explanation) else (found, None)
    drawing = parse.drawing(show=show)
    pairs = zip(parse.tagged.upos, parse.tagged.xpos, strict=True)
    tags = [xpos if upos == "_" else upos for upos, xpos in pairs]
    title, arcs = drawing.title or f"Sentence {number}", None
    if confidence := parse.confidence:
        title = f"{title} (confidence {per_cent(rounded(confidence.tree))})"
        arcs = [rounded(arc) for arc in confidence.arcs]
    return replace(drawing, title=title, tags=tags, notes=notes, confidence=arcs)


def section_of(found: Parse | Explanation, drawing: Drawing, number: int, width: float = WIDTH) -> str:
    """Return the section of a page about a sentence, with the table of all its words."""
    parse = found.parse if isinstance(found, Explanation) else found
    table = element("div", draw_words(parse), class_="scrolled", tabindex=0, role="group", aria_label="Table of words")
    more = element("details", element("summary", "All words") + table, class_="words")
    return draw_section(drawing, number, width=width, more=more)


def to_conllu(parse: Parse) -> str:
    """Return a parse as CoNLL-U, with its constraints in MISC."""
    sentence = parse.to_sentence()
    if parse.constraints is not None:
        sentence = sentence.with_misc(constraint_entries(parse.constraints, len(parse)))
    return sentence.to_bytes().decode(errors="replace")
