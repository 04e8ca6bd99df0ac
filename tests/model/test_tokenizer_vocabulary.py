"""Characters as the tokenizer sees them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import InputError, ModelError
from easyfirst.model.sentence_lengths import SentenceLengths
from easyfirst.model.tokenizer_vocabulary import (
    CATEGORIES,
    LINE_END,
    MIN_SEEN,
    SPACE,
    Rewriting,
    TokenizerVocabulary,
    is_rewritten,
)
from easyfirst.treebank.raw_text import Paragraph, Token

SCRIPT = TokenizerVocabulary({SPACE: 30, "a": 31, "b": 32}, Rewriting({}), False)
LINES = TokenizerVocabulary({SPACE: 30, LINE_END: 31, "a": 32}, Rewriting({}), False)


def paragraph(text: str, *sentences: list[Token]) -> Paragraph:
    return Paragraph(text, tuple(map(tuple, sentences)))


def test_the_categories_are_those_of_unicode() -> None:
    assert {unicodedata.category(chr(code)) for code in range(0x30000)} <= set(CATEGORIES)


def test_the_alphabet_is_what_is_seen_often() -> None:
    vocabulary = TokenizerVocabulary.of([paragraph("abba c\u00a0c", [Token(0, 4, ("abba",))])], min_count=2)
    assert list(vocabulary.alphabet) == [SPACE, LINE_END, "a", "b", "c"]
    assert list(vocabulary.alphabet.values()) == [30, 31, 32, 33, 34]
    assert list(TokenizerVocabulary.of([paragraph("abb", [Token(0, 3, ("abb",))])], min_count=2).alphabet) == [
        SPACE,
        LINE_END,
        "b",
    ]


def test_tokens_are_looked_at() -> None:
    plain = [Token(0, 3, ("del",)), Token(4, 7, ("c", "d"))]
    vocabulary = TokenizerVocabulary.of([paragraph("del c d", plain)], min_count=1)
    assert vocabulary.has_inner_spaces
    assert not vocabulary.rewriting.rules
    vocabulary = TokenizerVocabulary.of([paragraph("del", [Token(0, 3, ("de", "el"))])], min_count=1)
    assert not vocabulary.has_inner_spaces
    assert vocabulary.rewriting.rewrite("del") == ("de", "el")


def parts_of(*tokens: tuple[str, ...], times: int = MIN_SEEN) -> dict[str, tuple[int, ...]]:
    """The parts that a vocabulary knows after so many times these tokens, given as words."""
    tokens *= times
    forms = ["".join(words) for words in tokens]
    ends = list(accumulate(len(form) + 1 for form in forms))
    found = [Token(end - 1 - len(form), end - 1, words) for form, end, words in zip(forms, ends, tokens, strict=True)]
    return dict(TokenizerVocabulary.of([paragraph(" ".join(forms), found)], min_count=1).parts)


def test_tokens_that_mostly_have_the_same_parts_are_known() -> None:
    assert parts_of(("can", "not"), ("Can", "not"), ("fox",)) == {"cannot": (3, 3)}
    assert parts_of(("du", "n", "no")) == {"dunno": (2, 1, 2)}
    assert parts_of(("let", "s"), ("let", "s"), ("lets",)) == {"lets": (3, 1)}
    assert parts_of(("it", "s"), ("its",)) == {}  # it depends
    assert parts_of(("ab", "c"), ("a", "bc")) == {}
    assert parts_of(("plumber", "s"), times=MIN_SEEN - 1) == {}  # a slip or two
    assert parts_of(("has", "n't"), ("world", "'s")) == {"hasn't": (3, 3), "world's": (5, 2), "hasnt": (3, 2)}
    assert parts_of(("we", "'re"), ("were",)) == {"we're": (2, 3)}  # *were* is another word
    assert parts_of(("\u0130", "m")) == {"\u0130m": (1, 1)}  # its lower case has one character more


def test_rewritten_tokens_and_those_with_spaces_have_no_parts() -> None:
    assert not TokenizerVocabulary.of([paragraph("del", [Token(0, 3, ("de", "el"))])], min_count=1).parts
    assert not TokenizerVocabulary.of([paragraph("c d", [Token(0, 3, ("c", "d"))])], min_count=1).parts


def test_words_that_are_parts_are_not_rewritten() -> None:
    assert not is_rewritten("John's", ["John", "'s"])
    assert not is_rewritten("3 500", ["3500"])
    assert not is_rewritten("a b", ["a", "b"])
    assert is_rewritten("del", ["de", "el"])


def test_unknown_characters_are_known_by_their_category() -> None:
    characters = SCRIPT.read(["aX字"])
    assert [CATEGORIES[row] if row < 30 else row for row in characters.rows] == [31, "Lu", "Lo"]
    assert [CATEGORIES[row] for row in characters.categories] == ["Ll", "Lu", "Lo"]


def test_white_space_of_every_kind_is_one_space() -> None:
    characters = SCRIPT.read(["a \t\n\u00a0\u3000b", "a\u2028b"])
    assert characters.rows.tolist() == [31, 30, 32, 31, 30, 32]
    assert characters.is_space.tolist() == [False, True, False] * 2
    assert characters.positions.tolist() == [0, 1, 6, 7, 8, 9]
    assert characters.lengths == [3, 3]


@given(st.lists(st.text("a \n\t", min_size=1).map(str.strip).filter(bool), min_size=1))
def test_a_line_end_is_read_if_it_is_in_the_alphabet(texts: list[str]) -> None:
    characters = LINES.read(texts)
    expected = [re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] else " ", text) for text in texts]
    assert characters.rows.tolist() == [LINES.alphabet[c] for text in expected for c in text]
    spaces = SCRIPT.read(texts)
    assert characters.positions.tolist() == spaces.positions.tolist()
    assert characters.is_space.tolist() == spaces.is_space.tolist()
    assert characters.categories.tolist() == spaces.categories.tolist()


def test_what_was_read_before_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if more characters were met than are kept."""
    texts = ["a b\u0301\n\nc", "\u2603a\u00a0b", "\U0001f1e9\U0001f1ea\u200dx\ny"]
    expected = [repr(replace(LINES).read([text])) for text in texts]  # each by a new vocabulary
    for most in (1, 3, 1 << 14):
        monkeypatch.setattr("easyfirst.model.tokenizer_vocabulary.MAX_KINDS", most)
        vocabulary = replace(LINES)
        assert [repr(vocabulary.read([text])) for text in [*texts, *texts]] == [*expected, *expected]


