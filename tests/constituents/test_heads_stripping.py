"""Head rules, and the removal of traces and function tags."""

from __future__ import annotations

import pytest

from easyfirst.constituents.brackets import read_bracket_lines
from easyfirst.constituents.heads import head_rules
from easyfirst.constituents.stripping import read_stripping, strip
from easyfirst.errors import ConfigError


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("S", "NP-SBJ VP .", 1),
        ("NP", "DT JJ NN NN", 3),
        ("NP", "NP PP SBAR", 0),
        ("NP", "NP , CC NP", 0),
        ("NP", "NP POS", 1),
        ("NP", "DT JJ", 1),
        ("NP", "-LRB- DT -RRB-", 1),
        ("VP", "MD VP", 0),
        ("VP", "ADVP VBD NP", 1),
        ("VP", "VP CC VP", 0),
        ("PP", "IN NP", 0),
        ("SBAR", "IN S", 0),
        ("ADJP", "RB JJ", 1),
        ("HEADING", "CD . NN", 2),
        ("UNSEEN", "A B .", 1),
        ("UNSEEN", ". ,", 1),
    ],
)
def test_ptb(label: str, children: str, head: int) -> None:
    assert head_rules("ptb")(label, children.split()) == head


def test_fallbacks() -> None:
    assert head_rules("left")("NP", ["A", "B"]) == 0
    assert head_rules("right")("NP", ["A", "B"]) == 1
    with pytest.raises(ConfigError, match="unknown head rules 'middle'; there are: ptb, left, right"):
        head_rules("middle")


def test_strip() -> None:
    text = "(S-1 (NP-SBJ=2 (-NONE- *)) (NP (-NONE- *)) (VP (VB Go) (ADVP-TMP|X (RB now)) (NP (-LRB- -LRB-))))"
    [tree] = read_bracket_lines([text.encode()], "test")
    assert str(strip(tree, ())) == text
    without = "(S-1 (VP (VB Go) (ADVP-TMP|X (RB now)) (NP (-LRB- -LRB-))))"
    assert str(strip(tree, ("traces",))) == without
    assert str(strip(tree, ("traces", "functions"))) == "(S (VP (VB Go) (ADVP (RB now)) (NP (-LRB- -LRB-))))"
    [empty] = read_bracket_lines([b"(S (NP (-NONE- *)))"], "test")
    assert strip(empty, ("traces",)) is None


def test_names() -> None:
    assert read_stripping("traces, functions") == ("traces", "functions")
    assert read_stripping("none") == ()
    with pytest.raises(ConfigError, match="--strip tags: there are traces, functions and none"):
        read_stripping("tags")
