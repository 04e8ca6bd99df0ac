"""The output of the verbs: files that appear all at once, and parses as CoNLL-U, JSON or drawn trees."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from easyfirst.cli.files import STANDARD, STDIN
from easyfirst.cli.identifiers import Identifiers
from easyfirst.cli.sources import SourceText
from easyfirst.errors import DataError, ModelError
from easyfirst.render.constituents import draw_constituents
from easyfirst.replacing import is_leftover, replacement
from easyfirst.tables.sentences import Documents
from easyfirst.treebank.streams import is_gzip

if TYPE_CHECKING:
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse


class OutputError(DataError):
    """An output that cannot be written."""


class Target(str, Enum):
    """The format of parses."""

    tree = "tree"
    conllu = "conllu"
    json = "json"
    parquet = "parquet"
    brackets = "brackets"


_WITHOUT_COMMENTS = (Target.tree, Target.brackets)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; None is a stream that was closed from the start."""
    return stream is not None and stream.isatty()


def writes_terminal(output: str | None) -> bool:
    """Return whether an output is a terminal."""
    return output in (None, STANDARD) and is_terminal(sys.stdout)


def check_model_output(out: Path, *, overwrite: bool) -> None:
    """Raise an error unless a model may be written here."""
    if out.exists() and not overwrite and not is_leftover(out):
        raise ModelError(f"{out}: exists already; choose another --out, or use --overwrite")
    if out.is_file():
        raise ModelError(f"{out} is a file, but a model is a directory; choose another --out")
    if (out / "training").is_dir():
        raise ModelError(f"{out}: has a training run, which could not be resumed any more; choose another --out")


def check_output(name: str | None, replaced: Sequence[str] = ()) -> None:
    """Raise an error if the output cannot be written there, or would replace one of these inputs."""
    if name is None or name == STANDARD:
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise DataError("standard output is closed; open it, or write to a file with --output", source="<stdout>")
        return
    path = Path(name)
    if path.is_dir():
        raise DataError("this is a directory; name a file for the output", source=name)
    if not path.absolute().parent.is_dir():
        raise DataError(f"there is no directory {path.parent} for the output; make it first", source=name)
    for other in replaced if path.exists() else ():
        if other != STANDARD and Path(other).exists() and path.samefile(other):
            raise DataError("this is also an input, and would be lost; choose another output", source=name)


@contextmanager
def open_output(name: str | None) -> Generator[BinaryIO, None, None]:
    """Open standard output, or a file, plain or ``.gz``. A file is written under a temporary name and renamed at the
    end, so a failure leaves the previous file as it was."""
    check_output(name)
    if name is None or name == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        path = Path(name).resolve()  # through symbolic links, so that they stay
        if path.exists() and not path.is_file():  # a pipe or a device
            with path.open("wb") as stream:
                yield stream
            return
        with exit_on_sigterm(), replacement(path) as stream:
            if not is_gzip(path.name):
                yield stream
                return
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
                yield cast(BinaryIO, packed)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror or error}", source=name) from error