def test_half_a_surrogate_pair_is_an_error() -> None:
    with pytest.raises(InputError, match=r"'\\ud800' is not valid Unicode"):
        SCRIPT.read(["a\ud800"])


@settings(deadline=None)
@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool), min_size=1))
def test_every_character_that_is_no_space_is_there(texts: list[str]) -> None:
    characters = SCRIPT.read(texts)
    joined = "".join(texts)
    expected = [place for place, character in enumerate(joined) if not character.isspace()]
    assert characters.positions[~characters.is_space].tolist() == expected
    assert sum(characters.lengths) == len(characters.rows) == len(characters.is_bound)
    assert [len(" ".join(text.split())) for text in texts] == characters.lengths


def test_it_can_be_written_and_read() -> None:
    vocabulary = TokenizerVocabulary({SPACE: 30, "\u0301": 31}, Rewriting({"m": ("", "dem")}), True, {"im": (1, 1)})
    assert TokenizerVocabulary.from_dict(vocabulary.to_dict()) == vocabulary
    more = replace(LINES, cuts=frozenset(["ab"]), whole=frozenset(["a", "b"]), lengths=SentenceLengths(30, 50, 12))
    assert TokenizerVocabulary.from_dict(more.to_dict()) == more


def test_one_without_parts_whole_words_and_lengths_can_be_read() -> None:
    """They were written without parts up to version 0.2, and without the others up to 0.3."""
    values = SCRIPT.to_dict()
    del values["parts"], values["whole"]
    assert not {"sentence_lengths", "cuts"} & set(values)
    assert TokenizerVocabulary.from_dict(values) == SCRIPT


@pytest.mark.parametrize(
    "change",
    [
        {"characters": ["ab", " "]},
        {"characters": ["a", "a", " "]},
        {"characters": ["a"]},
        {"characters": 3},
        {"has_inner_spaces": 1},
        {"rewriting": []},
        {"rewriting": {"a": "b"}},
        {"parts": []},
        {"parts": {"im": [1, 2]}},
        {"parts": {"im": [2, 0]}},
        {"parts": {"im": [0.5, 1.5]}},
        {"parts": {"im": 2}},
        {"whole": "ab"},
        {"cuts": {"a": 1}},
        {"whole": [1]},
        {"sentence_lengths": 3},
        {"sentence_lengths": {"long": 1, "usual": -1, "excess": 2}},
    ],
)
def test_what_is_damaged_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="damaged"):
        TokenizerVocabulary.from_dict(SCRIPT.to_dict() | change)


def test_what_is_missing_is_refused() -> None:
    with pytest.raises(ModelError, match="'characters' is missing"):
        TokenizerVocabulary.from_dict({"rewriting": {}, "has_inner_spaces": False})
