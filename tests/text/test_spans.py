"""Tokens from what is said of characters."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.model.tokenizer_vocabulary import SPACE, Rewriting, TokenizerVocabulary
from easyfirst.nn.tokenizer_network import INSIDE, TOKEN_END, WORD_END
from easyfirst.text import spans
from easyfirst.text.spans import find_spans, single_emoji, whole_addresses, whole_signs, whole_words

SCRIPT = TokenizerVocabulary({SPACE: 30}, Rewriting({}), False)


def tokens_of(texts: list[str], boundaries: list[int], *, inner: bool = False) -> list[list[str]]:
    characters = SCRIPT.read(texts)
    found = find_spans(characters, np.array(boundaries), has_inner_spaces=inner)
    text = "".join(texts)
    numbers = np.repeat(np.arange(len(texts)), found.lengths)
    tokens: list[list[str]] = [[] for _ in texts]
    for number, first, last in zip(numbers, found.first, found.last, strict=True):
        tokens[number].append(text[characters.positions[first] : characters.positions[last] + 1])
    return tokens


def test_tokens_end_where_they_are_said_to_and_at_spaces() -> None:
    assert tokens_of(["ab c", "d"], [TOKEN_END, INSIDE, TOKEN_END, WORD_END, INSIDE]) == [["a", "b", "c"], ["d"]]


def test_tokens_may_hold_spaces_in_some_languages() -> None:
    boundaries = [INSIDE, INSIDE, TOKEN_END, TOKEN_END, INSIDE, INSIDE]
    assert tokens_of(["a \t b cd"], boundaries, inner=True) == [["a \t b", "cd"]]


def test_long_tokens_are_cut() -> None:
    limit = spans.MAX_TOKEN_CHARACTERS
    text = "x" * (2 * limit + 3)
    assert [len(token) for token in tokens_of([text], [INSIDE] * len(text))[0]] == [limit, limit, 3]
    assert [len(token) for token in tokens_of(["y", text[:limit]], [INSIDE] * (limit + 1))[1]] == [limit]


def test_a_sign_is_never_parted() -> None:
    signs = ["e\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"]
    signs += ["\U0001f44d\U0001f3fd", "\u2764\ufe0f", "a"]
    characters = SCRIPT.read(["".join(signs)])
    boundaries = whole_signs(characters, np.full(len(characters.rows), TOKEN_END))
    assert tokens_of(["".join(signs)], boundaries.tolist()) == [signs]


@pytest.mark.parametrize("predicted", [INSIDE, WORD_END])
def test_each_emoji_is_a_token(predicted: int) -> None:
    texts = ["so😂😂!!!", "\U0001f468\u200d\U0001f469(👍🏽)🇩🇪🇫🇷", "I \u2764\ufe0fNY", "plain"]
    characters = SCRIPT.read(texts)
    boundaries = single_emoji(texts, characters, np.full(len(characters.rows), predicted))
    assert tokens_of(texts, boundaries.tolist()) == [
        ["so", "😂", "😂", "!!!"],
        ["\U0001f468\u200d\U0001f469", "(", "👍🏽", ")", "🇩🇪", "🇫🇷"],
        ["I", "\u2764\ufe0f", "NY"],
        ["plain"],
    ]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("See https://github.com/foo/bar.", ["https://github.com/foo/bar"]),
        ("(see www.x-y.co.uk/a_(b)), then", ["www.x-y.co.uk/a_(b)"]),
        ("[http://a.de/?q=1&r=[2]] <ftp://b.org/c>!", ["http://a.de/?q=1&r=[2]", "ftp://b.org/c"]),
        ("HTTP://A.DE/… and WWW.B.DE?", ["HTTP://A.DE/", "WWW.B.DE"]),
        ("notwww.a.de http:// www. x", []),
    ],
)
@pytest.mark.parametrize("predicted", [INSIDE, WORD_END, TOKEN_END])
def test_an_address_is_one_token(text: str, addresses: list[str], predicted: int) -> None:
    texts = ["www.before.de", text, "after"]
    characters = SCRIPT.read(texts)
    boundaries = whole_addresses(texts, characters, np.full(len(characters.rows), predicted)).tolist()
    first, found, last = tokens_of(texts, boundaries)
    assert first == ["www.before.de"]
    assert set(addresses) <= set(found)
    assert last == (list("after") if predicted == TOKEN_END else ["after"])
    assert "".join(found) == text.replace(" ", "")
    if not addresses and predicted == TOKEN_END:
        assert found == [letter for letter in text if letter != " "]


KNOWN = frozenset(["front", "aab", "ba\u0301", "don"])


def cut_words(texts: list[str], boundaries: list[int]) -> list[int]:
    """Return the boundaries if some words are known whole, which is the same as if all others may be cut."""
    letters = {run.lower() for text in texts for run in re.findall(r"[a-zA-Z\u0301]+", text)}
    found = [
        whole_words("".join(texts), SCRIPT.read(texts), np.array(boundaries), vocabulary).tolist()
        for vocabulary in (replace(SCRIPT, whole=KNOWN), replace(SCRIPT, cuts=frozenset(letters - KNOWN)))
    ]
    assert found[0] == found[1]
    return found[0]


def test_known_words_are_not_cut() -> None:
    assert cut_words(["front x"], [0, 0, WORD_END, 0, TOKEN_END, 0, TOKEN_END]) == [0, 0, 0, 0, TOKEN_END, 0, TOKEN_END]
    assert cut_words(["FRONT"], [TOKEN_END] * 5) == [0, 0, 0, 0, TOKEN_END]
    assert cut_words(["afront"], [WORD_END] * 6) == [WORD_END] * 6  # another word


def test_letters_beside_an_apostrophe_are_not_a_word() -> None:
    for text in ("don't", "don\N{RIGHT SINGLE QUOTATION MARK}t", "'don"):
        given_boundaries = [WORD_END] * len(text)
        assert cut_words([text], given_boundaries) == given_boundaries
    assert cut_words(["don't x", "don"], [WORD_END] * 10) == [WORD_END] * 7 + [INSIDE, INSIDE, WORD_END]


@settings(deadline=None)
@given(st.lists(st.text("ab' \u0301", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=4), st.data())
def test_exactly_the_boundaries_inside_known_words_go(texts: list[str], data: st.DataObject) -> None:
    sizes = SCRIPT.read(texts).lengths
    predicted = [data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for n in sizes]
    found = cut_words(texts, [label for labels in predicted for label in labels])
    expected: list[int] = []
    for text, labels in zip(texts, predicted, strict=True):  # each text by itself
        inside = [match.span() for match in re.finditer(r"[ab\u0301]+", " ".join(text.split()))]
        for first, after in inside:
            word = " ".join(text.split())
            beside = word[max(first - 1, 0) : first] + word[after : after + 1]
            if word[first:after] in KNOWN and "'" not in beside:
                labels[first : after - 1] = [INSIDE] * (after - 1 - first)
        expected += labels
    assert found == expected


texts_of = st.lists(st.text(" \n\u00a0ab\u0301", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=4)


@settings(deadline=None)
@given(texts_of, st.booleans(), st.integers(0, 2**32 - 1))
def test_every_character_is_in_one_token(texts: list[str], inner: bool, seed: int) -> None:
    boundaries = np.random.default_rng(seed).integers(0, 3, len(SCRIPT.read(texts).rows))
    found = tokens_of(texts, boundaries.tolist(), inner=inner)
    for text, tokens in zip(texts, found, strict=True):
        assert "".join("".join(tokens).split()) == "".join(text.split())
        assert all(token == token.strip() and token for token in tokens)
        assert inner or not any(character.isspace() for token in tokens for character in token)


def test_a_long_word_is_looked_at_once() -> None:
    """Otherwise this takes minutes."""
    n = 200_000
    assert cut_words(["a" * n + "'"], [TOKEN_END] * (n + 1)) == [TOKEN_END] * (n + 1)
