"""Labelled bracketing, against an obvious implementation and against PYEVALB."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

from easyfirst.constituents.brackets import read_bracket_lines
from easyfirst.constituents.scores import ALL, EVALB, length_class, score_constituents
from easyfirst.constituents.tree import Constituents
from easyfirst.errors import DataError
from tests.constituents.strategies import pairs


def read(*texts: str) -> list[Constituents]:
    return list(read_bracket_lines([text.encode() for text in texts], "test.ptb"))


GOLD = "(TOP (S (NP (PRP It)) (VP (VBZ gives) (PRT (RP up)) (, ,)) (. .)))"


def test_evalb_ignores_punctuation_and_top() -> None:
    system = "(S (NP (PRP It)) (VP (VBZ gives) (ADVP (RB up))) (X (, ,) (. .)))"
    scores = score_constituents(read(GOLD), read(system))
    assert (scores.phrases.gold, scores.phrases.system, scores.phrases.correct) == (4, 4, 4)
    assert scores.exact == 1
    assert scores.correct_tags == 4
    strict = score_constituents(read(GOLD), read(system), ALL).phrases
    assert (strict.gold, strict.system, strict.correct) == (5, 5, 2)


def test_by_label_and_length() -> None:
    wrong = "(S (NP (PRP It)) (VP (VBZ gives) (NP (RP up)) (, ,)) (. .))"
    values = score_constituents(read(GOLD), read(wrong)).to_dict()
    assert values["labels"]["NP"] | {"precision": 0, "f1": 0} == {
        "gold": 1,
        "system": 2,
        "correct": 1,
        "precision": 0,
        "recall": 100.0,
        "f1": 0,
    }
    assert values["labels"]["ADVP"]["recall"] == 0
    assert values["lengths"]["1-10"]["gold"] == 4
    assert [length_class(n) for n in (1, 10, 11, 60, 61)] == ["1-10", "1-10", "11-20", "41-60", "61+"]


def test_equal_phrases_are_counted_as_often_as_both_have_them() -> None:
    one, two = "(NP (NN a))", "(NP (NP (NN a)))"
    found = score_constituents(read(two), read(one)).phrases
    assert (found.gold, found.system, found.correct) == (2, 1, 1)


@given(pair=pairs())
def test_against_an_obvious_implementation(pair: tuple[Constituents, Constituents]) -> None:
    gold, system = pair
    wanted = [(phrase.label, phrase.span) for phrase in gold]
    found = [(phrase.label, phrase.span) for phrase in system]
    n_right = 0
    for bracket in wanted:
        if bracket in found:
            found.remove(bracket)
            n_right += 1
    scores = score_constituents([gold], [system], ALL).phrases
    assert (scores.gold, scores.correct) == (len(wanted), n_right)
    assert score_constituents([gold], [gold], EVALB).exact == 1


@given(pair=pairs())
def test_against_pyevalb(pair: tuple[Constituents, Constituents]) -> None:
    parser: Any = pytest.importorskip("PYEVALB.parser", reason="pip install PYEVALB")
    scorer: Any = pytest.importorskip("PYEVALB.scorer", reason="pip install PYEVALB")
    # it counts equal phrases once as right, so they are left to the test above
    gold, system = (Constituents(each.forms, each.tags, tuple(dict.fromkeys(each.nodes))) for each in pair)
    assume(gold.nodes and system.nodes)
    made = [parser.create_from_bracket_string(str(tree)) for tree in (gold, system)]
    result = scorer.Scorer().score_trees(*made)
    found = score_constituents([gold], [system], ALL)
    assert (result.gold_brackets, result.test_brackets) == (found.phrases.gold, found.phrases.system)
    assert result.matched_brackets == found.phrases.correct
    assert result.correct_tags == found.correct_tags


def test_other_words() -> None:
    with pytest.raises(DataError, match=r"test.ptb:1: tree 1 has other words .*word 2 is 'c' instead of 'b'"):
        score_constituents(read("(S (A a) (B b))"), read("(S (A a) (B c))"))
    with pytest.raises(DataError, match="the system's trees end before tree 2; give as many of both"):
        score_constituents(read(GOLD, GOLD), read(GOLD))
