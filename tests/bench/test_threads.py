"""The benchmark of threads runs, and its rounds take turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.threads import measure, numbers_of_threads, works
from easyfirst.parser import Parser
from tests.small_models import TREEBANK, small_model, small_tagger, small_tokenizer


@pytest.mark.parametrize(("most", "wanted"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_numbers_of_threads(most: int, wanted: list[int]) -> None:
    assert numbers_of_threads(most) == wanted


def test_every_input_has_the_same_words_for_any_number_of_threads(tmp_path: Path) -> None:
    Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(tmp_path)
    found = works(str(tmp_path), TREEBANK)
    assert set(found) == {"sentences with tags", "raw text"}
    for work in found.values():
        assert work(1) == work(2) > 0


def test_rounds_take_turns() -> None:
    called: list[int] = []
    n_words, seconds = measure(lambda threads: called.append(threads) or 7, [1, 2], 3)
    assert n_words == 7
    assert called == [1, 1, 2, 1, 2, 1, 2]  # the first one warms up
    assert [len(times) for times in seconds.values()] == [3, 3]
