"""``easyfirst explain``: text, tokens or CoNLL-U in; how each sentence is parsed, step by step, out."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from easyfirst.cli.constraint_options import KeptHeads, Misc, constraints_reader
from easyfirst.cli.inputs import STANDARD, Inputs, warn_of_name
from easyfirst.cli.options import Format, InputFiles, ModelName, OutputFile
from easyfirst.cli.outputs import check_output, is_standard_output, keep_inputs, open_output
from easyfirst.cli.texts import Texts
from easyfirst.cli.threads import set_threads
from easyfirst.cli.writers import identity, is_terminal
from easyfirst.errors import InputError

if TYPE_CHECKING:
    from easyfirst.parser import Parser
    from easyfirst.results.explanations import Explanation
    from easyfirst.treebank.sentence import Sentence


class View(str, Enum):
    """How steps are shown."""

    table = "table"
    html = "html"
    json = "json"


def explain(
    inputs: InputFiles = None,
    model: ModelName = "en",
    text: Annotated[
        str | None, typer.Option("--text", "-t", metavar="TEXT", help="Explain this text instead of files.")
    ] = None,
    output: OutputFile = None,
    source: Annotated[
        Format | None,
        typer.Option(
            "--from",
            help="What the input is, as for 'easyfirst parse': conllu (the default), text, lines or tokens.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        View,
        typer.Option("--to", help="What to make: table, html (a page to step through) or json (an object a sentence)."),
    ] = View.table,
    runners_up: Annotated[
        int, typer.Option("--runners-up", "-n", min=0, help="How many other actions to show at each step.")
    ] = 3,
    constraints: Misc = False,
    keep_heads: KeptHeads = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of the linear algebra; default (and best): 1, or OMP_NUM_THREADS."),
    ] = None,
) -> None:
    """Show how sentences are parsed: at each step the pending list, what was chosen, and the runners-up.

    The margin of a step is how far its score was above that of the best action that would have changed the arc;
    the label margin, above the same arc with another relation. With --constraints or --keep-heads only actions count
    that leave all that is known of the tree possible.

    \b
    Examples:
      easyfirst explain --text "The fox likes apples."
      easyfirst explain --text "The fox likes apples." --to html -o steps.html
      easyfirst explain input.conllu --to json --runners-up 10
      easyfirst explain --keep-heads half-annotated.conllu
    """
    set_threads(threads)
    check_output(output)
    keep_inputs(inputs or [], output)
    if text is not None and (inputs or source not in (None, Format.text)):
        raise InputError("--text is the input itself; leave out INPUT and --from")
    if text is None and source in (None, Format.conllu, Format.tokens):
        given: Inputs | Texts | list[str] = Inputs(inputs or [], is_tokens=source is Format.tokens)
    else:
        given = [text] if text is not None else Texts(inputs or [], by_line=source is Format.lines)
    is_conllu = text is None and source in (None, Format.conllu)
    known = constraints_reader(misc=constraints, heads=keep_heads, is_conllu=is_conllu)

    from easyfirst.parser import load

    warn_of_name(model)
    parser = load(model)
    if not isinstance(given, list) and STANDARD in given.names and sys.stdin.isatty():
        print("reading from the terminal; Ctrl-D ends the input", file=sys.stderr)
    explanations = (
        parser.explain(sentence, runners_up=runners_up, constraints=known(sentence) if known else None)
        for sentence in _sentences(parser, given)
    )
    width = shutil.get_terminal_size().columns if is_standard_output(output) and is_terminal(sys.stdout) else None
    with open_output(output) as stream:
        for piece in _pieces(explanations, target, width):
            stream.write(piece.encode(errors="replace"))


def _sentences(parser: Parser, given: Inputs | Texts | list[str]) -> Iterator[Sentence]:
    if isinstance(given, Inputs):
        yield from given
        return
    one_sentence = isinstance(given, Texts) and given.by_line
    for text in given:
        [tokenized] = parser.tokenize([text], one_sentence=one_sentence)
        yield from tokenized.sentences()


def _pieces(explanations: Iterable[Explanation], target: View, width: int | None) -> Iterator[str]:
    """What is to be written, piece by piece."""
    if target is View.html:
        from easyfirst.render.html import html_parts

        yield from html_parts((found.drawing() for found in explanations), title="Derivations")
    elif target is View.json:
        facts = (identity(found.parse) | found.to_dict() for found in explanations)
        yield from (json.dumps(one, ensure_ascii=False) + "\n" for one in facts)
    else:
        yield from (f"{_heading(found)}\n{found.draw(width=width)}\n\n" for found in explanations)


def _heading(found: Explanation) -> str:
    """The sentence and, if it is known, how sure its tree is."""
    from easyfirst.render.bands import per_cent
    from easyfirst.render.terminal import visible

    confidence = found.parse.confidence
    sureness = f"  (the whole tree: {per_cent(confidence.tree)})" if confidence else ""
    return visible(" ".join(found.parse.tagged.forms)) + sureness