@contextmanager
def exit_on_sigterm() -> Generator[None, None, None]:
    """Turn SIGTERM into an exit that cleans up. Only the main thread receives signals; elsewhere, do nothing."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(frozen=True, slots=True)
class Writer:
    """Encodes parses in a format. In CoNLL-U, sentences that do not come from CoNLL-U get ids in the order in which
    they are written."""

    target: Target
    deps: bool = False
    tags: bool = False
    confidence: bool = False
    show: tuple[str, ...] | None = None  # the columns in drawn trees
    ids: Identifiers = field(default_factory=Identifiers)
    documents: Documents = field(default_factory=Documents)

    def sentence(self, parse: Parse, before: bytes = b"", text: str | None = None) -> bytes:
        """Encode a sentence that was given in words. ``before``: the bytes of CoNLL-U before it that belong to no
        sentence; ``text``: its text with its own white space, if that is known."""
        if self.target not in _WITHOUT_COMMENTS and parse.sentence.lines is None:
            parse = self.with_comments(parse)
        if self.target is Target.json:
            doc_id = self.documents.id_of(parse.sentence)
            return json_line(identity(parse, {} if doc_id is None else {"doc_id": doc_id}) | parse.to_dict())
        return (before if self.target is Target.conllu else b"") + self._encode(parse)

    def end(self, rest: bytes = b"") -> bytes:
        """Return the end of the output. ``rest``: the bytes of CoNLL-U after the last sentence."""
        return rest if self.target is Target.conllu else b""

    def document(self, document: Document, source: SourceText, *, is_first: bool) -> bytes:
        """Encode a text; ``is_first``: CoNLL-U begins a new document with it."""
        if self.target in _WITHOUT_COMMENTS or not document.sentences:
            return b"".join(map(self._encode, document))
        name = self.ids.new_document(source.file, source.doc_id) if is_first else None
        names = [self.ids.new_sentence() for _ in document]
        if self.target is Target.json:
            given = _file(source.file) | {"doc_id": self.ids.document}
            found = zip(names, document.sentence_dicts(source.number, source.start), strict=True)
            return b"".join(json_line(given | {"sent_id": sent_id} | sentence) for sent_id, sentence in found)
        headers = (header.encode() for header in document.headers(names, name))
        return b"".join(map(self._encode, document, headers))

    def with_comments(self, parse: Parse) -> Parse:
        """Return a parse of a line of tokens with the comments of CoNLL-U."""
        file = parse.sentence.source
        begin = [f"# newdoc id = {self.ids.new_document(file)}"] if self.ids.is_new(file) else []
        text = " ".join(parse.sentence.forms)
        comments = (*begin, f"# sent_id = {self.ids.new_sentence()}", f"# text = {text}")
        first, *others = (_commented(each, comments) for each in parse.n_best)
        return replace(first, alternatives=tuple(others))

    def _encode(self, parse: Parse, header: bytes = b"") -> bytes:
        """Encode the trees of a sentence, with the first comments of CoNLL-U, if it has none of its own."""
        return b"".join(self._encode_tree(each, header) for each in parse.n_best)

    def _encode_tree(self, parse: Parse, header: bytes) -> bytes:
        if self.target is Target.conllu:
            block = header + parse.to_bytes(deps=self.deps, tags=self.tags, confidence=self.confidence)
            return block if parse.ranking is None else parse.ranking.annotate(block)
        phrases = parse.constituents
        if phrases is not None and self.target is Target.brackets:
            return f"{phrases}\n".encode(errors="replace")
        if phrases is not None:
            tree = draw_constituents(phrases)
        else:
            width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
            tree = parse.draw(width=width, confidence=self.confidence, show=self.show)
        title = "" if parse.ranking is None else f"{parse.ranking}\n"
        return f"{title}{tree}\n\n".encode(errors="replace")


def _commented(parse: Parse, comments: tuple[str, ...]) -> Parse:
    sentence, tagged = (replace(each, comments=comments) for each in (parse.sentence, parse.tagged))
    return replace(parse, sentence=sentence, tagged=tagged)


def identity(parse: Parse, document: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return the file, the id and the text of a sentence, as far as it has them, and what is known of its document."""
    metadata = parse.sentence.metadata
    own = {key: metadata[key] for key in ("sent_id", "text") if key in metadata}
    return {**_file(parse.sentence.source), **(document or {}), **own}


def _file(name: str | None) -> dict[str, object]:
    if name is None or name == STDIN:
        return {}
    return {"file": os.fsencode(name).decode(errors="backslashreplace")}  # a name may have any bytes


def json_line(values: Mapping[str, object]) -> bytes:
    """Encode an object as a line of JSON."""
    return (json.dumps(values, ensure_ascii=False) + "\n").encode(errors="replace")
