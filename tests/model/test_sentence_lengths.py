"""The lengths of sentences."""

from __future__ import annotations

import pytest

from easyfirst.model.sentence_lengths import MIN_SENTENCES, SentenceLengths


def test_most_sentences_have_a_usual_length() -> None:
    assert SentenceLengths.of([*[8] * 920, *[10] * 70, *[20] * 5, *[40] * 5]) == SentenceLengths(8, 10, 20)


def test_if_none_is_longer_a_token_more_is_rare() -> None:
    assert SentenceLengths.of([7] * MIN_SENTENCES) == SentenceLengths(7, 7, 1)


def test_few_sentences_tell_nothing() -> None:
    assert SentenceLengths.of([7] * (MIN_SENTENCES - 1)) is None
    assert SentenceLengths.of([]) is None


def test_they_can_be_written_and_read() -> None:
    lengths = SentenceLengths(30, 50, 12)
    assert SentenceLengths.from_dict(lengths.to_dict()) == lengths


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"usual": 1},
        {"long": 1, "usual": 0, "excess": 1},
        {"long": 1, "usual": 1, "excess": 0.5},
        [1, 2],
    ],
)
def test_what_is_damaged_is_refused(values: object) -> None:
    with pytest.raises(ValueError, match=r"usual|excess"):
        SentenceLengths.from_dict(values)
