"""The core's encoders against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.native.encoder import Encoder
from easyfirst.native.library import Core
from easyfirst.nn.words import WordIds
from tests.native.cores import BYTES, ISAS, each_isa, each_precision, the_core
from tests.native.networks import LivelyModel, lstm_models, numpy_vectors, random_ids, small_config
from tests.nn.random_models import Model

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=20).map(lambda lengths: sorted(lengths, reverse=True))


def encode(core: Core, model: Model, ids: WordIds, lengths: list[int], precision: str, group: int = 16) -> np.ndarray:
    encoder = Encoder.of_words(core, model.network.words, precision)
    external = [] if ids.external is None else [ids.external]
    tables = [ids.words, *external, *ids.tags]
    return encoder.read(lengths, tables, forms=ids.forms, spelling=ids.spelling, group=group)


@settings(max_examples=80, deadline=None)
@given(lstm_models(), LENGTHS, st.integers(0, 2**32 - 1), st.sampled_from(ISAS))
def test_words_are_encoded_as_in_numpy(model: Model, lengths: list[int], seed: int, isa: str) -> None:
    ids = random_ids(model, sum(lengths), seed)
    found = encode(the_core(isa), model, ids, lengths, "float32")
    np.testing.assert_allclose(found, numpy_vectors([model.network], ids, lengths), atol=2e-6, rtol=1e-5)


@settings(max_examples=40, deadline=None)
@given(lstm_models(), LENGTHS, st.integers(0, 2**32 - 1), st.sampled_from(BYTES))
def test_weights_of_8_bits_are_nearly_as_good(model: Model, lengths: list[int], seed: int, precision: str) -> None:
    """The bound is loose, for small random networks, but a wrong layout or scale is far beyond it."""
    ids = random_ids(model, sum(lengths), seed)
    found = encode(the_core(), model, ids, lengths, precision)
    error = np.abs(found - numpy_vectors([model.network], ids, lengths))
    assert error.mean() < (0.01 if precision == "int8" else 0.03)


@each_isa
@each_precision
@pytest.mark.parametrize("layers", [0, 1, 3])
def test_a_sequence_does_not_depend_on_its_group(isa: str, precision: str, layers: int) -> None:
    model = LivelyModel(small_config(bilstm_layers=layers), 1)
    lengths = [30, 30, 17, 16, 16, 9, 8, 5, 3, *[2] * 30, *[1] * 40]
    ids = random_ids(model, sum(lengths), 1)
    expected = encode(the_core(isa), model, ids, lengths, precision, group=1)
    for group in (2, 3, 5, 16, 64, 1000):
        assert encode(the_core(isa), model, ids, lengths, precision, group).tobytes() == expected.tobytes(), group


@pytest.mark.parametrize("precision", BYTES)
def test_machines_with_fused_products_encode_the_same_to_the_bit(precision: str) -> None:
    model, lengths = LivelyModel(small_config(vector_dim=34), 2), [20, 9, 1]
    ids = random_ids(model, sum(lengths), 2)
    fused = [isa for isa in ISAS if isa != "base"]
    results = [encode(the_core(isa), model, ids, lengths, precision).tobytes() for isa in fused]
    assert len(set(results)) <= 1


@each_precision
def test_no_sequences(core: Core, precision: str) -> None:
    model = LivelyModel(small_config(), 0)
    ids = random_ids(model, 0, 0)
    assert encode(core, model, ids, [], precision).shape == (0, model.config.vector_dim)


@each_precision
def test_forms_that_no_word_has(core: Core, precision: str) -> None:
    """More forms than are read at once, most of them unused, and one of 3,000 characters."""
    model, rng = LivelyModel(small_config(), 3), np.random.default_rng(3)
    ids = random_ids(model, 7, 3)
    lengths = np.array([3000, *[5] * 100, *[1] * 99])
    spelling = type(ids.spelling)(rng.integers(6, size=int(lengths.sum())), lengths)
    ids = WordIds(ids.words, None, ids.tags, np.array([0, 199, 64, 63, 128, 1, 0]), spelling)
    found = encode(core, model, ids, [7], precision)
    error = np.abs(found - numpy_vectors([model.network], ids, [7]))
    assert error.max() < {"float32": 5e-6, "int8": 0.1, "int8-fast": 0.3}[precision]


def test_equal_words_in_different_places(core: Core) -> None:
    """The inputs of equal words are computed once; words that differ in one id are not equal."""
    model, n = LivelyModel(small_config(tags="both"), 4, has_external=True), 500
    rng = np.random.default_rng(4)
    few = random_ids(model, n, 4)
    ids = WordIds(
        words=rng.integers(2, size=n),
        external=rng.integers(2, size=n),
        tags=tuple(rng.integers(2, size=n) for _ in few.tags),
        forms=rng.integers(2, size=n),
        spelling=few.spelling,
    )
    lengths = [100] * 5
    found = encode(core, model, ids, lengths, "float32")
    np.testing.assert_allclose(found, numpy_vectors([model.network], ids, lengths), atol=2e-6, rtol=1e-5)
