"""From a stream of sentences or texts to a stream of results, in bounded memory and by one or more threads.

The stream is read in chunks. The sentences of a chunk are sorted into batches of similar length, which threads parse
independently of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from easyfirst.inputs import Prepared, chunks
from easyfirst.nn.sequences import longest_first
from easyfirst.parsing.engine import MAX_BATCH_WORDS
from easyfirst.results.documents import Document
from easyfirst.results.parses import Parse
from easyfirst.text.language import Language
from easyfirst.text.sentences import TokenizedText
from easyfirst.treebank.sentence import Sentence
from easyfirst.workers import PARTS, Workers

N_BUFFERED = PARTS
"""The number of batches in a chunk of sentences."""

TEXT_BUFFERED = 100_000
"""The number of characters in a chunk of texts."""

TOKENIZED_AT_ONCE = TEXT_BUFFERED // PARTS
"""The number of characters that a thread tokenizes at once, unless a single text has more."""

ParseBatch: TypeAlias = Callable[[Sequence[Prepared]], list[Parse]]


def parse_batches(
    workers: Workers, prepared: Sequence[Prepared], parse: ParseBatch, *, batch_size: int
) -> Callable[[], list[Parse]]:
    """Start to parse sentences in batches. Return a function that waits for the parses, in order."""
    lengths = [len(each.sentence) for each in prepared]
    batches = list(longest_first(lengths, max_rows=MAX_BATCH_WORDS, max_sequences=batch_size))
    wait = workers.start(parse, [[prepared[number] for number in batch] for batch in batches])

    def parses() -> list[Parse]:
        found = dict(zip(chain(*batches), chain(*wait()), strict=True))
        return [found[number] for number in range(len(prepared))]

    return parses


def parse_stream(prepared: Iterable[Prepared], parse: ParseBatch, *, batch_size: int, threads: int) -> Iterator[Parse]:
    """Yield the parse of each sentence. With a batch size of 1, each comes before the next sentence is read."""
    n_sentences = 1 if batch_size == 1 else N_BUFFERED * batch_size
    cut = chunks(prepared, lambda each: len(each.sentence), n_sentences, N_BUFFERED * MAX_BATCH_WORDS)
    with Workers(1 if batch_size == 1 else threads) as workers:
        for parses in workers.ahead(cut, lambda chunk: parse_batches(workers, chunk, parse, batch_size=batch_size)):
            yield from parses


def watch_parses(parses: Iterable[Parse], language: Language) -> Iterator[Parse]:
    """Pass parses through, and warn if their sentences do not seem to be in this language."""
    return language.watch(parses, lambda parse: [parse.sentence])


def read_stream(
    texts: Iterable[str],
    tokenize: Callable[[Sequence[str]], Iterable[TokenizedText]],
    prepare: Callable[[Sentence], Prepared],
    parse: ParseBatch,
    *,
    language: Language,
    batch_size: int,
    threads: int,
) -> Iterator[Document]:
    """Yield the document of each text, as :func:`parse_stream` does, and warn if they do not seem to be in a language.
    ``prepare`` runs in the caller's thread, because it calls the user's function."""

    def split(part: Sequence[str]) -> list[tuple[TokenizedText, list[Sentence]]]:
        return [(text, text.sentences()) for text in tokenize(part)]

    def start(parts: Sequence[Sequence[tuple[TokenizedText, list[Sentence]]]]) -> Callable[[], list[Document]]:
        tokenized = list(chain(*parts))
        prepared = [prepare(sentence) for _, sentences in tokenized for sentence in sentences]
        wait = parse_batches(workers, prepared, parse, batch_size=batch_size)

        def documents() -> list[Document]:
            parses = iter(wait())
            return [Document.of(text, parses) for text, _ in tokenized]

        return documents

    cut = chunks(texts, len, 1 if batch_size == 1 else None, TEXT_BUFFERED)
    parts = (list(chunks(chunk, len, None, TOKENIZED_AT_ONCE)) for chunk in cut)
    with Workers(1 if batch_size == 1 else threads) as workers:
        tokenized = workers.ahead(parts, lambda of_chunk: workers.start(split, of_chunk))
        found = chain.from_iterable(workers.ahead(tokenized, start))
        yield from language.watch(found, lambda document: [parse.sentence for parse in document])
