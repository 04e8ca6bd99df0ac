"""What ``easyfirst parse`` does with an input of some kind: what is to be written, piece by piece."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from easyfirst.cli.inputs import STANDARD, Inputs
from easyfirst.cli.progress import Report
from easyfirst.cli.texts import Place, Texts
from easyfirst.cli.writers import Target, document_writer, sentence_writer

if TYPE_CHECKING:
    from easyfirst.constraints.arguments import ConstraintsOf
    from easyfirst.model.parser_vocabulary import ParserVocabulary
    from easyfirst.parser import Parser
    from easyfirst.results.parses import Parse

MANY_UNKNOWN = 0.3
"""The share of tags that the model may not know without a warning."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is wanted of the output, and of the parser."""

    target: Target
    deps: bool
    write_tags: bool
    confidence: bool
    batch_size: int
    constraints: ConstraintsOf | None


class Work(Protocol):
    """An input of some kind, and what has been done with it."""

    n_sentences: int
    n_words: int

    @property
    def reads_terminal(self) -> bool: ...

    @property
    def n_bytes(self) -> int | None: ...

    def run(self, parser: Parser, options: Options, report: Report) -> Iterator[bytes]:
        """What is to be written, piece by piece."""
        ...

    def warnings(self) -> Iterable[str]: ...


class SentenceWork:
    """Sentences given in words: CoNLL-U or tokens."""

    def __init__(self, names: list[str], *, is_tokens: bool) -> None:
        self._sources = Inputs(names, is_tokens=is_tokens)
        self._is_tokens = is_tokens
        self._tags: _TagCheck | None = None
        self.n_sentences = self.n_words = 0

    @property
    def reads_terminal(self) -> bool:
        return STANDARD in self._sources.names and sys.stdin.isatty()

    @property
    def n_bytes(self) -> int | None:
        return self._sources.n_bytes

    def run(self, parser: Parser, options: Options, report: Report) -> Iterator[bytes]:
        sources, keeps_rest = self._sources, options.target is Target.conllu
        tags = self._is_tokens or options.write_tags
        write = sentence_writer(options.target, deps=options.deps, tags=tags, confidence=options.confidence)
        self._tags = _TagCheck(parser.model.vocabulary)
        for parse in parser.pipe(sources, batch_size=options.batch_size, constraints=options.constraints):
            self._tags.see(parse)
            rest = sources.before(self.n_sentences)
            yield (rest if keeps_rest else b"") + write(parse)
            self.n_sentences += 1
            self.n_words += len(parse)
            report(len(parse), len(parse.sentence.original))
        if keeps_rest:
            yield sources.rest()

    def warnings(self) -> Iterable[str]:
        return self._tags.warnings(self.n_words) if self._tags is not None else ()


class DocumentWork:
    """Raw text."""

    def __init__(self, texts: list[str] | Texts) -> None:
        self._texts = texts
        self.n_sentences = self.n_words = 0

    @property
    def reads_terminal(self) -> bool:
        return isinstance(self._texts, Texts) and STANDARD in self._texts.names and sys.stdin.isatty()

    @property
    def n_bytes(self) -> int | None:
        return None

    def run(self, parser: Parser, options: Options, report: Report) -> Iterator[bytes]:
        write = document_writer(options.target, deps=options.deps, confidence=options.confidence)
        texts = self._texts
        is_by_line = isinstance(texts, Texts) and texts.by_line
        is_first = False
        for document in parser.read(texts, batch_size=options.batch_size, one_sentence=is_by_line):
            place = texts.next_place() if isinstance(texts, Texts) else Place()
            is_first = is_first or place.is_first  # of a line without words, the next one takes it over
            yield write(document, replace(place, is_first=is_first))
            is_first = is_first and not document.sentences
            self.n_sentences += len(document)
            n_words = sum(map(len, document))
            self.n_words += n_words
            report(n_words)

    def warnings(self) -> Iterable[str]:
        return ()


class _TagCheck:
    """Counts the tags that the model has never seen: if they are many, they are probably of another tagset."""

    def __init__(self, vocabulary: ParserVocabulary) -> None:
        self._vocabulary = vocabulary
        self._n_unknown = dict.fromkeys(vocabulary.tags, 0)

    def see(self, parse: Parse) -> None:
        for kind, known in self._vocabulary.tags.items():
            tags = parse.tagged.upos if kind == "upos" else parse.tagged.xpos
            self._n_unknown[kind] += sum(tag not in known for tag in tags)

    def warnings(self, n_words: int) -> Iterator[str]:
        for kind, n in self._n_unknown.items():
            if n > MANY_UNKNOWN * n_words:
                yield (
                    f"warning: the model does not know {n / n_words:.0%} of the {kind.upper()} tags; "
                    "are they of another tagset than its treebank's?"
                )
