"""What ``parse`` does with one input: parse its sentences or texts, and encode them for the output."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import tee
from typing import TYPE_CHECKING

from easyfirst.cli.identifiers import Identifiers
from easyfirst.cli.messages import say
from easyfirst.cli.options import Format, constraints_reader
from easyfirst.cli.outputs import Target, Writer
from easyfirst.cli.parquet_output import make_writer
from easyfirst.cli.sources import SentenceFiles, TextFiles
from easyfirst.errors import ConfigError
from easyfirst.treebank.columns import TAGSETS

if TYPE_CHECKING:
    from easyfirst.constraints.arguments import ConstraintsOf
    from easyfirst.parser import Parser
    from easyfirst.results.parses import Parse

MANY_UNKNOWN = 0.3  # the share of unknown tags above which there is a warning


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of ``parse`` that decide what is written for an input."""

    target: Target
    source: Format | None = None
    column: str | None = None
    id_column: str | None = None
    encoding: str | None = None
    show: tuple[str, ...] | None = None
    deps: bool = False
    write_tags: bool = False
    predicted_tags: bool = False
    confidence: bool = False
    constraints: bool = False
    keep_heads: bool = False
    valid: bool = True
    beam: int = 1
    n_best: int = 1
    batch_size: int = 256

    def pieces(
        self, parser: Parser, given: SentenceFiles | TextFiles, threads: int, name: str | None = None
    ) -> Generator[tuple[bytes, Sequence[Parse]], None, None]:
        """Yield the output for an input piece by piece, with the parses in each. ``name``: what the ids in it begin
        with, if not with the names of the files."""
        tags = self.write_tags or self.source is Format.tokens
        options = {"deps": self.deps, "tags": tags, "confidence": self.confidence}
        writer = make_writer(self.target, **options, show=self.show, ids=Identifiers(name))
        known = self.constraints_of(given)
        if isinstance(given, TextFiles):
            return self._texts(parser, given, writer, threads)
        return _write_sentences(self._sentences(parser, given, threads, known), given, writer)

    def constraints_of(self, given: SentenceFiles | TextFiles) -> ConstraintsOf | None:
        """Return what reads the constraints of an input. Raise an error if it cannot have any and options need them."""
        return constraints_reader(misc=self.constraints, heads=self.keep_heads, is_conllu=given.is_conllu)

    def _sentences(
        self, parser: Parser, given: SentenceFiles, threads: int, known: ConstraintsOf | None
    ) -> Iterator[Parse]:
        """Parse sentences. With predicted tags the parser does not see theirs, and the parses have them again."""
        parse_all = partial(
            parser.pipe,
            batch_size=self.batch_size,
            threads=threads,
            constraints=known,
            beam=self.beam,
            n_best=self.n_best,
        )
        if not self.predicted_tags or parser.tagger is None:
            yield from parse_all(given)
            return
        sentences, originals = tee(given)
        for parse, original in zip(parse_all(map(parser.tagger.untagged, sentences)), originals, strict=True):
            others = tuple(replace(each, sentence=original) for each in parse.alternatives)
            yield replace(parse, sentence=original, alternatives=others)

    def _texts(
        self, parser: Parser, given: TextFiles, writer: Writer, threads: int
    ) -> Generator[tuple[bytes, Sequence[Parse]], None, None]:
        texts, sources = tee(given)
        documents = parser.read(
            (each.text for each in texts),
            batch_size=self.batch_size,
            threads=threads,
            one_sentence=given.by_line,
            beam=self.beam,
            n_best=self.n_best,
        )
        is_first = False
        for document, source in zip(documents, sources, strict=True):
            is_first = is_first or source.is_first  # after a first line without words, the next line is the first
            yield writer.document(document, source, is_first=is_first), document.sentences
            is_first = is_first and not document.sentences
        yield writer.end(), ()


def _write_sentences(
    parses: Iterator[Parse], given: SentenceFiles, writer: Writer
) -> Generator[tuple[bytes, Sequence[Parse]], None, None]:
    """Yield the output piece by piece. CoNLL-U keeps the bytes between sentences."""
    for number, parse in enumerate(parses):
        yield writer.sentence(parse, given.before(number), given.text(number)), (parse,)
    yield writer.end(given.rest()), ()


def check_search(beam: int, n_best: int, target: Target, *, constraints: bool, keep_heads: bool) -> None:
    """Raise an error for a beam that cannot be, or that other options exclude."""
    from easyfirst.inputs import check_beam  # which imports NumPy

    check_beam(beam, n_best)
    if beam > 1 and (constraints or keep_heads):
        option = "--keep-heads" if keep_heads else "--constraints"
        raise ConfigError(f"{option} restricts the greedy parser only; leave it out, or leave out --beam")
    if n_best > 1 and target is Target.parquet:
        raise ConfigError(
            "--n-best is for CoNLL-U, JSON and drawn trees: a row of Parquet has one; choose another --to"
        )


class Tally:
    """Counts sentences, words, and given tags that neither the parser nor the tagger knows: many suggest another
    tagset."""

    def __init__(self, parser: Parser) -> None:
        predicted: Mapping[str, Sequence[str]] = {}
        if parser.tagger is not None:
            predicted = parser.tagger.model.vocabulary.outputs
        self._predicted: Collection[str] = {*TAGSETS} & predicted.keys()
        tags = parser.model.vocabulary.tags.items()
        self._known = {kind: {*known, *predicted.get(kind, ())} for kind, known in tags}
        self._n_unknown = dict.fromkeys(self._known, 0)
        self._n_tagged = 0  # words that came with their tags, or could have
        self._n_sentences = self._n_words = 0

    def add(self, parse: Parse, *, tagged: bool) -> None:
        """Count a sentence; ``tagged``: its tags are those of the input."""
        self._n_sentences += 1
        self._n_words += len(parse)
        self._n_tagged += len(parse) if tagged else 0
        for kind, known in self._known.items() if tagged else ():
            given: Sequence[str] = getattr(parse.sentence, kind)
            self._n_unknown[kind] += sum(tag not in known and tag != "_" for tag in given)

    def merge(self, other: Tally) -> None:
        """Add what another one has counted."""
        self._n_sentences += other._n_sentences
        self._n_words += other._n_words
        self._n_tagged += other._n_tagged
        for kind, n in other._n_unknown.items():
            self._n_unknown[kind] += n

    def show(self, seconds: float, files: str = "") -> None:
        """Print warnings about tags, and how much was parsed in how many seconds."""
        for kind, n in self._n_unknown.items():
            if n > MANY_UNKNOWN * self._n_tagged:
                is_predicted = kind in self._predicted and 2 * n > self._n_tagged
                hint = "are they of another tagset than its treebank's?"
                if is_predicted:
                    hint = "it predicts them instead"
                elif kind in self._predicted:
                    hint += " Use --predicted-tags"
                share = f"{n / self._n_tagged:.0%} of the {kind.upper()} tags"
                say(f"warning: {share} are unknown to the model; {hint}")
        rate = self._n_words / max(seconds, 1e-9)
        counts = f"{files}{count(self._n_sentences, 'sentence')}, {self._n_words:,} words"
        say(f"parsed {counts} in {seconds:.1f} s: {rate:,.0f} words/s")


def count(n: int, what: str) -> str:
    """Return a number and what it counts: ``1 file``, ``2,000 files``."""
    return f"{n:,} {what}{'s' * (n != 1)}"
