"""The output of ``easyfirst parse``: CoNLL-U, JSON (an object per line), or trees drawn for the terminal."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TextIO

from easyfirst.cli.outputs import is_standard_output
from easyfirst.cli.sources import STDIN, SourceText

if TYPE_CHECKING:
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse


class Target(str, Enum):
    """The format of the output."""

    tree = "tree"
    conllu = "conllu"
    json = "json"


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; None is a stream that was closed from the start."""
    return stream is not None and stream.isatty()


def writes_terminal(output: str | None) -> bool:
    """Return whether an output is a terminal."""
    return is_standard_output(output) and is_terminal(sys.stdout)


@dataclass(frozen=True, slots=True)
class Writer:
    """Encodes parses in a format."""

    target: Target
    deps: bool = False
    tags: bool = False
    confidence: bool = False

    def sentence(self, parse: Parse) -> bytes:
        """Encode a sentence that was given in words."""
        if self.target is Target.json:
            return json_line(identity(parse) | parse.to_dict())
        return self._encode(parse)

    def document(self, document: Document, source: SourceText, *, is_first: bool) -> bytes:
        """Encode a text; ``is_first``: CoNLL-U begins a new document with it."""
        if self.target is Target.json:
            found = document.sentence_dicts(source.number, source.start)
            return b"".join(json_line(_file(source.file) | sentence) for sentence in found)
        begin = b"# newdoc\n" if is_first and document.sentences and self.target is Target.conllu else b""
        return begin + b"".join(map(self._encode, document))

    def _encode(self, parse: Parse) -> bytes:
        if self.target is Target.conllu:
            return parse.to_bytes(deps=self.deps, tags=self.tags, confidence=self.confidence)
        width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
        return f"{parse.draw(width=width, confidence=self.confidence)}\n\n".encode(errors="replace")


def identity(parse: Parse) -> dict[str, object]:
    """Return the file, the id and the text of a sentence, as far as it has them."""
    metadata = parse.sentence.metadata
    return _file(parse.sentence.source) | {key: metadata[key] for key in ("sent_id", "text") if key in metadata}


def _file(name: str | None) -> dict[str, object]:
    return {} if name in (None, STDIN) else {"file": name}


def json_line(values: Mapping[str, object]) -> bytes:
    """Encode an object as a line of JSON."""
    return (json.dumps(values, ensure_ascii=False) + "\n").encode(errors="replace")
