"""What ``easyfirst parse`` writes: CoNLL-U, JSON (an object a line), or trees drawn for the terminal."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, TextIO

from easyfirst.cli.inputs import STDIN
from easyfirst.cli.outputs import is_standard_output

if TYPE_CHECKING:
    from easyfirst.cli.texts import Place
    from easyfirst.parser import Parser
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse


class Target(str, Enum):
    """What the output is."""

    tree = "tree"
    conllu = "conllu"
    json = "json"


def target_of(wanted: Target | None, output: str | None) -> Target:
    """What was asked for; else trees on a terminal and CoNLL-U anywhere else."""
    if wanted is not None:
        return wanted
    return Target.tree if is_standard_output(output) and is_terminal(sys.stdout) else Target.conllu


def is_terminal(stream: TextIO | None) -> bool:
    """Python's streams are None if they were closed from the start."""
    return stream is not None and stream.isatty()


def check_calibrated(parser: Parser, name: str) -> None:
    """Raise an error at once if a model cannot say how sure it is."""
    if parser.model.calibration is None:
        from easyfirst.confidence.estimates import no_calibration

        raise no_calibration(name, name)


def sentence_writer(target: Target, *, deps: bool, tags: bool, confidence: bool = False) -> Callable[[Parse], bytes]:
    """How a sentence that was given in words is written."""
    if target is Target.conllu:
        return lambda parse: parse.to_bytes(deps=deps, tags=tags, confidence=confidence)
    if target is Target.json:
        return lambda parse: _json_line(identity(parse) | parse.to_dict())
    width = _width()
    return lambda parse: _drawn(parse, width, confidence=confidence)


def identity(parse: Parse) -> dict[str, object]:
    """Which file the sentence is from, and what a treebank calls it, if it does."""
    metadata = parse.sentence.metadata
    return _file(parse.sentence.source) | {key: metadata[key] for key in ("sent_id", "text") if key in metadata}


def document_writer(target: Target, *, deps: bool, confidence: bool = False) -> Callable[[Document, Place], bytes]:
    """How a document that comes from some place is written."""
    if target is Target.conllu:
        return lambda document, place: (
            (b"# newdoc\n" if place.is_first and document.sentences else b"")
            + b"".join(parse.to_bytes(deps=deps, confidence=confidence) for parse in document)
        )
    if target is Target.json:
        return _document_lines
    width = _width()
    return lambda document, _: b"".join(_drawn(parse, width, confidence=confidence) for parse in document)


def _document_lines(document: Document, place: Place) -> bytes:
    """A line for each sentence, which says in which file and document it is, where that begins in the file, and where
    the tokens stand in the document."""
    lines: list[bytes] = []
    for n, tokens in enumerate(document.tokens):
        text = document.text[tokens[0].start : tokens[-1].end]
        begin: dict[str, object] = {"document": place.number, "document_start": place.start, "text": text}
        lines.append(_json_line(_file(place.file) | begin | document.sentence_dict(n)))
    return b"".join(lines)


def _file(name: str | None) -> dict[str, object]:
    """Which of the inputs a sentence is from, unless it is no file."""
    return {} if name in (None, STDIN) else {"file": name}


def _json_line(values: dict[str, object]) -> bytes:
    return (json.dumps(values, ensure_ascii=False) + "\n").encode(errors="replace")


def _drawn(parse: Parse, width: int | None, *, confidence: bool) -> bytes:
    return f"{parse.draw(width=width, confidence=confidence)}\n\n".encode(errors="replace")


def _width() -> int | None:
    """The terminal's width; None if this is no terminal."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
