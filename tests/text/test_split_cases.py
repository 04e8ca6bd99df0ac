"""Hand-written cases of tokens and sentences, which the bundled tokenizer must get right."""

from __future__ import annotations

import pytest

import easyfirst
from bench.split_cases import FILES, FOLDER, read_case, read_cases, shown
from easyfirst.text.tokenizing import Tokenizer

SHARE = 0.95  # of the cases that must be right entirely
OLD_SHARE = 0.55  # for a tokenizer trained before augmentation, which does not read line ends


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return easyfirst.load("en").require_tokenizer()


def test_a_case_shows_its_text_tokens_and_sentences() -> None:
    case = read_case("Do·n't go¦. ‖ Why¦? ‖⏎ a b⏎c ‖¦ d")
    assert case.text == "Don't go. Why?\na b\ncd"
    assert shown(case.expected) == "Do·n't go . ‖ Why ? ‖ a b c ‖ d"


def test_there_are_many_cases_and_none_is_there_twice() -> None:
    cases = [case for name in FILES for case in read_cases(FOLDER / name)]
    assert len(cases) >= 300
    assert len({case.text for case in cases}) == len(cases)
    assert all(case.group and all(case.expected) for case in cases)
    for case in cases:
        joined = "".join("".join(words) for sentence in case.expected for words in sentence)
        assert joined == "".join(case.text.split())


def test_the_bundled_tokenizer_gets_most_cases_right(tokenizer: Tokenizer) -> None:
    cases = [case for name in FILES for case in read_cases(FOLDER / name)]
    wrong = [case for case in cases if shown(tokenizer.tokenize(case.text)) != shown(case.expected)]
    lines = [f"{shown(case.expected)}\n  {shown(tokenizer.tokenize(case.text))}" for case in wrong]
    least = SHARE if tokenizer.model.vocabulary.reads_lines else OLD_SHARE
    assert len(wrong) <= (1 - least) * len(cases), "\n".join([f"{len(wrong)} of {len(cases)} are wrong", *lines])
