"""Sentences that are too long are cut where that is most probable."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.model.sentence_lengths import SentenceLengths
from easyfirst.nn.arrays import Floats
from easyfirst.text import long_sentences as module
from easyfirst.text.long_sentences import sentence_ends

ODDS = st.lists(st.floats(-8, 4, width=32), min_size=1, max_size=9).map(np.array)
LENGTHS = st.builds(SentenceLengths, st.just(99), st.integers(1, 6), st.integers(1, 3))


def value(log_odds: Floats, lengths: SentenceLengths, ends: tuple[int, ...]) -> float:
    """The log-odds of the ends, less what lengths beyond the usual one cost."""
    bounds = pairwise([0, *ends, len(log_odds)])
    cost = sum((max(0, end - begin - lengths.usual) / lengths.excess) ** 2 / 2 for begin, end in bounds)
    return sum(float(log_odds[end - 1]) for end in ends) - cost


@given(ODDS, LENGTHS)
def test_long_sentences_are_cut_where_it_is_best(log_odds: Floats, lengths: SentenceLengths) -> None:
    found = sentence_ends(log_odds.copy(), lengths)
    probable = np.flatnonzero(sentence_ends(log_odds.copy(), None))
    begin = 0
    for end in (probable + 1).tolist():
        odds = log_odds[begin:end]
        ends = tuple((np.flatnonzero(found[begin : end - 1]) + 1).tolist())
        if len(odds) <= lengths.usual:
            assert not ends
        else:
            places = [cuts for n in range(len(odds)) for cuts in combinations(range(1, len(odds)), n)]
            best = max(value(odds, lengths, cuts) for cuts in places)
            assert abs(value(odds, lengths, ends) - best) < 1e-5
        assert found[end - 1]
        begin = end


@given(ODDS)
def test_without_lengths_the_probability_decides(log_odds: Floats) -> None:
    expected = [*(log_odds[:-1] > 0).tolist(), True]
    assert sentence_ends(log_odds, None).tolist() == expected


def test_in_bare_text_an_end_may_be_less_probable() -> None:
    odds, lengths = np.array([-9, -0.4, -9, -0.6, -9]), SentenceLengths(long=99, usual=99, excess=5)
    assert np.flatnonzero(sentence_ends(odds.copy(), lengths)).tolist() == [4]
    assert np.flatnonzero(sentence_ends(odds.copy(), lengths, is_bare=True)).tolist() == [1, 4]
    assert np.flatnonzero(sentence_ends(odds.copy(), None, is_bare=True)).tolist() == [4]  # an older tokenizer


def test_a_cut_that_costs_more_than_the_length_is_not_made() -> None:
    lengths = SentenceLengths(long=999, usual=10, excess=5)
    odds = np.full(20, -3.0)
    assert np.flatnonzero(sentence_ends(odds, lengths)).tolist() == [19]  # ten tokens too many cost 2
    odds[12] = -1
    assert np.flatnonzero(sentence_ends(odds, lengths)).tolist() == [12, 19]  # 1, and 0.18 for three too many


def test_a_long_sentence_is_cut_where_an_end_is_nearly_as_probable_as_not() -> None:
    lengths = SentenceLengths(long=10, usual=50, excess=5)
    odds = np.full(11, -3.0)
    odds[4] = -0.9
    assert np.flatnonzero(sentence_ends(odds[:10], lengths)).tolist() == [9]
    assert np.flatnonzero(sentence_ends(odds, lengths)).tolist() == [4, 10]


def test_every_sentence_is_cut_if_it_gets_long_enough() -> None:
    is_end = sentence_ends(np.full(400, -20.0), SentenceLengths(long=999, usual=10, excess=5))
    assert max(np.diff(np.flatnonzero(is_end), prepend=-1)) < 60


def test_no_sentence_is_longer_than_the_limit() -> None:
    n = 3 * module.MAX_SENTENCE_TOKENS
    is_end = sentence_ends(np.full(n, -1e9), SentenceLengths(long=999, usual=50, excess=10))
    assert max(np.diff(np.flatnonzero(is_end), prepend=-1)) <= module.MAX_SENTENCE_TOKENS
