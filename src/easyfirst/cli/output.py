"""What ``easyfirst parse`` writes: CoNLL-U, JSON (an object a line), or trees drawn for the terminal."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from easyfirst.cli.files import is_standard_output

if TYPE_CHECKING:
    from easyfirst.parsing.batch import Parse
    from easyfirst.text.document import Document


class Target(str, Enum):
    """What the output is."""

    tree = "tree"
    conllu = "conllu"
    json = "json"


def target_of(wanted: Target | None, output: str | None) -> Target:
    """What was asked for; else trees on a terminal and CoNLL-U anywhere else."""
    if wanted is not None:
        return wanted
    return Target.tree if is_standard_output(output) and sys.stdout.isatty() else Target.conllu


def sentence_writer(target: Target, *, deps: bool, tags: bool) -> Callable[[Parse], bytes]:
    """How a sentence that was given in words is written."""
    if target is Target.conllu:
        return lambda parse: parse.to_bytes(deps=deps, tags=tags)
    if target is Target.json:
        return lambda parse: _json_line(parse.to_dict())
    width = _width()
    return lambda parse: _drawn(parse, width)


def document_writer(target: Target, *, deps: bool) -> Callable[[Document, int], bytes]:
    """How a document, counted from 1, is written."""
    if target is Target.conllu:
        return lambda document, _: (
            (b"# newdoc\n" if document.sentences else b"") + b"".join(parse.to_bytes(deps=deps) for parse in document)
        )
    if target is Target.json:
        return _document_lines
    width = _width()
    return lambda document, _: b"".join(_drawn(parse, width) for parse in document)


def _document_lines(document: Document, number: int) -> bytes:
    """A line for each sentence, which says in which document it is, and where its tokens stand in that."""
    lines: list[bytes] = []
    for n, tokens in enumerate(document.tokens):
        text = document.text[tokens[0].start : tokens[-1].end]
        lines.append(_json_line({"document": number, "text": text, **document.sentence_dict(n)}))
    return b"".join(lines)


def _json_line(values: dict[str, object]) -> bytes:
    return (json.dumps(values, ensure_ascii=False) + "\n").encode(errors="replace")


def _drawn(parse: Parse, width: int | None) -> bytes:
    return f"{parse.draw(width=width)}\n\n".encode(errors="replace")


def _width() -> int | None:
    """The terminal's width; None if this is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None
