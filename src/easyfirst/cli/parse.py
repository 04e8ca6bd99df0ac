"""``easyfirst parse``: CoNLL-U or tokenised text in, CoNLL-U out."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Protocol

import typer

from easyfirst.cli.files import STANDARD, Inputs, check_output, is_standard_output, open_output
from easyfirst.cli.threads import set_threads

if TYPE_CHECKING:
    from easyfirst.model.vocab import Vocabulary
    from easyfirst.parsing.batch import Parse


MANY_UNKNOWN = 0.3


class Format(str, Enum):
    """What the input is."""

    conllu = "conllu"
    tokens = "tokens"


class Report(Protocol):
    """Takes note of a parse that has been written."""

    def __call__(self, parse: Parse) -> None: ...


def parse(
    model: Annotated[Path, typer.Option("--model", "-m", help="The model's directory.", show_default=False)],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT", help="Files, plain or .gz; none or '-': stdin.", show_default=False),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The file to write, all at once at the end; default: stdout."),
    ] = None,
    source: Annotated[
        Format,
        typer.Option("--from", help="conllu, or tokens: a sentence a line, words separated by spaces."),
    ] = Format.conllu,
    deps: Annotated[bool, typer.Option("--deps", help="Write the tree to the column DEPS as well.")] = False,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Sentences parsed at once; 1: each is written before the next is read.")
    ] = 256,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of the linear algebra; default (and best): 1, or OMP_NUM_THREADS."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors on stderr.")] = False,
) -> None:
    """Parse sentences and write them as CoNLL-U.

    Of CoNLL-U only HEAD and DEPREL change; every other byte stays. Several inputs become one output.

    \b
    Examples:
      easyfirst parse --model my-model input.conllu -o output.conllu
      echo "The fox jumps" | easyfirst parse --model my-model --from tokens
    """
    set_threads(threads)
    check_output(output)
    sources = Inputs(inputs or [], is_tokens=source is Format.tokens)

    from easyfirst.parser import load

    parser = load(model)
    if not quiet and STANDARD in sources.names and sys.stdin.isatty():
        print("reading from the terminal; Ctrl-D ends the input", file=sys.stderr)
    tags = _TagCheck(parser.model.vocabulary)
    shows_progress = not quiet and sys.stderr.isatty() and not (is_standard_output(output) and sys.stdout.isatty())
    with open_output(output) as stream, _reporting(sources.n_bytes, visible=shows_progress) as report:
        begin = time.perf_counter()
        parses = parser.pipe(sources, batch_size=batch_size)
        parses = map(tags.see, parses)
        n_sentences, n_words = _write(parses, sources, stream, deps=deps, flush=batch_size == 1, report=report)
        seconds = time.perf_counter() - begin
    if not quiet:
        for warning in tags.warnings(n_words):
            print(warning, file=sys.stderr)
        rate = n_words / max(seconds, 1e-9)
        print(
            f"parsed {n_sentences:,} sentences, {n_words:,} words in {seconds:.1f} s: {rate:,.0f} words/s",
            file=sys.stderr,
        )


class _TagCheck:
    """Counts the tags that the model has never seen: if they are many, they are probably of another tagset."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._n_unknown = dict.fromkeys(vocabulary.tags, 0)

    def see(self, parse: Parse) -> Parse:
        for kind, known in self._vocabulary.tags.items():
            tags = parse.sentence.upos if kind == "upos" else parse.sentence.xpos
            self._n_unknown[kind] += sum(tag not in known for tag in tags)
        return parse

    def warnings(self, n_words: int) -> Iterator[str]:
        for kind, n in self._n_unknown.items():
            if n > MANY_UNKNOWN * n_words:
                yield (
                    f"warning: the model does not know {n / n_words:.0%} of the {kind.upper()} tags; "
                    "are they of another tagset than its treebank's?"
                )


def _write(
    parses: Iterable[Parse], sources: Inputs, stream: BinaryIO, *, deps: bool, flush: bool, report: Report
) -> tuple[int, int]:
    """How many sentences and words were written."""
    n_sentences = n_words = 0
    for parse in parses:
        stream.write(sources.before(n_sentences) + parse.to_bytes(deps=deps))
        if flush:
            stream.flush()
        n_sentences += 1
        n_words += len(parse)
        report(parse)
    stream.write(sources.rest())
    return n_sentences, n_words


@contextmanager
def _reporting(n_bytes: int | None, *, visible: bool) -> Generator[Report, None, None]:
    """A progress bar on stderr, if it is to be seen."""
    if not visible:
        yield lambda parse: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    n_words = 0
    begin = time.perf_counter()
    columns = (
        BarColumn(),
        TextColumn("{task.fields[words]:,} words"),
        TextColumn("{task.fields[rate]:,.0f} words/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=n_bytes, words=0, rate=0.0)

        def report(parse: Parse) -> None:
            nonlocal n_words
            n_words += len(parse)
            rate = n_words / (time.perf_counter() - begin)
            size = len(parse.sentence.prefix) + len(parse.sentence.block)
            progress.update(task, advance=size, words=n_words, rate=rate)

        yield report
