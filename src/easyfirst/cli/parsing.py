"""What ``parse`` does with one input: parse its sentences or texts, and encode them for the output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
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
from easyfirst.counting import count
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
    """Counts sentences, words, and given tags that the parser does not know, which suggest another tagset."""

    def __init__(self, parser: Parser) -> None:
        from easyfirst.inputs import known_tags  # which imports NumPy

        vocabulary = parser.model.vocabulary
        self._known = {kind: known_tags(kind, vocabulary) for kind in vocabulary.tags}
        self._predicted: Collection[str] = () if parser.tagger is None else parser.tagger.kinds
        self._n_tagged: Counter[str] = Counter()  # words of sentences with tags of a kind
        self._n_kept: Counter[str] = Counter()  # unknown tags that were parsed with
        self._n_replaced: Counter[str] = Counter()  # unknown tags of sentences whose tags were predicted instead
        self._n_sentences = self._n_words = 0

    def add(self, parse: Parse, *, tagged: bool) -> None:
        """Count a sentence; ``tagged``: its tags are those of the input."""
        self._n_sentences += 1
        self._n_words += len(parse)
        for kind, known in self._known.items() if tagged else ():
            given: Sequence[str] = getattr(parse.sentence, kind)
            used: Sequence[str] = getattr(parse.tagged, kind)
            if set(given) == {"_"}:
                continue
            self._n_tagged[kind] += len(given)
            differ = any(old not in ("_", new) for old, new in zip(given, used, strict=True))
            counts = self._n_replaced if differ and kind in TAGSETS else self._n_kept  # features are only added to
            counts[kind] += sum(tag not in known and tag != "_" for tag in given)

    def merge(self, other: Tally) -> None:
        """Add what another one has counted."""
        self._n_sentences += other._n_sentences
        self._n_words += other._n_words
        self._n_tagged += other._n_tagged
        self._n_kept += other._n_kept
        self._n_replaced += other._n_replaced

    def show(self, seconds: float, files: str = "") -> None:
        """Print warnings about tags, and how much was parsed in how many seconds."""
        for kind in self._known:
            share = (self._n_kept[kind] + self._n_replaced[kind]) / max(1, self._n_tagged[kind])
            if share > MANY_UNKNOWN:
                what = f"{share:.0%} of the {kind.upper()} {'tags' if kind in TAGSETS else 'values'}"
                say(f"warning: {what} are unknown to the model; {self._hint(kind)}")
        rate = self._n_words / max(seconds, 1e-9)
        counts = f"{files}{count(self._n_sentences, 'sentence')}, {count(self._n_words, 'word')}"
        say(f"parsed {counts} in {seconds:.1f} s: {rate:,.0f} words/s")

    def _hint(self, kind: str) -> str:
        """Return what became of unknown tags, and what to do about those that were parsed with."""
        if not self._n_kept[kind]:
            return "it predicts them instead"
        if self._n_replaced[kind]:
            share = self._n_replaced[kind] / (self._n_kept[kind] + self._n_replaced[kind])
            return f"it predicts {share:.0%} of these instead. To predict all tags, use --predicted-tags"
        set_of = "tagset" if kind in TAGSETS else "set of features"
        advice = " To predict them instead, use --predicted-tags" if kind in self._predicted else ""
        return f"are they of another {set_of} than its treebank's?{advice}"
