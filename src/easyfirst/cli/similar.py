"""``easyfirst similar``: a phrase and a corpus in; the subtrees of the corpus that are most similar to it out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from easyfirst.cli import options
from easyfirst.cli.formats import by_suffix
from easyfirst.cli.loading import load_model, set_threads
from easyfirst.cli.messages import say
from easyfirst.cli.outputs import check_output, is_terminal, json_line, open_output
from easyfirst.cli.reports import reporting
from easyfirst.cli.sources import open_inputs, sentences_of
from easyfirst.errors import InputError, LanguageWarning
from easyfirst.render.terminal import visible

if TYPE_CHECKING:
    from easyfirst.search import Hit
    from easyfirst.treebank.sentence import Sentence


class View(str, Enum):
    """The format of the output."""

    table = "table"
    json = "json"


SUFFIXES = {".json": View.json, ".jsonl": View.json, ".ndjson": View.json}


def similar(
    phrase: Annotated[str, Argument(metavar="PHRASE", help="The phrase to look for.")],
    inputs: Annotated[
        list[str] | None,
        Argument(metavar="CORPUS", help="Parsed sentences (CoNLL-U), or files to parse; none or '-': stdin."),
    ] = None,
    model: options.ModelName = "en",
    output: options.OutputFile = None,
    source: options.InputFormat = None,
    encoding: options.Encoding = None,
    target: Annotated[
        View | None,
        Option(
            "--to",
            help="The format of the output: table, or json (an object per line). Default: by the name of the output, "
            "else table.",
        ),
    ] = None,
    top: Annotated[int, Option("--top", "-n", min=1, help="How many subtrees to show.")] = 10,
    words: Annotated[
        float,
        Option(
            min=0.0,
            max=1.0,
            help="The share of the words' vectors in the similarity; the rest is that of the trees. 0: form only; 1: "
            "words only.",
        ),
    ] = 0.5,
    min_words: Annotated[int, Option(min=1, help="Leave out subtrees with fewer words.")] = 1,
    max_words: Annotated[int | None, Option(min=1, help="Leave out subtrees with more words.")] = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Find the subtrees of a corpus that are most similar to a phrase.

    The tree encoder of the parser gives every subtree a vector. The similarity is the mean of two cosines, that of
    these vectors and that of the mean vectors of the words. Trees in CoNLL-U are used as they are, and sentences
    without trees are parsed. The corpus is read as a stream, so it may be of any size.

    \b
    Examples:
      easyfirst similar "a terrible restaurant" corpus.conllu
      easyfirst similar "because it was late" corpus.conllu --words 0 --min-words 3
      easyfirst similar "my old car" letters.txt --top 3 --to json
    """
    set_threads(threads)
    target = target or by_suffix(output, SUFFIXES) or View.table
    check_output(output, inputs or ())
    if not phrase.strip():
        raise InputError("PHRASE is empty; give at least one word")
    if max_words is not None and max_words < min_words:
        raise InputError(f"--max-words {max_words} is less than --min-words {min_words}; no subtree has so many words")
    given = open_inputs(inputs, None, source, encoding=encoding, quiet=quiet)
    parser = load_model(model, warns=not quiet)
    warnings.simplefilter("ignore", LanguageWarning)

    from easyfirst.search import find_similar

    with reporting(given.n_bytes, visible=not quiet and is_terminal(sys.stderr)) as report:

        def advance(sentences: Sequence[Sentence]) -> None:
            report(sum(map(len, sentences)), sum(len(each.original) for each in sentences if each.lines is not None))

        found = find_similar(
            parser,
            phrase,
            sentences_of(parser, given),
            top=top,
            words=words,
            min_words=min_words,
            max_words=max_words,
            report=advance,
        )
    if not found and not quiet:
        say("no subtree was found: the corpus is empty, or no subtree has so many words")
    with open_output(output) as stream:
        for hit in found:
            stream.write(json_line(hit.to_dict()) if target is View.json else _row(hit))


def _row(hit: Hit) -> bytes:
    """Return a line: the similarity, the place and the words."""
    metadata, source = hit.sentence.metadata, hit.sentence.source
    place = metadata.get("sent_id") or (f"{source}:{hit.sentence.line}" if source else f"sentence {hit.number}")
    return f"{hit.score:.3f}  {visible(hit.text)}  ({visible(place)})\n".encode(errors="replace")
