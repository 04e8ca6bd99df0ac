"""``easyfirst parse``: text, tokens or CoNLL-U in; CoNLL-U, JSON or drawn trees out."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from easyfirst.cli.constraint_options import KeptHeads, Misc, constraints_reader
from easyfirst.cli.inputs import warn_of_name
from easyfirst.cli.options import Format, InputFiles, ModelName, OutputFile
from easyfirst.cli.outputs import check_output, is_standard_output, keep_inputs, open_output
from easyfirst.cli.progress import reporting
from easyfirst.cli.texts import Texts
from easyfirst.cli.threads import set_threads
from easyfirst.cli.work import DocumentWork, Options, SentenceWork, Work
from easyfirst.cli.writers import Target, check_calibrated, is_terminal, target_of
from easyfirst.errors import InputError


def parse(
    inputs: InputFiles = None,
    model: ModelName = "en",
    text: Annotated[
        str | None, typer.Option("--text", "-t", metavar="TEXT", help="Parse this text instead of files.")
    ] = None,
    output: OutputFile = None,
    source: Annotated[
        Format | None,
        typer.Option(
            "--from",
            help="What the input is. conllu (the default for files and stdin); text: documents separated by blank "
            "lines; lines: a sentence a line; tokens: a sentence a line, words separated by spaces. TokenRange and "
            "the JSON's start and end count from the start of the document (text) or the line (lines), "
            "which is at the character document_start of its file.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        Target | None,
        typer.Option(
            "--to",
            help="What to write: conllu, json (an object a sentence) or tree (drawn); default: tree on a terminal, "
            "else conllu.",
            show_default=False,
        ),
    ] = None,
    deps: Annotated[bool, typer.Option("--deps", help="Write the tree to the column DEPS as well.")] = False,
    write_tags: Annotated[
        bool, typer.Option("--write-tags", help="In CoNLL-U, fill UPOS and XPOS in where the input has none.")
    ] = False,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="Add how sure arcs are: ArcConf=, LabelConf=, Step= in MISC; JSON always has it."
        ),
    ] = False,
    constraints: Misc = False,
    keep_heads: KeptHeads = False,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Sentences parsed at once; 1: each is written before the next is read.")
    ] = 256,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of the linear algebra; default (and best): 1, or OMP_NUM_THREADS."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors on stderr.")] = False,
) -> None:
    """Parse text or sentences and write their trees.

    Of CoNLL-U only HEAD, DEPREL and what options name change; every other byte stays. Several inputs become one output.

    \b
    Examples:
      easyfirst parse --text "The fox jumps. It likes apples."
      easyfirst parse --from text letters.txt -o letters.conllu
      easyfirst parse --model my-model input.conllu -o output.conllu
      easyfirst parse input.conllu --confidence -o output.conllu
      easyfirst parse --keep-heads half-annotated.conllu -o whole.conllu
      echo "The fox jumps" | easyfirst parse --from tokens
    """
    set_threads(threads)
    check_output(output)
    if text is not None and (inputs or source not in (None, Format.text)):
        raise InputError("--text is the input itself; leave out INPUT and --from")
    if deps and target in (Target.json, Target.tree):
        raise InputError("--deps is for CoNLL-U, where DEPS is a column; leave it out, or write --to conllu")
    wanted = Target.conllu if deps else target_of(target, output)
    if text is None and source in (None, Format.conllu, Format.tokens):
        work: Work = SentenceWork(inputs or [], is_tokens=source is Format.tokens)
    else:
        work = DocumentWork([text] if text is not None else Texts(inputs or [], by_line=source is Format.lines))
    is_conllu = text is None and source in (None, Format.conllu)
    if not (is_conllu and wanted is Target.conllu):
        keep_inputs(inputs or [], output)
    known = constraints_reader(misc=constraints, heads=keep_heads, is_conllu=is_conllu)
    options = Options(
        wanted, deps=deps, write_tags=write_tags, confidence=confidence, batch_size=batch_size, constraints=known
    )

    from easyfirst.parser import load

    if not quiet:
        warn_of_name(model)
    parser = load(model)
    if confidence:
        check_calibrated(parser, model)
    is_quiet = quiet or text is not None
    if not quiet and work.reads_terminal:
        print("reading from the terminal; Ctrl-D ends the input", file=sys.stderr)
    draws_to_terminal = is_standard_output(output) and is_terminal(sys.stdout)
    shows_progress = not is_quiet and is_terminal(sys.stderr) and not draws_to_terminal
    with open_output(output) as stream, reporting(work.n_bytes, visible=shows_progress) as report:
        begin = time.perf_counter()
        for piece in work.run(parser, options, report):
            stream.write(piece)
            if batch_size == 1:
                stream.flush()
        seconds = time.perf_counter() - begin
    if not is_quiet:
        for warning in work.warnings():
            print(warning, file=sys.stderr)
        n_sentences, n_words = work.n_sentences, work.n_words
        rate = n_words / max(seconds, 1e-9)
        sentences = f"{n_sentences:,} sentence{'s' * (n_sentences != 1)}"
        print(f"parsed {sentences}, {n_words:,} words in {seconds:.1f} s: {rate:,.0f} words/s", file=sys.stderr)
