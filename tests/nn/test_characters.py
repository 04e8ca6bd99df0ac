"""Forms spelt: as a twin does, one character at a time, under NumPy as under PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.model.initial_values import embedding, rnn_arrays, rnn_shapes
from easyfirst.nn.characters import Spelling, characters_of, spell
from easyfirst.nn.namespace import NUMPY
from easyfirst.training.torch_namespace import TORCH
from tests.twins import Rnn, Twin

N_CHARACTERS = 9
forms = st.lists(st.lists(st.integers(0, N_CHARACTERS - 1), min_size=1, max_size=7), min_size=1, max_size=6)


def arrays_of(seed: int, n_layers: int = 1, prefix: str = "characters") -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    table = embedding(rng, N_CHARACTERS, 3)
    return {f"{prefix}.embedding": table, **rnn_arrays(rng, rnn_shapes(f"{prefix}.rnn", 3, 4, n_layers))}


def spelling_of(words: list[list[int]]) -> Spelling:
    words = sorted(words, key=len, reverse=True)
    lengths = [len(word) for word in words]
    return Spelling(np.array([character for word in words for character in word]), np.array(lengths))


def twin_vector(arrays: dict[str, Any], word: list[int]) -> np.ndarray:
    """The last state of a reader from the left, and of one from the right."""
    twin = Twin(arrays, rnn="lstm")
    forward, backward = Rnn(twin, "characters.rnn", 0), Rnn(twin, "characters.rnn", 1)
    for character in word:
        forward.append(twin.arrays["characters.embedding"][character])
    for character in reversed(word):
        backward.append(twin.arrays["characters.embedding"][character])
    return np.concatenate([forward.output, backward.output])


@settings(deadline=None, max_examples=40)
@given(forms, st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_forms_are_spelt_as_the_twin_does(words: list[list[int]], seed: int, n_layers: int) -> None:
    arrays = arrays_of(seed, n_layers)
    found = spell(NUMPY, characters_of(arrays), spelling_of(words))
    expected = [twin_vector(arrays, word) for word in sorted(words, key=len, reverse=True)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@settings(deadline=None, max_examples=20)
@given(forms, st.integers(0, 2**32 - 1))
def test_forms_are_spelt_by_both_alike(words: list[list[int]], seed: int) -> None:
    arrays = arrays_of(seed)
    by_numpy = spell(NUMPY, characters_of(arrays), spelling_of(words))
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    by_torch = spell(TORCH, characters_of(tensors), spelling_of(words))
    assert by_numpy.dtype == np.float32
    np.testing.assert_allclose(by_numpy, by_torch.numpy(), atol=2e-6, rtol=2e-5)


def test_any_prefix_can_name_the_weights() -> None:
    plain, other = arrays_of(1), arrays_of(1, prefix="words.characters")
    spelling = spelling_of([[1, 2, 3], [4]])
    expected = spell(NUMPY, characters_of(plain), spelling)
    assert np.array_equal(spell(NUMPY, characters_of(other, "words.characters"), spelling), expected)


def test_what_is_dropped_is_the_characters_embeddings() -> None:
    arrays = arrays_of(2)
    seen: list[tuple[int, ...]] = []

    def forget(x: np.ndarray) -> np.ndarray:
        seen.append(x.shape)
        return 0 * x

    found = spell(NUMPY, characters_of(arrays), spelling_of([[1, 2, 3], [4]]), forget)
    assert seen == [(4, 3)]
    arrays["characters.embedding"] *= 0
    assert np.array_equal(found, spell(NUMPY, characters_of(arrays), spelling_of([[5, 6, 7], [8]])))


def test_the_length_of_a_vector_is_known_beforehand() -> None:
    weights = characters_of(arrays_of(3))
    assert spell(NUMPY, weights, spelling_of([[1], [2, 3]])).shape == (2, 2 * weights.layers[-1].dim)


@pytest.mark.parametrize("word", [[1, 2, 3], [1, 1, 1, 2], [8]])
def test_a_form_is_spelt_the_same_in_any_company(word: list[int]) -> None:
    weights = characters_of(arrays_of(4))
    alone = spell(NUMPY, weights, spelling_of([word]))[0]
    company = sorted([[4, 5, 6, 7, 8], word, [3]], key=len, reverse=True)
    among_others = spell(NUMPY, weights, spelling_of(company))[company.index(word)]
    np.testing.assert_allclose(alone, among_others, atol=1e-6)
