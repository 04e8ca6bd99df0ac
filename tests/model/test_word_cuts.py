"""Words that are cut, and words that never are."""

from __future__ import annotations

from easyfirst.model.word_cuts import MIN_SEEN, find_cut_words, find_whole_words
from easyfirst.treebank.raw_text import Paragraph, Token


def paragraph(*tokens: str) -> Paragraph:
    """A sentence of tokens: "do+n't" has two words, and "~" before a token says that there is no space."""
    text = ""
    found: list[Token] = []
    for token in tokens:
        words = tuple(token.removeprefix("~").split("+"))
        text += " " * (bool(text) and not token.startswith("~"))
        found.append(Token(len(text), len(text) + len("".join(words)), words))
        text += "".join(words)
    return Paragraph(text, (tuple(found),))


OFTEN = ["Vermont", "front", "fox"] * MIN_SEEN


def test_frequent_words_with_the_ending_of_a_cut_word_are_whole() -> None:
    assert find_whole_words([paragraph(*OFTEN, "do+nt")]) == {"vermont", "front"}
    assert find_whole_words([paragraph(*OFTEN, "do+n't")]) == {"vermont", "front"}
    assert find_whole_words([paragraph(*OFTEN)]) == frozenset()  # nothing is ever cut
    assert find_whole_words([paragraph(*["front"] * (MIN_SEEN - 1), "do+nt")]) == frozenset()


def test_words_that_the_treebank_cuts_are_not_whole() -> None:
    assert find_whole_words([paragraph(*OFTEN, "fro+nt")]) == {"vermont"}
    assert find_whole_words([paragraph(*OFTEN, "fro+n't")]) == {"vermont"}  # an apostrophe may be left out
    assert find_whole_words([paragraph(*OFTEN, "fro", "~nt")]) == {"vermont"}  # two tokens


def test_words_of_other_text_are_whole() -> None:
    known = {"Belmont": MIN_SEEN, "Ont": 1, "dont": 100, "x-nt": 100, "fox": 100}
    assert find_whole_words([paragraph("do+n't", "a")], known) == {"belmont"}


def test_a_language_without_spaces_has_none() -> None:
    assert find_whole_words([paragraph("do+nt", *OFTEN, *["~front"] * 100)]) == frozenset()


def test_if_the_same_words_are_cut_again_only_these_are() -> None:
    again = paragraph("do+nt", "do+n't", "gon+na", "gon+na", *["a", "lot"] * 20, "a", "~lot", "A", "~lot")
    assert find_cut_words([again]) == {"dont", "gonna", "alot"}
    assert find_cut_words([again, paragraph("fro+nt")]) == {"dont", "gonna", "alot", "front"}  # six of seven
    assert find_cut_words([again, paragraph("fro+nt", "Vermo+nt", "Madon+na")]) is None


def test_possessives_do_not_license_cuts_of_plurals() -> None:
    doctors = paragraph(*["doctor+'s"] * 9, *["doctors"] * 3, *["could+n't"] * 9, "rider+s", *["gon+na", "a"] * 9)
    assert find_cut_words([doctors]) == {"couldnt", "riders", "gonna"}
    assert find_cut_words([doctors], {"Riders": 100}) == {"couldnt", "gonna"}
    assert find_cut_words([doctors, paragraph(*["gonna"] * 20)]) == {"couldnt", "riders", "gonna"}  # context decides
    assert find_cut_words([doctors, paragraph(*["couldnt"] * 3)]) == {"riders", "gonna"}
    assert find_cut_words([paragraph("fox+'s", "a")]) == frozenset()  # too rare


def test_words_with_other_characters_may_be_cut_there() -> None:
    assert find_cut_words([paragraph("dá-+lo", "faz-+se", "a")]) == frozenset()


def test_if_no_word_is_cut_none_is() -> None:
    assert find_cut_words([paragraph(*OFTEN)]) == frozenset()
    assert find_cut_words([paragraph("a", *["~b"] * 100)]) is None
