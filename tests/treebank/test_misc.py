"""Entries of MISC, and the confidence and steps stored there."""

from __future__ import annotations

import pytest

from easyfirst.errors import DataError
from easyfirst.treebank.misc import entries, read_confidence, read_steps, with_entries
from easyfirst.treebank.sentence import Sentence


@pytest.mark.parametrize("misc", ["a", "a=b", "A=1|b|C=x=y", "a||b"])
def test_entries_make_up_the_cell(misc: str) -> None:
    assert "|".join(map("".join, entries(misc))) == misc
    assert with_entries(misc, {}) == misc


def test_an_empty_cell_has_no_entries() -> None:
    assert list(entries("_")) == list(entries("")) == []
    assert list(entries("A=x=y|b")) == [("A", "=", "x=y"), ("b", "", "")]


def test_confidence_and_steps_of_each_word() -> None:
    sentence = Sentence.from_words(["a", "b", "c"]).with_misc([{"ArcConf": "0.25", "Step": "2"}, {}, {"Step": "1"}])
    assert read_confidence(sentence) == [0.25, None, None]
    assert read_steps(sentence) == [2, None, 1]


def test_values_that_are_no_numbers_are_errors() -> None:
    with pytest.raises(DataError, match="ArcConf=high in MISC; it must be a number from 0 to 1"):
        read_confidence(Sentence.from_words(["a"]).with_misc([{"ArcConf": "high"}]))
    with pytest.raises(DataError, match=r"Step=1\.5 in MISC; it must be a whole number"):
        read_steps(Sentence.from_words(["a"]).with_misc([{"Step": "1.5"}]))
