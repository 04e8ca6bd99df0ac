"""Rules for multiword tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ModelError
from easyfirst.model.tokenizer_vocabulary import Rewriting

SPANISH = [("del", ("de", "el"))] * 3 + [("al", ("a", "el"))] * 2 + [("dámelo", ("da", "me", "lo"))]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("del", ("de", "el")),
        ("Del", ("De", "el")),
        ("DEL", ("DE", "EL")),
        ("al", ("a", "el")),
        ("Al", ("A", "el")),
        ("dámelo", ("da", "me", "lo")),
        ("Támelo", ("Ta", "me", "lo")),  # unseen: the longest end that fits
        ("xyz", ("xyz",)),
        ("", ("",)),
    ],
)
def test_tokens_are_rewritten(form: str, words: tuple[str, ...]) -> None:
    assert Rewriting.of(SPANISH).rewrite(form) == words


def test_a_whole_token_may_change() -> None:
    rewriting = Rewriting.of([("au", ("à", "le")), ("Aux", ("À", "les"))])
    assert rewriting.rewrite("au") == ("à", "le")
    assert rewriting.rewrite("Au") == ("À", "le")
    assert rewriting.rewrite("AUX") == ("À", "LES")


def test_the_most_frequent_of_several_ways_counts() -> None:
    assert Rewriting.of([("ab", ("a", "c")), ("ab", ("a", "d")), ("ab", ("a", "d"))]).rewrite("ab") == ("a", "d")


def test_a_rule_that_would_leave_an_empty_word_does_not_fit() -> None:
    rewriting = Rewriting.of([("zum", ("zu", "dem"))])
    assert rewriting.rewrite("zum") == ("zu", "dem")
    assert rewriting.rewrite("m") == ("m",)


def test_needless_rules_are_left_out() -> None:
    assert dict(Rewriting.of([("xam", ("xa", "dem")), ("yam", ("ya", "dem"))]).rules) == {"m": ("", "dem")}


def test_case_that_changes_the_length_is_left_alone() -> None:
    assert Rewriting.of([("İn", ("İ", "x"))]).rewrite("İn") == ("İ", "x")


words = st.text("aAbß", min_size=1, max_size=4)
examples = st.lists(st.tuples(words, st.lists(words, min_size=2, max_size=3).map(tuple)), max_size=8)


@settings(deadline=None)
@given(examples, words)
def test_there_are_always_words_and_none_is_empty(pairs: list[tuple[str, tuple[str, ...]]], form: str) -> None:
    rewriting = Rewriting.of(pairs)
    assert rewriting.rewrite(form)
    assert "" not in rewriting.rewrite(form)
    assert Rewriting.from_dict(rewriting.to_dict()) == rewriting


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=5), st.lists(st.text("abc", min_size=1), min_size=2)))
def test_what_was_seen_is_known(pairs: dict[str, list[str]]) -> None:
    rewriting = Rewriting.of(pairs.items())
    whole = {
        form: words
        for form, words in pairs.items()
        if not any(other.endswith(form) for other in pairs if other != form)
    }
    for form, parts in whole.items():
        assert rewriting.rewrite(form) == tuple(parts)


@pytest.mark.parametrize("rules", [{"a": []}, {"a": "bc"}, {"": ["a"]}, {"a": [1, "b"]}, {"a": ["b", ""]}])
def test_damaged_rules_are_refused(rules: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="damaged"):
        Rewriting.from_dict(rules)
