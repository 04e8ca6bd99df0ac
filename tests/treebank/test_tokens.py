"""Tokenised text: one sentence per line."""

from __future__ import annotations

import io

import pytest

from easyfirst.errors import DataError
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tokens import read_tokens


def read(raw: bytes | str) -> list[Sentence]:
    return list(read_tokens(io.BytesIO(raw.encode() if isinstance(raw, str) else raw), "x.txt"))


def test_words_are_separated_by_spaces_and_tabs_only() -> None:
    (sentence,) = read(" The  fox\tpaid 10\u00a0000\u2003€ a\u2028b\u0085c \n")
    assert sentence.forms == ("The", "fox", "paid", "10\u00a0000\u2003€", "a\u2028b\u0085c")


def test_empty_lines_are_passed_over_and_lines_still_counted() -> None:
    first, second = read("\ufeffa b\r\n\r\n \t\nc")
    assert (first.forms, first.line, first.word_line(1)) == (("a", "b"), 1, 1)
    assert (second.forms, second.source, second.line, second.word_line(0)) == (("c",), "x.txt", 4, 4)


def test_a_line_becomes_conllu() -> None:
    (sentence,) = read("# 👩\u200d🍳\n")
    assert sentence.to_bytes().decode() == "1\t#\t_\t_\t_\t_\t_\t_\t_\t_\n2\t👩\u200d🍳\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a\ncaf\xe9\n", r"^x\.txt:2: byte 0xE9 is not valid UTF-8"),
        (b"a\rb\r", r"^x\.txt:1: a carriage return inside the line; end lines with line feeds"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(raw: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(raw)
