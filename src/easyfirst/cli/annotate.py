"""``easyfirst annotate``: correct the trees of a corpus in the browser, the most doubtful sentences first."""

from __future__ import annotations

import getpass
import sys
from collections import deque
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from easyfirst.annotation.corpus import Corpus, Order
from easyfirst.annotation.queue import Queue
from easyfirst.annotation.records import check_name
from easyfirst.annotation.store import Store
from easyfirst.cli import options
from easyfirst.cli.listing import find_files
from easyfirst.cli.loading import check_calibrated, load_model, parser_threads
from easyfirst.cli.messages import say
from easyfirst.cli.outputs import Target, check_output, is_terminal
from easyfirst.cli.parsing import Settings
from easyfirst.cli.reports import reporting
from easyfirst.cli.serving import AllowedHosts, Host, LogRequests, Port, require_server, serve_parser
from easyfirst.cli.sources import open_inputs
from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.model.bundled import find_model

if TYPE_CHECKING:
    from easyfirst.cli.sources import SentenceFiles, TextFiles
    from easyfirst.parser import Parser

ANYBODY = "annotator"  # where the system does not name its user


def annotate(
    out: Annotated[
        Path, Option("--out", "-o", metavar="FILE", help="The CoNLL-U file of the sentences that were annotated.")
    ],
    inputs: options.InputFiles = None,
    model: options.ModelName = "en",
    order: Annotated[
        Order, Option(help="The order of the sentences: the ones that the model doubts most first, or as given.")
    ] = Order.doubtful,
    annotator: Annotated[
        str | None, Option(metavar="NAME", help="Who annotates; the page can change it. Default: your user name.")
    ] = None,
    source: options.InputFormat = None,
    encoding: options.Encoding = None,
    column: options.Column = None,
    id_column: options.IdColumn = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    browser: Annotated[
        bool | None,
        Option("--browser/--no-browser", help="Open the page in a browser; default: yes on a terminal of a desktop."),
    ] = None,
    allow_host: AllowedHosts = None,
    threads: options.ParserThreads = None,
    log_requests: LogRequests = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a treebank: correct the trees of a corpus in the browser.

    The parser completes the tree after each correction. The page goes through the sentences, those that the model
    doubts most first, and through the words of a sentence, the doubtful ones first in the order in which they were
    decided.

    Every sentence is saved when you accept it. Stop whenever you like: the same command goes on where you stopped.
    The file has the sentences that somebody has worked on, in the order of the corpus. Words that were confirmed have
    Confirmed=seen or Confirmed=corrected in MISC. 'easyfirst train' learns from it, also from sentences that are not
    done.

    \b
    Examples:
      easyfirst annotate corpus.txt --out corpus.conllu
      easyfirst annotate parsed.conllu --out corrected.conllu --order given --annotator anna
      easyfirst annotate corpus.txt --out corpus.conllu --model my-model
    """
    n_threads = parser_threads(threads)
    require_server()

    from easyfirst.server.limits import Limits
    from easyfirst.server.running import bind

    name = check_name(annotator if annotator is not None else _user())
    names = [each.name for each in find_files(inputs or (), (), source)]
    check_output(str(out), names)
    given = open_inputs(names, None, source, encoding=encoding, quiet=quiet, column=column, id_column=id_column)
    path = find_model(model)
    with bind(host, port) as listening:
        parser = load_model(model, warns=not quiet)
        if order is Order.doubtful:
            check_calibrated(parser, model, ", or use --order given")
        corpus = _read(parser, given, Settings(Target.conllu, source=source), n_threads, quiet=quiet)
        if not corpus.items:
            raise InputError("the input has no sentences to annotate; check the files")
        store = Store(out, corpus)
        if not quiet:
            _welcome(store)
        serve_parser(
            parser,
            path,
            listening,
            Limits(),
            host=host,
            allowed_hosts=allow_host or (),
            opens_page=browser,
            log_requests=log_requests,
            queue=Queue(store, corpus.ordered(order)),
            annotator=name,
        )
    progress = store.progress
    print(f"stopped: {progress.done} of {count(progress.total, 'sentence')} done")


def _read(parser: Parser, given: SentenceFiles | TextFiles, settings: Settings, threads: int, *, quiet: bool) -> Corpus:
    """Parse an input, and return its sentences with the confidence of their trees."""
    confidence: deque[float | None] = deque()

    def lines() -> Iterator[bytes]:
        for piece, parses in settings.pieces(parser, given, threads):
            for each in parses:
                confidence.append(each.confidence.tree if each.confidence else None)
                report(len(each), len(each.sentence.original))
            yield from BytesIO(piece)

    with reporting(given.n_bytes, visible=not quiet and is_terminal(sys.stderr)) as report:
        return Corpus.read(lines(), iter(confidence.popleft, object()))


def _welcome(store: Store) -> None:
    """Print what there is to do, and what was done before."""
    progress = store.progress
    size = f"{count(progress.total, 'sentence')}, {count(progress.words, 'word')}"
    if progress.done or progress.partial:
        begun = f", {progress.partial} begun" if progress.partial else ""
        say(f"{size}: {progress.done} done{begun}, {progress.left} left; going on with {store.name}")
    else:
        say(f"{size} to annotate")
    if store.n_strangers:
        what = count(store.n_strangers, "annotated sentence")
        say(f"warning: {store.name}: {what} not found in this corpus, and kept; was the text split differently?")


def _user() -> str:
    try:
        return check_name(getpass.getuser().replace(",", " "))
    except (OSError, KeyError, ImportError, InputError):
        return ANYBODY
