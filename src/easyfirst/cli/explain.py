"""``easyfirst explain``: text, tokens or CoNLL-U in; how each sentence is parsed, step by step, out."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from typer import Option

from easyfirst.cli import options
from easyfirst.cli.formats import by_suffix
from easyfirst.cli.loading import load_model, set_threads
from easyfirst.cli.options import constraints_reader
from easyfirst.cli.outputs import check_output, identity, json_line, open_output, writes_terminal
from easyfirst.cli.sources import open_inputs, sentences_of
from easyfirst.errors import LanguageWarning
from easyfirst.render.bands import per_cent
from easyfirst.render.html import html_parts
from easyfirst.render.terminal import visible

if TYPE_CHECKING:
    from easyfirst.results.explanations import Explanation


class View(str, Enum):
    """The format of the output."""

    table = "table"
    html = "html"
    json = "json"


SUFFIXES = {
    **dict.fromkeys((".html", ".htm"), View.html),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), View.json),
}


def explain(
    inputs: options.InputFiles = None,
    model: options.ModelName = "en",
    text: options.GivenText = None,
    output: options.OutputFile = None,
    source: options.InputFormat = None,
    encoding: options.Encoding = None,
    target: Annotated[
        View | None,
        Option(
            "--to",
            help="The format of the output: table, html (a page to step through) or json (an object per sentence). "
            "Default: by the name of the output, else table.",
        ),
    ] = None,
    runners_up: Annotated[
        int, Option("--runners-up", "-n", min=0, help="How many other actions to show at each step.")
    ] = 3,
    constraints: options.Misc = False,
    keep_heads: options.KeptHeads = False,
    valid: options.Valid = True,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Show how sentences are parsed, step by step.

    Each step has the pending list, the action that was chosen, and the runners-up.

    The margin of a step is the distance from its score to that of the best action that would have changed the arc. The
    label margin is the distance to the same arc with the best other relation. With --constraints or --keep-heads, only
    actions that the constraints allow count.

    \b
    Examples:
      easyfirst explain --text "The fox likes apples."
      easyfirst explain --text "The fox likes apples." --to html -o steps.html
      easyfirst explain input.conllu --to json --runners-up 10
      easyfirst explain --keep-heads half-annotated.conllu
    """
    set_threads(threads)
    target = target or by_suffix(output, SUFFIXES) or View.table
    check_output(output, inputs or ())
    given = open_inputs(inputs, text, source, encoding=encoding, quiet=quiet)
    known = constraints_reader(misc=constraints, heads=keep_heads, is_conllu=given.is_conllu)
    parser = load_model(model, warns=not quiet, valid=valid)
    if quiet:
        warnings.simplefilter("ignore", LanguageWarning)
    sentences = parser.language.watch(sentences_of(parser, given), lambda sentence: [sentence])
    prepared = parser.prepare(sentences, known)
    explanations = (parser.explain_prepared(each, runners_up=runners_up) for each in prepared)
    width = shutil.get_terminal_size().columns if writes_terminal(output) else None
    with open_output(output) as stream:
        for piece in _pieces(explanations, target, width):
            stream.write(piece)


def _pieces(explanations: Iterable[Explanation], target: View, width: int | None) -> Iterator[bytes]:
    """Yield the output piece by piece."""
    if target is View.html:
        parts = html_parts((found.drawing() for found in explanations), title="Derivations", shows_steps=True)
        yield from (part.encode(errors="replace") for part in parts)
    elif target is View.json:
        yield from (json_line(identity(found.parse) | found.to_dict()) for found in explanations)
    else:
        tables = (f"{_heading(found)}\n{found.draw(width=width)}\n\n" for found in explanations)
        yield from (table.encode(errors="replace") for table in tables)


def _heading(found: Explanation) -> str:
    """Return the sentence and, if there is one, the confidence of its tree."""
    confidence = found.parse.confidence
    shown = f"  (the whole tree: {per_cent(confidence.tree)})" if confidence else ""
    return visible(" ".join(found.parse.tagged.forms)) + shown
