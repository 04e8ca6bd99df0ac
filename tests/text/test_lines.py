"""Wrapped lines are joined; lists, poems and chats keep their lines."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from easyfirst.text.lines import MIN_WIDTH, SURE_WIDTH, unwrap

WORDS = st.lists(st.text("abc.X1", min_size=4, max_size=9), min_size=50, max_size=80)


@given(st.text("ab -*1.)\n\t•"))
@example("")
@example("\n")
@example("a\n \nb")
@example("- \n")
def test_only_line_ends_become_spaces(text: str) -> None:
    found = unwrap(text)
    assert len(found) == len(text)
    assert all(new == old or (old, new) == ("\n", " ") for old, new in zip(text, found, strict=True))


@given(WORDS, st.integers(SURE_WIDTH, 100))
def test_a_paragraph_that_was_filled_becomes_one_line(words: list[str], width: int) -> None:
    text = " ".join(words)
    filled = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    assert filled.count("\n") >= 2
    assert unwrap(filled) == text


@given(st.lists(st.text("abc ", min_size=1, max_size=MIN_WIDTH - 1).map(str.strip).filter(bool), min_size=1))
def test_short_lines_are_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert unwrap(text) == text


LONG = "We drove along the coast until we reached the small town where he was"


@pytest.mark.parametrize(
    ("text", "n_lines"),
    [
        (f"{LONG}\nborn.", 1),
        (f"{LONG}\n- born", 2),  # an item of a list
        (f"{LONG}\n1. born", 2),
        (f"{LONG}\n> born", 2),
        (f"Hello\n{LONG}", 2),  # the first word of the second line would have fitted
        (f"yes\n{LONG}\nno\nmaybe", 4),  # one long line in a chat may be chance
        (f"A heading\n{LONG}\n{LONG}\nthe end", 2),
        (f"* {LONG}\n  and more of the same item until its end is near and it has been\n  reached\n* next", 2),
        ("a" * MIN_WIDTH + "\nb", 2),  # too short to be sure
    ],
)
def test_a_line_ends_by_chance_if_the_next_word_did_not_fit(text: str, n_lines: int) -> None:
    assert len(unwrap(text).split("\n")) == n_lines
