"""Tokenised text: one sentence per line, its words separated by spaces or tabs.

Only the ASCII space and tab separate words: a no-break space, or any other Unicode space, is part of its word.
Empty lines and lines of only spaces and tabs are skipped, since CoNLL-U cannot hold a sentence without words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from easyfirst.errors import DataError
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode_text, read_lines


def read_tokens(stream: Iterable[bytes], name: str) -> Iterator[Sentence]:
    """Yield the sentences of a stream, each as soon as its line has been read."""
    for number, line in enumerate(read_lines(stream, name), 1):
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        text = decode_text(line, name=name, line=number).rstrip("\r\n")
        if "\r" in text:
            raise DataError("a carriage return inside the line; end lines with line feeds", source=name, line=number)
        if forms := re.findall(r"[^ \t]+", text):
            yield replace(Sentence.from_words(forms), source=name, line=number)
