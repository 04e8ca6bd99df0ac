"""Parses as a Parquet file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from easyfirst.cli.identifiers import Identifiers
from easyfirst.cli.outputs import Target, Writer, writes_terminal
from easyfirst.cli.sources import SourceText
from easyfirst.errors import InputError
from easyfirst.tables.parquet import ParquetEncoder

if TYPE_CHECKING:
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse
    from easyfirst.results.tables import RowOptions


def make_writer(
    target: Target, *, deps: bool, tags: bool, confidence: bool, show: tuple[str, ...] | None, ids: Identifiers
) -> Writer:
    """Return what encodes parses in a format."""
    kind = TableWriter if target is Target.parquet else Writer
    return kind(target, deps=deps, tags=tags, confidence=confidence, show=show, ids=ids)


def check_parquet_output(output: str | None) -> None:
    """Raise an :class:`InputError` for an output that cannot be Parquet."""
    if writes_terminal(output):
        raise InputError("Parquet is not text for a terminal; name a file with --output")
    if output is not None and output.lower().endswith(".gz"):
        raise InputError("Parquet is compressed by itself; leave out .gz in the name of --output")


@dataclass(frozen=True, slots=True)
class TableWriter(Writer):
    """Encodes parses as a table with a row for each sentence. Converted to CoNLL-U, it is what :class:`Writer` writes
    there."""

    encoder: ParquetEncoder = field(default_factory=ParquetEncoder)

    def sentence(self, parse: Parse, before: bytes = b"", text: str | None = None) -> bytes:
        from easyfirst.results.tables import parse_row  # which imports NumPy

        if parse.sentence.lines is None:
            parse = self.with_comments(parse)
        if before:
            sentence, tagged = (replace(each, prefix=before + each.prefix) for each in (parse.sentence, parse.tagged))
            parse = replace(parse, sentence=sentence, tagged=tagged)
        doc_id = self.documents.id_of(parse.sentence)
        return self.encoder.add([parse_row(parse, self._options(), doc_id=doc_id, text=text)])

    def document(self, document: Document, source: SourceText, *, is_first: bool) -> bytes:
        from easyfirst.results.tables import document_rows

        if not document.sentences:
            return b""
        if is_first:
            self.ids.new_document(source.file, source.doc_id)
        names = [self.ids.new_sentence() for _ in document]
        rows = document_rows(document, self._options(), doc_id=self.ids.document, sent_ids=names, begins=is_first)
        return self.encoder.add(rows)

    def end(self, rest: bytes = b"") -> bytes:
        return self.encoder.end(rest)

    def _options(self) -> RowOptions:
        from easyfirst.results.tables import RowOptions

        return RowOptions(deps=self.deps, tags=self.tags, confidence=self.confidence)
