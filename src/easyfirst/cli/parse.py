"""``easyfirst parse``: text, tokens or CoNLL-U in; CoNLL-U, JSON or drawn trees out."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import tee
from typing import TYPE_CHECKING, Annotated

from typer import Option

from easyfirst.cli import options
from easyfirst.cli.loading import check_calibrated, load_model, parser_threads
from easyfirst.cli.options import Format, constraints_reader
from easyfirst.cli.outputs import Target, Writer, check_output, is_terminal, open_output, writes_terminal
from easyfirst.cli.reports import reporting
from easyfirst.cli.sources import SentenceFiles, TextFiles, open_inputs
from easyfirst.errors import InputError, LanguageWarning, ModelError
from easyfirst.render.columns import read_columns
from easyfirst.treebank.columns import TAGSETS

if TYPE_CHECKING:
    from easyfirst.constraints.arguments import ConstraintsOf
    from easyfirst.model.parser_vocabulary import ParserVocabulary
    from easyfirst.parser import Parser
    from easyfirst.results.parses import Parse

MANY_UNKNOWN = 0.3  # the share of unknown tags above which there is a warning


def parse(
    inputs: options.InputFiles = None,
    model: options.ModelName = "en",
    text: options.GivenText = None,
    output: options.OutputFile = None,
    source: options.InputFormat = None,
    encoding: options.Encoding = None,
    target: Annotated[
        Target | None,
        Option(
            "--to",
            help="The format of the output: conllu, json (an object per sentence) or tree (drawn); default: tree on a "
            "terminal, else conllu.",
        ),
    ] = None,
    show: options.Show = None,
    deps: Annotated[bool, Option("--deps", help="Write the tree to the column DEPS as well.")] = False,
    write_tags: Annotated[
        bool,
        Option(
            "--write-tags",
            help="In CoNLL-U, write the predicted LEMMA, UPOS, XPOS and FEATS; default: keep those of the input.",
        ),
    ] = False,
    predicted_tags: Annotated[
        bool,
        Option("--predicted-tags", help="Predict all tags, features and lemmas, even those that CoNLL-U gives."),
    ] = False,
    confidence: Annotated[
        bool,
        Option("--confidence", help="Add the confidence: ArcConf=, LabelConf= and Step= in MISC; JSON always has it."),
    ] = False,
    constraints: options.Misc = False,
    keep_heads: options.KeptHeads = False,
    valid: options.Valid = True,
    batch_size: Annotated[
        int, Option(min=1, help="Sentences parsed at once; 1: each is written before the next is read.")
    ] = 256,
    threads: options.ParserThreads = None,
    quiet: options.Quiet = False,
) -> None:
    """Parse text or sentences and write their trees.

    In CoNLL-U only HEAD, DEPREL and what options name change; every other byte stays. Several inputs become one output.
    For text, TokenRange and the JSON's start and end count from the start of the document (of the line with --from
    lines), which is at the character document_start of its file.

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
      easyfirst parse --keep-heads half-annotated.conllu -o whole.conllu
      echo "The fox jumps" | easyfirst parse --from tokens
    """
    n_threads = parser_threads(1 if text is not None and threads is None else threads)  # a pool takes time to start
    check_output(output)
    shown = None if show is None else read_columns(show)
    draws = writes_terminal(output) or shown is not None
    wanted = target or (Target.tree if draws and not deps else Target.conllu)
    if deps and wanted is not Target.conllu:
        raise InputError("--deps is for CoNLL-U, where DEPS is a column; leave it out, or write --to conllu")
    if shown is not None and wanted is not Target.tree:
        raise InputError("--show is for drawn trees, and CoNLL-U and JSON have all columns; leave it out")
    given = open_inputs(inputs, text, source, encoding=encoding, quiet=quiet)
    check_output(output, () if given.is_conllu and wanted is Target.conllu else inputs or ())
    tags = write_tags or source is Format.tokens
    writer = Writer(wanted, deps=deps, tags=tags, confidence=confidence, show=shown)
    known = constraints_reader(misc=constraints, heads=keep_heads, is_conllu=given.is_conllu)
    parser = load_model(model, warns=not quiet, valid=valid)
    if confidence:
        check_calibrated(parser, model)
    if predicted_tags and parser.tagger is None:
        raise ModelError(f"{model} has no tagger to predict tags; leave out --predicted-tags")
    if quiet:
        warnings.simplefilter("ignore", LanguageWarning)
    is_quiet = quiet or text is not None
    tally = _Tally(parser.model.vocabulary, () if parser.tagger is None else {*TAGSETS} & {*parser.tagger.kinds})
    shows_progress = not is_quiet and is_terminal(sys.stderr) and not writes_terminal(output)
    with open_output(output) as stream, reporting(given.n_bytes, visible=shows_progress) as report:
        begin = time.perf_counter()
        if isinstance(given, TextFiles):
            pieces = _parse_texts(parser, given, writer, batch_size, n_threads)
        else:
            found = _parse_sentences(parser, given, batch_size, n_threads, known, predicted_tags)
            pieces = _write_sentences(found, given, writer)
        for piece, parses in pieces:
            stream.write(piece)
            if batch_size == 1:
                stream.flush()
            for each in parses:
                tally.add(each)
                report(len(each), len(each.sentence.original))
        seconds = time.perf_counter() - begin
    if not is_quiet:
        tally.show(seconds, warns=isinstance(given, SentenceFiles) and not predicted_tags)


def _parse_sentences(
    parser: Parser,
    given: SentenceFiles,
    batch_size: int,
    threads: int,
    known: ConstraintsOf | None,
    predicted_tags: bool,
) -> Iterator[Parse]:
    """Parse sentences. With ``predicted_tags`` the parser does not see their tags, and the parses have them again."""
    if not predicted_tags or parser.tagger is None:
        yield from parser.pipe(given, batch_size=batch_size, threads=threads, constraints=known)
        return
    sentences, originals = tee(given)
    untagged = map(parser.tagger.untagged, sentences)
    parses = parser.pipe(untagged, batch_size=batch_size, threads=threads, constraints=known)
    for parse, original in zip(parses, originals, strict=True):
        yield replace(parse, sentence=original)


def _write_sentences(
    parses: Iterator[Parse], given: SentenceFiles, writer: Writer
) -> Iterator[tuple[bytes, Sequence[Parse]]]:
    """Yield the output piece by piece, with the parses in each. CoNLL-U keeps the bytes between sentences."""
    is_conllu = writer.target is Target.conllu
    for number, parse in enumerate(parses):
        yield (given.before(number) if is_conllu else b"") + writer.sentence(parse), (parse,)
    yield given.rest() if is_conllu else b"", ()


def _parse_texts(
    parser: Parser, given: TextFiles, writer: Writer, batch_size: int, threads: int
) -> Iterator[tuple[bytes, Sequence[Parse]]]:
    """Yield the output piece by piece, with the parses in each."""
    texts, sources = tee(given)
    documents = parser.read(
        (each.text for each in texts), batch_size=batch_size, threads=threads, one_sentence=given.by_line
    )
    is_first = False
    for document, source in zip(documents, sources, strict=True):
        is_first = is_first or source.is_first  # after a first line without words, the next line is the first
        yield writer.document(document, source, is_first=is_first), document.sentences
        is_first = is_first and not document.sentences


class _Tally:
    """Counts sentences, words, and given tags that are not in the vocabulary: many suggest another tagset."""

    def __init__(self, vocabulary: ParserVocabulary, predicted: Collection[str]) -> None:
        self._vocabulary, self._predicted = vocabulary, predicted
        self._n_unknown = dict.fromkeys(vocabulary.tags, 0)
        self._n_sentences = self._n_words = 0

    def add(self, parse: Parse) -> None:
        self._n_sentences += 1
        self._n_words += len(parse)
        for kind, known in self._vocabulary.tags.items():
            given: Sequence[str] = getattr(parse.sentence, kind)
            self._n_unknown[kind] += sum(tag not in known and tag != "_" for tag in given)

    def show(self, seconds: float, *, warns: bool) -> None:
        for kind, n in self._n_unknown.items():
            if warns and n > MANY_UNKNOWN * self._n_words:
                is_predicted = kind in self._predicted and 2 * n > self._n_words
                hint = "it predicts them instead" if is_predicted else "are they of another tagset than its treebank's?"
                share = f"{n / self._n_words:.0%} of the {kind.upper()} tags"
                print(f"warning: {share} are unknown to the model; {hint}", file=sys.stderr)

        rate = self._n_words / max(seconds, 1e-9)
        sentences = f"{self._n_sentences:,} sentence{'s' * (self._n_sentences != 1)}"
        print(f"parsed {sentences}, {self._n_words:,} words in {seconds:.1f} s: {rate:,.0f} words/s", file=sys.stderr)
