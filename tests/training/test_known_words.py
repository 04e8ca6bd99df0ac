"""The frequent words of a plain text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from easyfirst.errors import DataError
from easyfirst.model.word_cuts import MIN_SEEN
from easyfirst.training.known_words import read_known_words


def test_frequent_words_of_letters_are_known(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Vermont do n't x1 Vermont\n" * MIN_SEEN + "rare words\n", encoding="utf-8")
    words = read_known_words(path)
    assert words.counts == {"Vermont": 2 * MIN_SEEN, "do": MIN_SEEN}
    packed = tmp_path / "text.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_known_words(packed) == words
    path.write_text("Vienna " * MIN_SEEN, encoding="utf-8")
    assert read_known_words(path).sha256 != words.sha256


def test_marks_belong_to_their_letters(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("தமிழ் " * MIN_SEEN, encoding="utf-8")
    assert read_known_words(path).counts == {"தமிழ்": MIN_SEEN}


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(DataError, match=r"text.txt:2: byte 0xFF is not valid UTF-8"):
        read_known_words(path)
    path.write_text("only rare words", encoding="utf-8")
    with pytest.raises(DataError, match=r"text.txt: no word occurs 5 times in this text; give a longer one"):
        read_known_words(path)
    with pytest.raises(DataError, match="no such file"):
        read_known_words(tmp_path / "missing")
