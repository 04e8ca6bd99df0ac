"""``easyfirst vectors``: word vectors out of plain text, to train a parser and a tagger with."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from easyfirst.cli.extras import require_torch
from easyfirst.cli.inputs import STANDARD, Inputs, warn_of_name
from easyfirst.cli.options import Format, InputFiles, ModelName
from easyfirst.cli.outputs import check_output, keep_inputs, open_output
from easyfirst.cli.progress import Report, reporting
from easyfirst.cli.texts import Texts
from easyfirst.cli.threads import set_threads
from easyfirst.cli.writers import is_terminal
from easyfirst.errors import DataError, ModelError

if TYPE_CHECKING:
    from easyfirst.text.tokenizing import Tokenizer

SUFFIX = ".npz"
MANY_WORDS = 1_000_000
"""Fewer than these say little of most words."""


def vectors(
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.npz", help="Where the vectors go.")],
    inputs: InputFiles = None,
    source: Annotated[
        Format,
        typer.Option(
            "--from",
            help="What the input is. tokens: a sentence a line, words separated by spaces; conllu; text: documents "
            "separated by blank lines; lines: a sentence a line. Both are cut into words by --model.",
        ),
    ] = Format.tokens,
    model: ModelName = "en",
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Put these vectors beside the new ones: word2vec or GloVe text, .gz, or .npz. Words of either are "
            "kept, with zeros where one has none.",
            show_default=False,
        ),
    ] = None,
    dim: Annotated[int, typer.Option(min=1, help="Numbers of each new vector.")] = 100,
    window: Annotated[int, typer.Option(min=1, max=10, help="Neighbours that count, on each side.")] = 2,
    min_count: Annotated[int, typer.Option(min=1, help="Words that the text has less often get no vector.")] = 3,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute with; default: 1, or OMP_NUM_THREADS.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors on stderr.")] = False,
) -> None:
    """Make word vectors out of plain text, for 'easyfirst train --embeddings'.

    The text is to be cut into words already (punctuation too), a sentence a line; for any other, say --from text.
    A word's vector tells which words stand before and after it, and how near: such vectors suit tagging and parsing,
    even if there is little text. Words are lower-cased and numbers are one word, as the parser reads them. A few
    million words take about a minute; cutting raw text into words takes longer.

    \b
    Examples:
      easyfirst vectors corpus.txt -o vectors.npz
      xz -dc corpus.txt.xz | easyfirst vectors -o vectors.npz
      easyfirst vectors --from text letters.txt -o vectors.npz
      easyfirst vectors corpus.txt --beside glove.txt.gz -o vectors.npz
      easyfirst train train.conllu --dev dev.conllu --out my-model --embeddings vectors.npz
    """
    if not output.endswith(SUFFIX):
        raise DataError(f"vectors are written as {SUFFIX}; name the output so", source=output)
    check_output(output)
    keep_inputs([*(inputs or []), *([] if beside is None else [str(beside)])], output)
    set_threads(threads)
    require_torch("making vectors")

    from easyfirst.model.embeddings import concatenate_embeddings, read_embeddings, write_embeddings
    from easyfirst.training.cooccurrence import CooccurrenceConfig, learn_vectors

    config = CooccurrenceConfig(dim=dim, window=window, min_count=min_count)
    others = None if beside is None else read_embeddings(beside)
    sentences = _sentences(inputs or [], source, model)
    if not quiet and is_terminal(sys.stdin) and STANDARD in (inputs or [STANDARD]):
        print("reading from the terminal; Ctrl-D ends the input", file=sys.stderr)
    with open_output(output) as stream:
        with reporting(None, visible=not quiet and is_terminal(sys.stderr)) as report:
            text = _Counted(sentences, report)
            found = learn_vectors(text, config)
        if not quiet:
            n, n_words = len(found.words), text.n_words
            if n_words < MANY_WORDS:
                print(f"warning: {n_words:,} words are little text; millions are better", file=sys.stderr)
            print(f"{n_words:,} words in the text, vectors of {n:,} different ones", file=sys.stderr)
        if others is not None:
            found = concatenate_embeddings(found, others)
        write_embeddings(stream, found)
    if not quiet:
        print(f"the vectors are in {output}: {len(found.words):,} words, {found.dim} numbers each", file=sys.stderr)


class _Counted:
    """Sentences, and how many words they have had, which is reported too."""

    def __init__(self, sentences: Iterator[Sequence[str]], report: Report) -> None:
        self.n_words = 0
        self._sentences, self._report = sentences, report

    def __iter__(self) -> Iterator[Sequence[str]]:
        for sentence in self._sentences:
            self.n_words += len(sentence)
            self._report(len(sentence))
            yield sentence


def _sentences(names: list[str], source: Format, model: str) -> Iterator[Sequence[str]]:
    """The words of each. What is wrong with inputs or model is said at once, not when the first is asked for."""
    if source in (Format.tokens, Format.conllu):
        return (sentence.forms for sentence in Inputs(names, is_tokens=source is Format.tokens))
    texts = Texts(names, by_line=source is Format.lines)
    warn_of_name(model)

    from easyfirst.parser import load

    tokenizer = load(model).tokenizer
    if tokenizer is None:
        raise ModelError(f"{model}: has no tokenizer, so it cannot cut text into words; take another --model")
    return _tokenized(texts, tokenizer)


def _tokenized(texts: Texts, tokenizer: Tokenizer) -> Iterator[Sequence[str]]:
    from easyfirst.inputs import chunks
    from easyfirst.parser import TEXT_BUFFERED
    from easyfirst.text.sentences import joined

    for part in chunks(texts, len, None, TEXT_BUFFERED):
        for sentences in tokenizer.tokenize_all(part):
            texts.next_place()
            for sentence in joined(sentences) if texts.by_line else sentences:
                yield [word for token in sentence for word in token.words]
