"""Vectors with positional context, against counting word by word and a dense factoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ConfigError, DataError
from easyfirst.model.lexicon import normalise
from easyfirst.training import cooccurrence
from easyfirst.training.cooccurrence import CooccurrenceConfig, learn_vectors

Text = Sequence[Sequence[str]]


def naive_table(text: Text, config: CooccurrenceConfig) -> tuple[list[str], np.ndarray]:
    """The formula of the module's first lines, word by word."""
    counts = Counter(normalise(form) for sentence in text for form in sentence)
    words = [word for word, n in counts.most_common() if n >= config.min_count]  # first come first among equals
    columns = words[: config.neighbours]
    near: Counter[tuple[int, str, str]] = Counter()
    for sentence in text:
        forms = [normalise(form) for form in sentence]
        for i, word in enumerate(forms):
            for p in range(-config.window, config.window + 1):
                if p and word in words:
                    inside = 0 <= i + p < len(forms)
                    neighbour = (forms[i + p] if forms[i + p] in columns else "<other>") if inside else "<end>"
                    near[p, word, neighbour] += 1
    if not words:
        return words, np.zeros((0, 0))
    places = [p for p in range(-config.window, config.window + 1) if p]
    keys = [(p, column) for p in places for column in (*columns, "<other>", "<end>")]
    table = np.zeros((len(words), len(keys)))
    for number, (p, column) in enumerate(keys):
        smoothed = {c: sum(near[p, word, c] for word in words) ** 0.75 for _, c in keys}
        share = smoothed[column] / sum(smoothed.values())
        for row, word in enumerate(words):
            total = sum(n for (at, w, _), n in near.items() if (at, w) == (p, word))
            if near[p, word, column]:
                table[row, number] = max(0.0, np.log(near[p, word, column] / total / share))
    return words, table


def naive_vectors(text: Text, config: CooccurrenceConfig) -> tuple[list[str], np.ndarray]:
    words, table = naive_table(text, config)
    left, singular, _ = np.linalg.svd(table, full_matrices=False)
    vectors = left[:, : config.dim] * singular[: config.dim] ** 0.5
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return words, vectors / np.where(lengths > 1e-6, lengths, 1)


def alike(vectors: np.ndarray) -> np.ndarray:
    """How alike words are: what does not change if all vectors are turned or mirrored."""
    return vectors @ vectors.T


SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "B", "b", "c", "12", "7.5", "d"]), max_size=6), min_size=1, max_size=8
)


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.integers(1, 3), st.integers(1, 2), st.integers(1, 5))
def test_equals_counting_word_by_word(text: Text, window: int, min_count: int, neighbours: int) -> None:
    config = CooccurrenceConfig(dim=1, window=window, min_count=min_count, neighbours=neighbours)
    words, table = naive_table(text, config)
    if not table.any():
        return
    config = CooccurrenceConfig(min(table.shape), window, min_count, neighbours)  # all that the table has
    expected = naive_vectors(text, config)[1]
    found = learn_vectors(text, config)
    assert list(found.words) == words
    is_told = np.linalg.norm(expected, axis=1) > 1e-3  # a row of zeros has no direction, but for rounding
    np.testing.assert_allclose(
        alike(found.vectors)[is_told][:, is_told], alike(expected)[is_told][:, is_told], atol=2e-3
    )


def random_text(n: int = 400) -> Text:
    """Words that like the ones after them."""
    rng = np.random.default_rng(1)
    starts = rng.integers(0, 40, n)
    return [[f"w{(start + step * step) % 40}" for step in range(rng.integers(1, 9))] for start in starts]


def test_the_largest_singular_values_are_found() -> None:
    config = CooccurrenceConfig(dim=6, neighbours=30)
    words, expected = naive_vectors(random_text(), config)
    found = learn_vectors(random_text(), config)
    assert list(found.words) == words
    np.testing.assert_allclose(alike(found.vectors), alike(expected), atol=1e-3)


def test_counts_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    config = CooccurrenceConfig(dim=6)
    whole = learn_vectors(random_text(), config)
    monkeypatch.setattr(cooccurrence, "CHUNK", 7)
    pieces = learn_vectors(random_text(), config)
    assert pieces.words == whole.words
    np.testing.assert_array_equal(pieces.vectors, whole.vectors)


def test_the_same_seed_gives_the_same_vectors() -> None:
    one, again = (learn_vectors(random_text(), CooccurrenceConfig(dim=4)) for _ in range(2))
    np.testing.assert_array_equal(one.vectors, again.vectors)


def test_knows_where_a_neighbour_stands() -> None:
    """*x* and *y* have the same neighbours, at other positions; *x* and *z* at the same ones."""
    text = [["a", "x", "b"], ["b", "y", "a"], ["a", "z", "b"]] * 5
    found = learn_vectors(text, CooccurrenceConfig(dim=5))
    x, y, z = (found.vectors[found.words.index(word)] for word in "xyz")
    assert x @ z > 0.99
    assert x @ y < 0.5


def test_words_are_those_the_parser_looks_up() -> None:
    text = [["The", "1990", "fox", "x" * 101], ["the", "3.5", "fox", "x" * 101], ["THE", "7", "once"]] * 3
    found = learn_vectors(text, CooccurrenceConfig(dim=2, min_count=4))
    assert found.words == ("the", "<number>", "fox")
    assert found.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("text", [[], [[]], [[], []]])
def test_text_without_words(text: Text) -> None:
    with pytest.raises(DataError, match="there are no words"):
        learn_vectors(text, CooccurrenceConfig())


def test_words_that_nothing_is_told_of_are_zeros() -> None:
    """What is left of a table with one number a word says nothing of some words; rounding is not taken for a vector."""
    text = [["x", "y"]] * 20 + [["z", "y"]] * 5
    found = learn_vectors(text, CooccurrenceConfig(dim=1, window=1))
    assert {round(float(abs(length)), 3) for length in found.vectors[:, 0]} == {0, 1}


def test_text_without_neighbours() -> None:
    with pytest.raises(DataError, match="no word of the text has informative neighbours"):
        learn_vectors([["a"], ["b"]] * 5, CooccurrenceConfig(dim=2))


def test_too_little_text() -> None:
    with pytest.raises(DataError, match=r"2 words that occur 3 times or more, too few for vectors of 100 numbers"):
        learn_vectors([["a", "b"]] * 3, CooccurrenceConfig())
    with pytest.raises(DataError, match="0 words that occur 3 times"):
        learn_vectors([["a", "b"]], CooccurrenceConfig(dim=1))


@pytest.mark.parametrize("name", ["dim", "window", "min_count", "neighbours"])
def test_settings_are_checked(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be at least 1"):
        CooccurrenceConfig(**{name: 0})


def test_settings_are_checked_together() -> None:
    with pytest.raises(ConfigError, match="seed"):
        CooccurrenceConfig(seed=-1)
    with pytest.raises(ConfigError, match="dim must not exceed the number of columns"):
        CooccurrenceConfig(dim=13, window=1, neighbours=4)
    assert CooccurrenceConfig(dim=12, window=1, neighbours=4).dim == 12
