"""The format of a file, recognised by its name or, for an input, by its first lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import TypeVar

from easyfirst.cli.options import Format
from easyfirst.treebank.streams import BYTE_ORDER_MARK

SUFFIXES = {
    ".conllu": Format.conllu,
    ".conll": Format.conllu,
    ".conllx": Format.conllu,
    ".txt": Format.text,
    ".text": Format.text,
    ".parquet": Format.parquet,
}
PARSED_SUFFIXES = {
    **dict.fromkeys((".conllu", ".conll", ".conllx"), "conllu"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    ".parquet": "parquet",
}
"""The formats of parsed sentences."""
BRACKET_SUFFIXES = {".ptb": "brackets", ".mrg": "brackets"}
"""Constituency trees."""

CONLLU_LINE = re.compile(rb"1(-[0-9]+)?\t([^\t]*\t){8}")
SPACED_CONLLU_LINE = re.compile(rb"1(-[0-9]+)?( +[^ ]+){9}\s*$")

# What decides on CoNLL-U is looser, so that a file with mistakes is still recognised and the mistakes are reported.
_METADATA = re.compile(rb"#\s*(sent_id\s*=|text(_\w+)?\s*=|new(doc|par)(\s+id\s*=.*)?\s*$|global\.columns\s*=)")
_WORD_LINE = re.compile(rb"[0-9]+([-.][0-9]+)?\t([^\t]*\t){6}|([^\t]*\t){9}")
_SPACED_WORD_LINE = re.compile(rb"1(-[0-9]+)?( +\S+){5} +([0-9]+|_)( +\S+){3}\s*$")  # with a number as HEAD


_T = TypeVar("_T")


def by_suffix(name: str | None, formats: Mapping[str, _T]) -> _T | None:
    """Return the format that the suffix of a name stands for, without ``.gz``."""
    return None if name is None else formats.get(PurePath(name.lower().removesuffix(".gz")).suffix)


def format_of_lines(lines: Iterable[bytes]) -> Format | None:
    """Return the format of an input, or None if it is blank. No line is read after the one that decides.

    A line of a word or a comment with metadata, as in ``# sent_id = 1``, decides on CoNLL-U, and any other line that is
    neither blank nor a comment on text. An input of other comments only is text: headings in Markdown, hashtags.
    """
    has_comments = False
    for number, line in enumerate(lines):
        if number == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if _METADATA.match(line):
            return Format.conllu
        if line.startswith(b"#"):
            has_comments = True
        elif line.strip():
            return Format.conllu if _WORD_LINE.match(line) or _SPACED_WORD_LINE.match(line) else Format.text
    return Format.text if has_comments else None
