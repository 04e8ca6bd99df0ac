"""The networks of the tagger and the tokenizer in the core against those in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.model.initial_values import embedding, glorot, rnn_arrays, rnn_shapes
from easyfirst.native.backend import Backend
from easyfirst.nn.characters import Spelling
from easyfirst.nn.tagger_network import OUTPUTS, TaggerIds, members_of
from easyfirst.nn.tokenizer_network import N_BOUNDARIES, N_QUESTIONS, TokenizerWeights, tokenizer_of
from easyfirst.text.part_networks import tagger_network, tokenizer_network
from easyfirst.text.tokenizing import Tokenizer
from tests.native.cores import ISAS, each_precision, the_core
from tests.text.random_tokenizers import random_model

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=20).map(lambda lengths: sorted(lengths, reverse=True))
SIZES = st.integers(1, 20)
N_WORDS, N_FORMS, N_CHARACTERS = 12, 70, 7


def tagger_arrays(
    word_dim: int, external_dim: int, spelling_dim: int, dim: int, n_layers: int, kinds: tuple[str, ...], seed: int
) -> dict[str, np.ndarray]:
    """Return the random weights of a tagger; without a ``spelling_dim`` it reads no characters."""
    rng = np.random.default_rng(seed)
    arrays = {"words.embedding": embedding(rng, N_WORDS, word_dim)}
    if spelling_dim:
        arrays["characters.embedding"] = embedding(rng, N_CHARACTERS, 3)
        arrays |= rnn_arrays(rng, rnn_shapes("characters.rnn", 3, spelling_dim, 1))
    input_dim = word_dim + external_dim + 2 * spelling_dim
    for number in range(n_layers):
        arrays |= rnn_arrays(rng, rnn_shapes(f"tagger.rnn{number}", 2 * dim if number else input_dim, dim, 1))
    for n_tags, kind in enumerate(kinds, 4):
        arrays[f"tagger.{kind}"] = glorot(rng, 2 * dim, n_tags, (2 * dim, n_tags))
        arrays[f"tagger.{kind}_bias"] = rng.normal(size=n_tags).astype(np.float32)
    return arrays


@settings(max_examples=50, deadline=None)
@given(
    word_dim=SIZES,
    external_dim=st.integers(0, 11),
    spelling_dim=st.integers(0, 11),
    dim=SIZES,
    n_layers=st.integers(1, 3),
    kinds=st.sampled_from([("upos",), ("xpos",), ("upos", "xpos"), ("xpos", "lemmas"), OUTPUTS]),
    lengths=LENGTHS,
    seed=st.integers(0, 2**32 - 1),
    isa=st.sampled_from(ISAS),
)
def test_taggers(
    word_dim: int,
    external_dim: int,
    spelling_dim: int,
    dim: int,
    n_layers: int,
    kinds: tuple[str, ...],
    lengths: list[int],
    seed: int,
    isa: str,
) -> None:
    arrays = tagger_arrays(word_dim, external_dim, spelling_dim, dim, n_layers, kinds, seed)
    [weights] = members_of(arrays, 1)
    rng, n = np.random.default_rng(seed), sum(lengths)
    ids = TaggerIds(rng.integers(N_WORDS, size=n), rng.integers(N_FORMS, size=n))
    external = rng.normal(size=(N_FORMS, external_dim)).astype(np.float32) if external_dim else None
    sizes = np.sort(rng.integers(1, 12, size=N_FORMS))[::-1]
    spelling = Spelling(rng.integers(N_CHARACTERS, size=int(sizes.sum())), sizes)
    backends = (Backend(None), Backend(the_core(isa), "float32"))
    results: list[dict[str, np.ndarray]] = []
    for backend in backends:
        network = tagger_network([weights], external_dim, backend)
        encoded = network.encode(ids, lengths, external, spelling)
        results.append(dict(network.score(encoded)))
        if "lemmas" in kinds:
            results[-1]["lemmas"] = network.score_lemmas(encoded)
    expected, found = results
    assert tuple(found) == kinds
    for kind in kinds:
        np.testing.assert_allclose(found[kind], expected[kind], atol=1e-5, rtol=1e-5)


def tokenizer_weights(character_dim: int, hidden_dim: int, token_dim: int, seed: int) -> TokenizerWeights:
    rng = np.random.default_rng(seed)
    arrays = {"characters.embedding": embedding(rng, N_CHARACTERS, character_dim)}
    arrays |= rnn_arrays(rng, rnn_shapes("characters.rnn", character_dim, hidden_dim, 1))
    arrays |= rnn_arrays(rng, rnn_shapes("tokens.rnn", 2 * hidden_dim, token_dim, 1))
    for name, dim, n in (("boundary", hidden_dim, N_BOUNDARIES), ("question", token_dim, N_QUESTIONS)):
        arrays[f"{name}.weights"] = glorot(rng, 2 * dim, n, (2 * dim, n))
        arrays[f"{name}.bias"] = rng.normal(size=n).astype(np.float32)
    return tokenizer_of(arrays)


@settings(max_examples=50, deadline=None)
@given(SIZES, SIZES, SIZES, LENGTHS, st.integers(0, 2**32 - 1), st.sampled_from(ISAS))
def test_tokenizers(
    character_dim: int, hidden_dim: int, token_dim: int, lengths: list[int], seed: int, isa: str
) -> None:
    weights = tokenizer_weights(character_dim, hidden_dim, token_dim, seed)
    rng = np.random.default_rng(seed)
    rows = rng.integers(N_CHARACTERS, size=sum(lengths))
    vectors = rng.normal(size=(len(rows), 2 * hidden_dim)).astype(np.float32)
    by_numpy, native = (
        tokenizer_network(weights, backend) for backend in (Backend(None), Backend(the_core(isa), "float32"))
    )
    h = by_numpy.read_characters(rows, lengths)
    np.testing.assert_allclose(native.read_characters(rows, lengths), h, atol=5e-6, rtol=1e-5)
    np.testing.assert_allclose(native.score_boundaries(h), by_numpy.score_boundaries(h), atol=5e-6, rtol=1e-5)
    expected = by_numpy.score_tokens(vectors, lengths)
    np.testing.assert_allclose(native.score_tokens(vectors, lengths), expected, atol=5e-6, rtol=1e-5)


@each_precision
def test_texts_do_not_depend_on_each_other(precision: str) -> None:
    """A long text is read in windows, in groups with those of other texts."""
    tokenizer = Tokenizer(random_model(3), Backend(the_core(), precision))
    texts = ["ab c. a'b Ad gf1 " * 200, "ab", "", "b. c! a", "g ab, " * 50]
    found = tokenizer.tokenize_all(texts)
    assert found == [tokenizer.tokenize(text) for text in texts]
    assert found[::-1] == tokenizer.tokenize_all(texts[::-1])


@each_precision
@pytest.mark.parametrize("seed", range(3))
def test_any_character_is_tokenized(precision: str, seed: int) -> None:
    tokenizer = Tokenizer(random_model(seed), Backend(the_core(), precision))
    text = "".join(map(chr, np.random.default_rng(seed).integers(33, 0xD7FF, size=500)))
    tokens = [token for sentence in tokenizer.tokenize(text) for token in sentence]
    covered = "".join(text[token.start : token.end] for token in tokens)
    assert "".join(covered.split()) == "".join(text.split())
