"""``easyfirst convert``: parsed sentences from one format to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from easyfirst.cli.files import STANDARD, Files, open_input, source_of
from easyfirst.cli.formats import PARSED_SUFFIXES, by_suffix
from easyfirst.cli.messages import say
from easyfirst.cli.options import Encoding, OutputFile, Quiet
from easyfirst.cli.outputs import check_output, json_line, open_output
from easyfirst.cli.parquet_inputs import local_files
from easyfirst.cli.parquet_output import check_parquet_output
from easyfirst.cli.sources import SentenceFiles
from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.tables.conllu import ConlluWriter, joined, with_confidence, with_prefix
from easyfirst.tables.json_lines import read_objects, to_object
from easyfirst.tables.parquet import ParquetEncoder, files_of, read_rows, read_trailer
from easyfirst.tables.rows import Row
from easyfirst.tables.sentences import Documents, row_of


class Parsed(str, Enum):
    """A format of parsed sentences."""

    conllu = "conllu"
    parquet = "parquet"
    json = "json"


class Output(str, Enum):
    """A format to convert to."""

    conllu = "conllu"
    parquet = "parquet"
    json = "json"
    lines = "lines"
    tokens = "tokens"


_OTHERS = {".txt": "lines"}
_SPOKEN = {"conllu": "CoNLL-U", "parquet": "Parquet", "json": "JSON"}


def convert(
    inputs: Annotated[
        list[str] | None,
        Argument(metavar="INPUT", help="Files of parsed sentences, directories of Parquet files; none or '-': stdin."),
    ] = None,
    source: Annotated[
        Parsed | None,
        Option(
            "--from",
            help="The format of the input: conllu, parquet, or json (an object per sentence). Default: by the names of "
            "the files, else conllu; a directory is one of Parquet files.",
        ),
    ] = None,
    target: Annotated[
        Output | None,
        Option(
            "--to",
            help="The format of the output: conllu, parquet, json, lines (the text of each sentence) or tokens (its "
            "words, separated by spaces). Default: by the name of the output, else conllu.",
        ),
    ] = None,
    output: OutputFile = None,
    confidence: Annotated[
        bool, Option("--confidence", help="In CoNLL-U, write the confidence to MISC: ArcConf= and LabelConf=.")
    ] = False,
    encoding: Encoding = None,
    quiet: Quiet = False,
) -> None:
    """Convert parsed sentences between CoNLL-U, Parquet and JSON.

    From CoNLL-U to Parquet and back, every byte is the same. Nothing is parsed, so no model is needed, and an input of
    any length is converted as a stream. Several inputs become one output.

    \b
    Examples:
      easyfirst convert trees.conllu -o trees.parquet
      easyfirst convert trees.parquet -o trees.conllu
      easyfirst convert part-1.parquet part-2.parquet -o all.parquet
      easyfirst convert parsed/ -o parsed.jsonl
      easyfirst convert trees.parquet --confidence | easyfirst render --to html -o trees.html
    """
    names = inputs or [STANDARD]
    read_from = source or _format_of(names)
    write_to = target or Output(by_suffix(output, PARSED_SUFFIXES | _OTHERS) or "conllu")
    if encoding is not None and read_from is not Parsed.conllu:
        raise InputError("--encoding is for CoNLL-U; leave it out for other input")
    if confidence and write_to is not Output.conllu:
        raise InputError("--confidence is for CoNLL-U; other formats have it if it is known")
    if write_to is Output.parquet:
        check_parquet_output(output)
    check_output(output, names)
    rows = _Rows(names, read_from, encoding)
    n_sentences = n_words = 0
    with open_output(output) as stream:
        encoder = _Encoder(write_to, confidence=confidence)
        for row in rows:
            stream.write(encoder.encode(row, *rows.place))
            n_sentences, n_words = n_sentences + 1, n_words + len(row)
        stream.write(encoder.end(rows.rest))
    if not quiet:
        say(f"converted {count(n_sentences, 'sentence')}, {count(n_words, 'word')}")


def _format_of(names: list[str]) -> Parsed:
    """Return the format that the names of all inputs stand for. Raise an error if they differ."""
    found = {name: "parquet" if Path(name).is_dir() else by_suffix(name, PARSED_SUFFIXES) for name in names}
    first = {kind: name for name, kind in reversed(found.items()) if kind is not None}
    if len(first) > 1:
        (one, one_name), (other, other_name), *_ = sorted(first.items(), key=lambda item: names.index(item[1]))
        hint = f"name an output with -o, as in -o {other_name}; convert inputs of several formats one by one"
        raise InputError(f"{one_name} is {_SPOKEN[one]}, and {other_name} is {_SPOKEN[other]}; {hint}")
    return Parsed(next(iter(first), "conllu"))


class _Rows:
    """The rows of all inputs."""

    def __init__(self, names: list[str], source: Parsed, encoding: str | None) -> None:
        self._names, self._source, self._encoding = names, source, encoding
        self.place = ("", 0)
        """The file and the number of the last row, or its line."""
        self.rest = b""
        """The bytes of CoNLL-U after the last row."""
        if source is not Parsed.parquet:
            Files(names, encoding)  # raises an error if one is missing
        elif STANDARD not in names:
            self._names = [file for name in names for file in files_of(name)]

    def __iter__(self) -> Iterator[Row]:
        reads = {Parsed.conllu: self._conllu, Parsed.parquet: self._parquet, Parsed.json: self._json}
        return reads[self._source]()

    def _conllu(self) -> Iterator[Row]:
        files, hint = Files(self._names, self._encoding), "if it is raw text, parse it: easyfirst parse"
        given, documents = SentenceFiles(files, is_tokens=False, hint_for_text=hint), Documents()
        for number, sentence in enumerate(given):
            if before := given.before(number):
                sentence = replace(sentence, prefix=before + sentence.prefix)
            self.place = (sentence.source or "", sentence.line or 0)
            yield row_of(sentence, doc_id=documents.id_of(sentence))
        self.rest = given.rest()

    def _parquet(self) -> Iterator[Row]:
        for name, path in local_files(self._names):
            for number, row in enumerate(read_rows(path, name), 1):
                self.place = (name, number)
                yield with_prefix(row, self.rest)
                self.rest = b""
            self.rest = joined(self.rest, read_trailer(path))

    def _json(self) -> Iterator[Row]:
        for name in self._names:
            with open_input(name) as stream:
                for number, row in read_objects(stream, source_of(name)):
                    self.place = (source_of(name), number)
                    yield row


class _Encoder:
    """Encodes rows, and the end of the output, given the bytes of CoNLL-U there."""

    def __init__(self, target: Output, *, confidence: bool) -> None:
        self._target, self._confidence = target, confidence
        self._table = ParquetEncoder() if target is Output.parquet else None
        self._conllu = ConlluWriter()

    def encode(self, row: Row, source: str, number: int) -> bytes:
        if self._table is not None:
            return self._table.add([row])
        if self._target is Output.conllu:
            return self._conllu.encode(with_confidence(row) if self._confidence else row, source, number)
        if self._target is Output.json:
            return json_line(to_object(row))
        return _line(row) if self._target is Output.lines else _tokens(row)

    def end(self, rest: bytes) -> bytes:
        if self._table is not None:
            return self._table.end(rest)
        return self._conllu.end(rest) if self._target is Output.conllu else b""


def _line(row: Row) -> bytes:
    """Return the text of a sentence as a line."""
    text = " ".join(row.form) if row.text is None else row.text
    return (" ".join(text.split()) + "\n").encode(errors="replace")


def _tokens(row: Row) -> bytes:
    """Return the words of a sentence as a line. A space in a word becomes a no-break space, which separates nothing."""
    forms = (form.replace(" ", "\N{NO-BREAK SPACE}") for form in row.form)
    return (" ".join(forms) + "\n").encode(errors="replace")
