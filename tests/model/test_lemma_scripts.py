"""Lemma scripts: what they make of a form, and which texts are scripts."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from easyfirst.model.lemma_scripts import apply_script, check_script, script_of

ANY = st.text(min_size=1, max_size=12)
ALIKE = st.text("aAbBiIİıßǅΣσς|+-.=_ é\N{COMBINING DOT ABOVE}\N{GOTHIC LETTER AHSA}", min_size=1, max_size=8)
FORMS = st.one_of(ANY, ALIKE)
SCRIPT = re.compile(r"=.+|(lower|title|keep|upper)\|((?!\|)[.-]|\+.)*\|([.-]|\+.)*", re.DOTALL)


@pytest.mark.parametrize(
    ("form", "lemma", "script"),
    [
        ("cities", "city", "lower||---+y"),
        ("Cities", "city", "lower||---+y"),
        ("LONDON", "London", "title||"),
        ("London", "London", "title||"),
        ("iPhones", "iPhone", "keep||-"),
        ("usa", "USA", "upper||"),
        ("gesehen", "sehen", "lower|--|"),
        ("is", "be", "=be"),
        ("12", "12", "lower||"),
        ("a|b", "ab|", "lower||-.+|"),
        ("C++", "c+", "lower||-"),
        ("aujourd'hui", "à l'hui", "lower|-------+à+ +l|"),
        ("çalışıyorlar", "çalış", "lower||-------"),
        ("İstanbul'da", "İstanbul", "keep||---"),
        ("𐌰𐌱𐌲", "𐌰𐌱", "lower||-"),
        ("x", "_", "=_"),
    ],
)
def test_scripts(form: str, lemma: str, script: str) -> None:
    assert script_of(form, lemma) == script
    assert apply_script(form, script) == lemma


@given(FORMS, FORMS)
@example("İ", "i")
@example("i̇", "İ")
@example("ΟΔΟΣ", "οδος")
@example("a_", "_")
@example("a b", " b")
@example("ﬁ", "FI")
def test_a_script_makes_the_lemma_of_its_form(form: str, lemma: str) -> None:
    script = script_of(form, lemma)
    check_script(script)
    assert apply_script(form, script) == lemma


@given(FORMS, FORMS, FORMS)
@example("a", "abc", "c")
def test_a_script_of_other_words_makes_a_lemma_or_none(form: str, other: str, lemma: str) -> None:
    """What comes out is a lemma: neither nothing, nor ``_``, nor padded with spaces, unless it is stored as a whole."""
    script = script_of(other, lemma)
    found = apply_script(form, script)
    if script.startswith("="):
        assert found == lemma
    else:
        assert found is None or (found == found.strip() and found not in ("", "_"))


@pytest.mark.parametrize(
    ("form", "script"), [("a", "lower||-"), ("ab", "lower|--|-"), ("_x", "keep||-"), ("", "keep||")]
)
def test_a_form_may_be_too_short(form: str, script: str) -> None:
    assert apply_script(form, script) is None


@given(st.text("abAB", min_size=1, max_size=7), st.text("abAB", min_size=1, max_size=7))
def test_a_script_has_as_few_operations_as_its_anchor_allows(form: str, lemma: str) -> None:
    """The twin cuts both texts at the longest common part and counts edits by recursion."""
    script = script_of(form, lemma)
    if script.startswith("="):
        return
    casing, prefix, suffix = script.split("|")
    source, target = (form, lemma) if casing == "keep" else (form.lower(), lemma.lower())
    common = [
        (source[i : i + n], i, target.index(source[i : i + n]))
        for n in range(len(source), 0, -1)
        for i in range(len(source) - n + 1)
        if source[i : i + n] in target
    ]
    part, i, j = common[0]
    assert n_changes(prefix) == distance(source[:i], target[:j])
    assert n_changes(suffix) == distance(source[i + len(part) :], target[j + len(part) :])


def n_changes(edit: str) -> int:
    return edit.count("-") + edit.count("+")


@cache
def distance(source: str, target: str) -> int:
    if not source or not target:
        return len(source) + len(target)
    if source[0] == target[0]:
        return distance(source[1:], target[1:])
    return 1 + min(distance(source[1:], target), distance(source, target[1:]))


@given(st.one_of(ANY, st.text("lowertikp|+-.=a", max_size=12), st.from_regex(SCRIPT, fullmatch=True)))
@example("lower||")
@example("lower|+||")
@example("lower|||")
@example("lower||+")
@example("capital||")
@example("=")
@example("")
@example("lower|a|")
def test_nothing_but_scripts_is_accepted(script: str) -> None:
    if SCRIPT.fullmatch(script):
        check_script(script)
        apply_script("some form", script)
    else:
        with pytest.raises(ValueError, match="lemma script"):
            check_script(script)


def test_long_words_that_are_their_own_lemma_are_not_compared_character_by_character() -> None:
    address = "https://example.org/" + "a/B" * 30_000
    assert script_of(address, address) == "keep||"
    assert script_of(address, address.lower()) == "lower||"
