"""``easyfirst parse``: text, tokens, CoNLL-U or Parquet in; CoNLL-U, JSON, Parquet or drawn trees out."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from easyfirst.cli import options
from easyfirst.cli.constituency import check_constituency
from easyfirst.cli.encodings import check_encoding
from easyfirst.cli.formats import BRACKET_SUFFIXES, PARSED_SUFFIXES, by_suffix
from easyfirst.cli.ledger import Ledger
from easyfirst.cli.listing import Errors, find_files, plan, read_suffixes
from easyfirst.cli.loading import check_calibrated, load_model, parser_threads
from easyfirst.cli.messages import say
from easyfirst.cli.outputs import Target, check_output, is_terminal, open_output, writes_terminal
from easyfirst.cli.parquet_output import check_parquet_output
from easyfirst.cli.parsing import Settings, Tally, check_search
from easyfirst.cli.reports import reporting
from easyfirst.cli.sources import SentenceFiles, open_inputs
from easyfirst.counting import count
from easyfirst.errors import DataError, InputError, LanguageWarning, ModelError
from easyfirst.model.bundled import find_model
from easyfirst.render.columns import read_columns

if TYPE_CHECKING:
    from easyfirst.parser import Parser


def parse(
    inputs: options.InputFiles = None,
    model: options.ModelName = "en",
    text: options.GivenText = None,
    output: options.OutputFile = None,
    out_dir: Annotated[
        Path | None,
        Option(
            "--out-dir",
            "-d",
            metavar="DIR",
            help="Write an output for each input into this directory. Files of a directory keep their places in it.",
        ),
    ] = None,
    beside: Annotated[
        bool,
        Option("--beside", help="Write an output for each input beside it: letters.parsed.conllu for letters.txt."),
    ] = False,
    resume: Annotated[
        bool,
        Option(
            "--resume",
            help="With --out-dir or --beside: skip inputs whose outputs are complete, made from the same contents "
            "with the same options and model.",
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        Option(
            "--overwrite",
            help="With --out-dir or --beside: also replace outputs of other inputs, outputs that were changed by hand, "
            "and files that 'easyfirst parse' has not written.",
        ),
    ] = False,
    suffixes: Annotated[
        list[str] | None,
        Option(
            "--suffix",
            metavar="SUFFIX",
            help="Which files of a directory to parse, such as .txt; repeat it for several. Default: the suffixes that "
            "--from names.",
        ),
    ] = None,
    source: options.InputFormat = None,
    column: options.Column = None,
    id_column: options.IdColumn = None,
    encoding: options.Encoding = None,
    target: Annotated[
        Target | None,
        Option(
            "--to",
            help="The format of the output: conllu, json (an object per sentence), parquet (a row per sentence), tree "
            "(drawn), or brackets (of a constituency model); default: by the name of the output, tree on a terminal, "
            "else conllu.",
        ),
    ] = None,
    show: options.Show = None,
    deps: Annotated[bool, Option("--deps", help="Write the tree to the column DEPS as well.")] = False,
    write_tags: Annotated[
        bool,
        Option(
            "--write-tags",
            help="In CoNLL-U and Parquet, also write LEMMA, UPOS, XPOS and FEATS where they were predicted: where the "
            "input has none (FEATS: where no word of a sentence has any), in the whole column UPOS or XPOS of a "
            "sentence with tags of another tagset, or everywhere with --predicted-tags.",
        ),
    ] = False,
    predicted_tags: Annotated[
        bool,
        Option(
            "--predicted-tags",
            help="Parse by predicted tags, even where CoNLL-U gives some; add --write-tags to "
            "replace those in the output.",
        ),
    ] = False,
    confidence: Annotated[
        bool,
        Option(
            "--confidence",
            help="Add the confidence: ArcConf=, LabelConf= and Step= in MISC; JSON and Parquet always have columns for "
            "it.",
        ),
    ] = False,
    constraints: options.Misc = False,
    keep_heads: options.KeptHeads = False,
    valid: options.Valid = True,
    beam: Annotated[
        int, Option(metavar="N", help="Follow N hypotheses at once, for better or several trees; 1: greedy, fastest.")
    ] = 1,
    n_best: Annotated[
        int,
        Option(
            "--n-best",
            metavar="K",
            help="With --beam: write the K best trees of each sentence, with their probabilities.",
        ),
    ] = 1,
    batch_size: Annotated[
        int, Option(min=1, help="Sentences parsed at once; 1: each is written before the next is read.")
    ] = 256,
    threads: options.ParserThreads = None,
    quiet: options.Quiet = False,
) -> None:
    """Parse text or sentences and write their trees.

    In CoNLL-U only HEAD, DEPREL and what options name change; every other byte stays. For text, TokenRange and the
    JSON's start and end count from the start of the document (of the line with --from lines), which is at the character
    document_start of its file.

    Several inputs become one output, unless --out-dir or --beside asks for one each. Then an error in a file does not
    stop the others: all errors are listed at the end, and the exit code is 1.

    \b
    Examples:
      easyfirst parse --text "The fox jumps. It likes apples."
      easyfirst parse --text "The fox jumps." --show lemma,upos,feats
      easyfirst parse letters.txt -o letters.conllu
      easyfirst parse --encoding latin-1 old-letters.txt -o letters.conllu
      echo "The fox jumps." | easyfirst parse
      easyfirst parse --model my-model input.conllu -o output.conllu
      easyfirst parse input.conllu --confidence -o output.conllu
      easyfirst parse input.conllu --predicted-tags -o output.conllu
      easyfirst parse input.conllu --beam 8 --n-best 5 -o best.conllu
      easyfirst parse --keep-heads half-annotated.conllu -o whole.conllu
      echo "The fox jumps" | easyfirst parse --from tokens
      easyfirst parse letters.txt --to parquet -o letters.parquet
      easyfirst parse texts.parquet --column body -o parsed.parquet
      easyfirst parse corpus --out-dir parsed --threads 8
      easyfirst parse corpus --out-dir parsed --threads 8 --resume
    """
    n_threads = parser_threads(1 if text is not None and threads is None else threads)  # a pool takes time to start
    check_output(output)
    is_many = beside or out_dir is not None
    shown = None if show is None else read_columns(show)
    draws = shown is not None or (writes_terminal(output) and not is_many)
    named = None if shown is not None else by_suffix(output, PARSED_SUFFIXES | BRACKET_SUFFIXES)
    wanted = target or (Target(named) if named else Target.tree if draws and not deps else Target.conllu)
    if wanted is Target.parquet and not is_many:
        check_parquet_output(output)
    if deps and wanted not in (Target.conllu, Target.parquet):
        raise InputError("--deps is for CoNLL-U, where DEPS is a column; leave it out, or write --to conllu")
    if shown is not None and wanted is not Target.tree:
        raise InputError("--show is for drawn trees, and CoNLL-U and JSON have all columns; leave it out")
    check_search(beam, n_best, wanted, constraints=constraints, keep_heads=keep_heads)
    settings = Settings(
        wanted,
        source=source,
        column=column,
        id_column=id_column,
        encoding=encoding,
        show=shown,
        deps=deps,
        write_tags=write_tags,
        predicted_tags=predicted_tags,
        confidence=confidence,
        constraints=constraints,
        keep_heads=keep_heads,
        valid=valid,
        beam=beam,
        n_best=n_best,
        batch_size=batch_size,
    )
    ends = read_suffixes(suffixes or ())
    if quiet:
        warnings.simplefilter("ignore", LanguageWarning)
    if is_many:
        _check_places(inputs, text, output, beside=beside, out_dir=out_dir)
        _parse_many(
            inputs or (), out_dir, ends, settings, model, n_threads, resume=resume, overwrite=overwrite, quiet=quiet
        )
        return
    if overwrite:
        raise InputError("--overwrite is for --out-dir and --beside; --output always replaces a file")
    if resume:
        raise InputError("--resume needs outputs that may be complete already; use it with --out-dir or --beside")
    names = [each.name for each in find_files(inputs or (), ends, source)]
    columns = {"column": column, "id_column": id_column}
    given = open_inputs(names, text, source, encoding=encoding, quiet=quiet, **columns)
    check_output(output, () if given.is_conllu and wanted is Target.conllu else names)
    settings.constraints_of(given)
    parser = _load(model, settings, warns=not quiet)
    is_quiet = quiet or text is not None
    tally, is_tagged = Tally(parser), isinstance(given, SentenceFiles) and not predicted_tags
    shows_progress = not is_quiet and is_terminal(sys.stderr) and not writes_terminal(output)
    with open_output(output) as stream, reporting(given.n_bytes, visible=shows_progress) as report:
        begin = time.perf_counter()
        for piece, parses in settings.pieces(parser, given, n_threads):
            stream.write(piece)
            if batch_size == 1:
                stream.flush()
            for each in parses:
                tally.add(each, tagged=is_tagged)
                report(len(each), len(each.sentence.original))
        seconds = time.perf_counter() - begin
    if not is_quiet:
        tally.show(seconds)


def _load(model: str, settings: Settings, *, warns: bool) -> Parser:
    """Load a model. Raise an error if it lacks what the settings need."""
    parser = load_model(model, warns=warns, valid=settings.valid)
    if settings.confidence:
        check_calibrated(parser, model)
    if settings.target is Target.brackets:
        check_constituency(parser, model)
    if settings.predicted_tags and parser.tagger is None:
        raise ModelError(f"{model} has no tagger to predict tags; leave out --predicted-tags")
    return parser


def _check_places(
    inputs: Sequence[str] | None, text: str | None, output: str | None, *, beside: bool, out_dir: Path | None
) -> None:
    """Raise an error for options that contradict ``--out-dir`` or ``--beside``."""
    option = "--beside" if beside else "--out-dir"
    if beside and out_dir is not None:
        raise InputError("--beside and --out-dir are two places for the outputs; choose one of them")
    if output is not None:
        raise InputError(f"{option} writes an output for each input, and --output a single one; choose one of them")
    if text is not None or not inputs:
        raise InputError(f"{option} names outputs after inputs; name files or directories")
    if out_dir is not None and out_dir.exists() and not out_dir.is_dir():
        raise DataError("this is a file; --out-dir needs a directory", source=str(out_dir))
    for name in inputs:
        if out_dir is not None and Path(name).is_dir() and out_dir.resolve() == Path(name).resolve():
            raise InputError(f"{name} is both the input and --out-dir; choose another directory, or use --beside")


def _parse_many(
    inputs: Sequence[str],
    out_dir: Path | None,
    suffixes: Sequence[str],
    settings: Settings,
    model: str,
    threads: int,
    *,
    resume: bool,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Parse each input into an output of its own."""
    from easyfirst.cli.corpus import FAILED, CorpusRun, jobs_left, settings_digest, show_failures

    errors: Errors = {}
    without = None if out_dir is None else out_dir.resolve()
    found = find_files(inputs, suffixes, settings.source, without=without, errors=errors)
    jobs = plan(found, settings.target, suffixes, out_dir, errors)
    if not jobs and errors:
        raise next(iter(errors.values()))
    check_encoding(settings.encoding)
    ledger = Ledger(settings_digest(settings, find_model(model)))
    left, n_complete = jobs_left(jobs, ledger, errors, resume=resume, overwrite=overwrite)
    if not left:
        if n_complete and not quiet:
            say(f"nothing to do: {count(n_complete, 'file')} complete from an earlier run")
        show_failures({name: str(error) for name, error in errors.items()}, len(errors))
        if errors:
            raise Exit(FAILED)
        return
    parser = _load(model, settings, warns=not quiet)
    CorpusRun(parser, settings, ledger, threads, quiet=quiet).run(left, n_complete, errors)
