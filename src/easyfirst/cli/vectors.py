"""``easyfirst vectors``: word vectors from plain text, to train a parser and a tagger with."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from typer import Option

from easyfirst.cli.loading import load_model, require_torch, set_threads
from easyfirst.cli.messages import say
from easyfirst.cli.options import Encoding, Format, InputFiles, ModelName, Quiet, Threads
from easyfirst.cli.outputs import check_output, is_terminal, open_output
from easyfirst.cli.reports import Report, reporting
from easyfirst.cli.sources import SentenceFiles, TextFiles, open_inputs
from easyfirst.errors import DataError, ModelError

SUFFIX = ".npz"
MANY_WORDS = 1_000_000  # below which there is a warning


def vectors(
    output: Annotated[str, Option("--output", "-o", metavar="FILE.npz", help="The file to write.")],
    inputs: InputFiles = None,
    source: Annotated[
        Format,
        Option(
            "--from",
            help="The format of the input. tokens: a sentence per line, words separated by spaces; conllu; text: "
            "documents separated by blank lines; lines: a sentence per line. text and lines are tokenized by --model.",
        ),
    ] = Format.tokens,
    encoding: Encoding = None,
    model: ModelName = "en",
    beside: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Append these vectors to the new ones: word2vec or GloVe text, .gz, or .npz. Words of either are "
            "kept, with zeros where one has no vector.",
        ),
    ] = None,
    dim: Annotated[int, Option(min=1, help="The dimensions of a new vector.")] = 100,
    window: Annotated[int, Option(min=1, max=10, help="The neighbours that count on each side.")] = 2,
    min_count: Annotated[int, Option(min=1, help="The minimum count of a word.")] = 3,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Make word vectors from plain text.

    They are for 'easyfirst train --embeddings'.

    The text must be tokenized, punctuation too, with a sentence per line; for raw text, use --from text. The vector of
    a word counts which words occur before and after it, and how near: such vectors suit tagging and parsing even if
    there is little text. Words are lower-cased and all numbers are one word, as in the parser. A few million words take
    about a minute; tokenizing raw text takes longer.

    \b
    Examples:
      easyfirst vectors corpus.txt -o vectors.npz
      xz -dc corpus.txt.xz | easyfirst vectors -o vectors.npz
      easyfirst vectors --from text letters.txt -o vectors.npz
      easyfirst vectors corpus.txt --beside glove.txt.gz -o vectors.npz
      easyfirst train train.conllu --dev dev.conllu --out my-model --embeddings vectors.npz
    """
    if not output.endswith(SUFFIX):
        raise DataError(f"vectors are written as {SUFFIX}; give the output that suffix", source=output)
    check_output(output, [*(inputs or []), *([] if beside is None else [str(beside)])])
    set_threads(threads)
    require_torch("making vectors")

    from easyfirst.model.embeddings import concatenate_embeddings, read_embeddings, write_embeddings
    from easyfirst.training.cooccurrence import CooccurrenceConfig, learn_vectors

    config = CooccurrenceConfig(dim=dim, window=window, min_count=min_count)
    others = None if beside is None else read_embeddings(beside)
    given = open_inputs(inputs, None, source, encoding=encoding, quiet=quiet)
    sentences = _sentences(given, model)
    n_words = 0

    def counted(report: Report) -> Iterator[Sequence[str]]:
        nonlocal n_words
        for sentence in sentences:
            n_words += len(sentence)
            report(len(sentence), 0)
            yield sentence

    with open_output(output) as stream:
        with reporting(None, visible=not quiet and is_terminal(sys.stderr)) as report:
            found = learn_vectors(counted(report), config)
        if not quiet:
            if n_words < MANY_WORDS:
                say(f"warning: {n_words:,} words are little text; millions are better")
            say(f"{n_words:,} words in the text, vectors of {len(found.words):,} different ones")
        if others is not None:
            found = concatenate_embeddings(found, others)
        write_embeddings(stream, found)
    if not quiet:
        say(f"the vectors are in {output}: {len(found.words):,} words, {found.dim} numbers each")


def _sentences(given: SentenceFiles | TextFiles, model: str) -> Iterator[Sequence[str]]:
    """Return the words of each sentence. A model is loaded here, not when the first sentence is read."""
    if isinstance(given, SentenceFiles):
        return (sentence.forms for sentence in given)
    tokenizer = load_model(model).tokenizer
    if tokenizer is None:
        raise ModelError(f"{model}: has no tokenizer, so it cannot split text into words; choose another --model")

    from easyfirst.inputs import chunks
    from easyfirst.streaming import TEXT_BUFFERED

    parts = chunks((source.text for source in given), len, None, TEXT_BUFFERED)
    texts = (text for part in parts for text in tokenizer.tokenize_texts(part, one_sentence=given.by_line))
    return ([word for token in tokens for word in token.words] for text in texts for tokens in text.tokens)
