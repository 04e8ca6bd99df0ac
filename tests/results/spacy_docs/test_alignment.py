"""Cutting a text into the tokens of a Doc: nothing is lost, and every word has its token."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from easyfirst.results.spacy_docs.alignment import NewTokens, cut_text
from easyfirst.treebank.raw_text import Token

SPACES = st.text(" \n\t\u00a0", max_size=3)


def joined(tokens: NewTokens) -> str:
    return "".join(word + " " * space for word, space in zip(tokens.words, tokens.spaces, strict=True))


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, list[list[Token]]]:
    """Draw a text and its sentences. A token is a word, is cut into words, or is rewritten as others."""
    text, sentences = draw(SPACES), list[list[Token]]()
    for _ in range(draw(st.integers(0, 3))):
        tokens: list[Token] = []
        for pieces in draw(st.lists(st.lists(st.sampled_from(["a", "bc", "."]), min_size=1, max_size=3), min_size=1)):
            between = draw(st.sampled_from(["", " ", "\n"]))
            form = between.join(pieces)
            rewritten = draw(st.booleans())
            words = tuple(piece + "x" for piece in pieces) if rewritten else tuple(pieces)
            tokens.append(Token(len(text), len(text) + len(form), words))
            text += form + draw(SPACES)
        sentences.append(tokens)
    return text, sentences


@given(texts())
def test_the_text_is_kept(drawn: tuple[str, list[list[Token]]]) -> None:
    text, sentences = drawn
    tokens = cut_text(text, sentences)
    assert joined(tokens) == text
    assert all(tokens.words)


@given(texts())
def test_sentences_cover_the_doc(drawn: tuple[str, list[list[Token]]]) -> None:
    text, sentences = drawn
    tokens = cut_text(text, sentences)
    bounds = [(placed.begin, placed.end) for placed in tokens.sentences]
    assert [begin for begin, _ in bounds] == [0, *(end for _, end in bounds)][: len(bounds)]
    assert (bounds[-1][1] if bounds else 0) == len(tokens.words)
    for placed in tokens.sentences:
        is_word = [i in placed.tokens for i in range(placed.begin, placed.end)]
        assert is_word == [not word.isspace() for word in tokens.words[placed.begin : placed.end]]


@given(texts())
def test_every_word_has_a_token(drawn: tuple[str, list[list[Token]]]) -> None:
    text, sentences = drawn
    tokens = cut_text(text, sentences)
    with_words = [placed for placed in tokens.sentences if placed.tokens]
    assert len(with_words) == len(sentences)
    for placed, given_tokens in zip(with_words, sentences, strict=True):
        expected: list[tuple[str, int]] = []
        for token in given_tokens:
            form = text[token.start : token.end]
            if "".join(token.words) == "".join(form.split()):
                expected += [(word, 1) for word in token.words]
            else:
                expected.append((form, len(token.words)))
        assert [(tokens.words[i], n) for i, n in zip(placed.tokens, placed.n_words, strict=True)] == expected


def test_white_space_as_spacy_has_it() -> None:
    tokens = [[Token(2, 3, ("a",)), Token(4, 5, ("b",))], [Token(8, 9, ("c",))]]
    words, spaces, sentences = cut_text("  a b \n\tc ", tokens)
    assert words == ["  ", "a", "b", "\n\t", "c"]
    assert spaces == [False, True, True, False, True]
    assert [(placed.begin, placed.end) for placed in sentences] == [(0, 4), (4, 5)]


def test_only_white_space() -> None:
    assert cut_text("", []) == ([], [], [])
    words, spaces, [placed] = cut_text(" \n", [])
    assert (words, spaces, placed) == ([" \n"], [False], (0, 1, (), ()))


def test_multiword_tokens() -> None:
    tokens = [Token(0, 5, ("do", "n't")), Token(6, 8, ("à", "le"))]
    words, _, [placed] = cut_text("don't au", [tokens])
    assert words == ["do", "n't", "au"]
    assert placed.n_words == (1, 1, 2)
