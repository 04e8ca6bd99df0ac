"""Any text is tokenized, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from easyfirst.errors import InputError
from easyfirst.model.sentence_lengths import SentenceLengths
from easyfirst.model.tokenizer_store import initial_tokenizer
from easyfirst.model.tokenizer_vocabulary import TokenizerVocabulary
from easyfirst.text import tokenizing as module
from easyfirst.text.sentences import MAX_SENTENCE_WORDS
from easyfirst.text.tokenizing import Token, Tokenizer
from tests.small_models import small_tokenizer
from tests.text.random_tokenizers import random_model, random_tokenizer

TOKENIZERS = [random_tokenizer(seed, has_inner_spaces=seed % 2 == 0) for seed in range(4)]
tokenizers = st.sampled_from(TOKENIZERS)


def assert_sound(text: str, sentences: list[list[Token]]) -> None:
    tokens = [token for sentence in sentences for token in sentence]
    assert all(sentences)
    end = 0
    for token in tokens:
        assert token.start < token.end
        assert not text[end : token.start].strip()
        assert not text[token.start].isspace()
        assert not text[token.end - 1].isspace()
        assert token.words
        assert all(word and word == word.strip() for word in token.words)
        end = token.end
    assert not text[end:].strip()


@settings(deadline=None, max_examples=150)
@given(tokenizers, st.text(st.one_of(st.sampled_from("ab \n.\u00a0"), st.characters(exclude_categories=["Cs"]))))
@example(TOKENIZERS[0], "")
@example(TOKENIZERS[0], " \n\t\u3000 ")
@example(TOKENIZERS[0], "\x00\x01\x1b a\x00")
@example(TOKENIZERS[1], "\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea \u200d \u0301")
@example(TOKENIZERS[1], "שלום עולם. مرحبا\u200f بالعالم")
@example(TOKENIZERS[1], "a\r\n\r\nb\rc\u2029d\u0085e")
def test_no_character_is_lost(tokenizer: Tokenizer, text: str) -> None:
    assert_sound(text, tokenizer.tokenize(text))


@settings(deadline=None, max_examples=50)
@given(tokenizers, st.lists(st.text("ab c.\n\u0301", max_size=30), max_size=5))
def test_texts_do_not_depend_on_each_other(tokenizer: Tokenizer, texts: list[str]) -> None:
    assert tokenizer.tokenize_all(texts) == [tokenizer.tokenize(text) for text in texts]


@settings(deadline=None, max_examples=50)
@given(tokenizers, st.text("ab .", min_size=1), st.text("ab .", min_size=1), st.sampled_from(["\n\n", "\r\n \t\r\n"]))
def test_a_blank_line_parts_texts(tokenizer: Tokenizer, one: str, other: str, blank: str) -> None:
    def shown(text: str) -> list[list[tuple[str, ...]]]:
        return [[token.words for token in sentence] for sentence in tokenizer.tokenize(text)]

    assert shown(one + blank + other) == shown(one) + shown(other)


@settings(deadline=None, max_examples=50)
@given(tokenizers, st.lists(st.sampled_from(["a", "bc", "d.", "!", "Ae"]), min_size=1), st.data())
def test_the_kind_of_white_space_makes_no_difference(
    tokenizer: Tokenizer, words: list[str], data: st.DataObject
) -> None:
    spaces = st.sampled_from(["  ", "\t", "\n", "\r\n", "\u00a0", " \n "])
    other = words[0] + "".join(data.draw(spaces) + word for word in words[1:])
    expected, found = tokenizer.tokenize(" ".join(words)), tokenizer.tokenize(other)
    assert [[["".join(word.split()) for word in token.words] for token in sentence] for sentence in found] == [
        [["".join(word.split()) for word in token.words] for token in sentence] for sentence in expected
    ]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_long_texts_are_read_in_pieces(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ab c. a'b Ad gf1 "
    for size in (13, 64, 1000):
        monkeypatch.setattr(module, "MAX_PIECE", size)
        monkeypatch.setattr(module, "PIECE_MARGIN", 10)
        monkeypatch.setattr(module, "MAX_BATCH", 100)
        texts = [text * 20, "a", text * 3 + "\n\n" + text * 10]
        for given_text, found in zip(texts, tokenizer.tokenize_all(texts), strict=True):
            assert_sound(given_text, found)
            assert found == tokenizer.tokenize(given_text)


def test_every_piece_of_a_long_text_is_read_at_most_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PIECE", 500)
    monkeypatch.setattr(module, "PIECE_MARGIN", 100)
    read = TokenizerVocabulary.read
    texts = ["a" * 3000, "ab cd. " * 400, "ab c" * 700]
    for tokenizer, text in product(TOKENIZERS[2:], texts):
        pieces: list[str] = []
        noting = lambda self, texts: pieces.extend(texts) or read(self, texts)  # noqa: B023, E731
        monkeypatch.setattr(TokenizerVocabulary, "read", noting)
        assert_sound(text, tokenizer.tokenize(text))
        assert sum(map(len, pieces)) <= 2.1 * len(text) + 500


def test_sentences_are_cut_at_a_limit() -> None:
    tokenizer = random_tokenizer(1, question=[-1000, -1000])
    n = 2 * MAX_SENTENCE_WORDS + 7
    lengths = [sum(len(token.words) for token in sentence) for sentence in tokenizer.tokenize("a " * n)]
    assert lengths == [MAX_SENTENCE_WORDS, MAX_SENTENCE_WORDS, 7]


def test_multiword_tokens_are_rewritten_if_the_network_says_so() -> None:
    for bias, words in ((1000, ("ax", "yz")), (-1000, ("ab",))):
        tokenizer = random_tokenizer(1, boundary=[1000, 0, 0], question=[0, bias])
        assert tokenizer.tokenize("ab")[0][0].words == words


def test_words_may_end_inside_of_a_token() -> None:
    tokenizer = random_tokenizer(1, boundary=[0, 1000, 0], question=[-1000, -1000])
    assert tokenizer.tokenize("abc d") == [[Token(0, 3, ("a", "b", "c")), Token(4, 5, ("d",))]]


@pytest.mark.parametrize("bias", [[1000, 0, 0], [0, 1000, 0]], ids=["no word ends", "every character ends a word"])
def test_known_tokens_have_their_parts_whatever_the_network_says(bias: list[int]) -> None:
    model = replace(random_model(1), vocabulary=replace(random_model(1).vocabulary, parts={"cabbage": (3, 4)}))
    model.arrays["boundary.bias"][:] = bias
    model.arrays["question.bias"][:] = -1000
    tokenizer = Tokenizer(model)
    first, second, last = tokenizer.tokenize(" Cabbage g CABBAGE\n")[0]
    assert (first, last) == (Token(1, 8, ("Cab", "bage")), Token(11, 18, ("CAB", "BAGE")))
    assert second.words == ("g",)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InputError, match="surrogate"):
        TOKENIZERS[0].tokenize("a \ud83d b")


def reading_lines(seed: int) -> Tokenizer:
    """A tokenizer whose network reads line ends."""
    model = random_model(seed)
    alphabet = {**model.vocabulary.alphabet, "\n": 30 + len(model.vocabulary.alphabet)}
    vocabulary = replace(model.vocabulary, alphabet=alphabet)
    arrays = initial_tokenizer(model.config, vocabulary, np.random.default_rng(seed))
    arrays["question.weights"] *= 5
    return Tokenizer(replace(model, vocabulary=vocabulary, arrays=arrays))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 3), st.text("ab. \n\r\u2028-"))
@example(0, "a\r\nb")
@example(0, "a\u2028\u2028b\r")
def test_no_character_is_lost_when_lines_are_read(seed: int, text: str) -> None:
    assert_sound(text, reading_lines(seed).tokenize(text))


def test_line_ends_are_read_unless_a_paragraph_is_wrapped() -> None:
    one, other = "ab c. " * 11 + "d", "gf ab."
    tokenizers = [reading_lines(seed) for seed in range(20)]

    def found(tokenizer: Tokenizer, text: str) -> list[list[tuple[str, ...]]]:
        return [[token.words for token in sentence] for sentence in tokenizer.tokenize(text)]

    assert all(found(tokenizer, f"{one}\n{other}") == found(tokenizer, f"{one} {other}") for tokenizer in tokenizers)
    ends = ("\n", "\r\n", "\u2028", " \n ")
    differs = [found(tokenizer, f"{other}\n{one}") != found(tokenizer, f"{other} {one}") for tokenizer in tokenizers]
    assert any(differs)
    for tokenizer in tokenizers:
        assert all(found(tokenizer, f"{other}{end}{one}") == found(tokenizer, f"{other}\n{one}") for end in ends)


def test_known_words_are_whole_whatever_the_network_says() -> None:
    model = random_model(1)
    model.arrays["boundary.bias"][:] = [0, 1000, 0]
    model.arrays["question.bias"][:] = [-1000, 1000]  # every token is rewritten
    known = replace(model, vocabulary=replace(model.vocabulary, whole=frozenset(["cab", "gab"])))
    sentence = Tokenizer(known).tokenize("Cab gab gabb dab")[0]
    assert [token.words for token in sentence] == [("Cab",), ("gab",), ("gabx", "yz"), ("dax", "yz")]


def test_other_words_than_those_of_the_treebank_are_not_cut() -> None:
    model = random_model(1)
    model.arrays["boundary.bias"][:] = [0, 1000, 0]
    model.arrays["question.bias"][:] = -1000
    cutting = replace(model, vocabulary=replace(model.vocabulary, cuts=frozenset(["cab"])))
    sentence = Tokenizer(cutting).tokenize("Cab fed d1")[0]
    assert [token.words for token in sentence] == [("C", "a", "b"), ("fed",), ("d", "1")]


def test_a_long_text_without_sentence_ends_is_cut_by_length() -> None:
    model = random_model(1)
    model.arrays["boundary.bias"][:] = [1000, 0, 0]
    model.arrays["question.weights"][:] = 0
    model.arrays["question.bias"][:] = [-8, -1000]
    text = "fed gab dec " * 200
    assert max(map(len, Tokenizer(model).tokenize(text))) == MAX_SENTENCE_WORDS
    model = replace(model, vocabulary=replace(model.vocabulary, lengths=SentenceLengths(long=20, usual=20, excess=5)))
    sentences = Tokenizer(model).tokenize(text)
    assert 20 <= max(map(len, sentences)) <= 60
    assert_sound(text, sentences)


@pytest.mark.issue(22)
@pytest.mark.parametrize("unit", ["a", "word,", "a.", "a@", "漢字", "👍🏽", "(a)"])
def test_the_work_for_text_without_spaces_grows_with_its_length(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the text gives the network four times the characters, and not more."""
    tokenizer = small_tokenizer()
    network, n_read = tokenizer._network, 0
    read = network.read_characters

    def counting(rows: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
        nonlocal n_read
        n_read += len(rows)
        return read(rows, lengths)

    monkeypatch.setattr(type(network), "read_characters", lambda _, *arguments: counting(*arguments))
    counts: list[int] = []
    for n in (30_000, 120_000):
        n_read = 0
        text = (unit * n)[:n]
        [sentences] = tokenizer.tokenize_all([text])
        assert "".join(text[token.start : token.end] for tokens in sentences for token in tokens) == text
        counts.append(n_read)
    assert counts[1] <= 4.5 * counts[0]
