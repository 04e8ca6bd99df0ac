"""Weights in 32, 16 or 8 bits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.parser_store import load_parser, save_parser
from easyfirst.model.weight_files import BITS, MAX_INT8, MIN_QUANTIZED, SCALES, dequantize, quantize, quantize_rows
from tests.model.conftest import MakeModel


@given(st.integers(0, 2**32 - 1), st.floats(-6, 3), st.integers(2, 3))
def test_rounding_moves_no_value_by_more_than_half_a_step(seed: int, magnitude: float, n_axes: int) -> None:
    rng = np.random.default_rng(seed)
    array = (rng.normal(size=(3, 4, 5)[:n_axes]) * 10**magnitude).astype(np.float32)
    rounded, scales = quantize_rows(array)
    assert rounded.shape == array.shape
    assert scales.shape == (*array.shape[:-1], 1)
    step = np.abs(array).max(axis=-1, keepdims=True) / MAX_INT8
    # the scale itself is of 16 bits: a relative 2^-11, an absolute 2^-25 where it is very small
    allowed = step * (0.5 + MAX_INT8 * 2**-10) + MAX_INT8 * 2**-24
    assert (np.abs(rounded * scales.astype(np.float32) - array) <= allowed).all()


def test_a_row_of_zeros_stays_one() -> None:
    array = np.zeros((2, 3), dtype=np.float32)
    array[1] = 1
    rounded, scales = quantize_rows(array)
    assert np.array_equal(rounded[0] * scales[0].astype(np.float32), [0, 0, 0])


def arrays_of(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = {
        "matrix": (MIN_QUANTIZED // 8, 8),
        "both": (2, 16, MIN_QUANTIZED // 32),
        "small": (2, 3),
        "bias": (MIN_QUANTIZED,),
    }
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_large_matrices_are_rounded_and_the_rest_is_not() -> None:
    arrays = arrays_of(1)
    stored = quantize(arrays, 8)
    assert {name: array.dtype.name for name, array in stored.items()} == {
        "matrix": "int8",
        "matrix" + SCALES: "float16",
        "both": "int8",
        "both" + SCALES: "float16",
        "small": "float16",
        "bias": "float16",
    }
    restored = dequantize(stored)
    assert restored.keys() == arrays.keys()
    for name, array in restored.items():
        assert array.dtype == np.float32
        assert np.abs(array - arrays[name]).max() < 0.02


def test_32_bits_change_nothing_and_16_only_the_type() -> None:
    arrays = arrays_of(2)
    whole, half = dequantize(quantize(arrays, 32)), dequantize(quantize(arrays, 16))
    for name, array in arrays.items():
        assert np.array_equal(whole[name], array)
        assert np.array_equal(half[name], array.astype(np.float16).astype(np.float32))


def test_other_numbers_of_bits_are_refused() -> None:
    with pytest.raises(ConfigError, match="32, 16 or 8 bits, not 4"):
        quantize({}, 4)


def test_scales_that_do_not_fit_are_refused() -> None:
    stored = quantize(arrays_of(3), 8)
    stored["matrix" + SCALES] = stored["matrix" + SCALES][:1]
    with pytest.raises(ModelError, match=r"matrix has shape .* but its scales"):
        dequantize(stored)


@pytest.mark.parametrize("bits", BITS)
def test_a_model_is_the_same_after_a_second_saving(tmp_path: Path, make_model: MakeModel, bits: int) -> None:
    """Rounding what has been rounded changes nothing, and older versions are told if they cannot read it."""
    save_parser(tmp_path / "first", make_model(word_dim=40, vector_dim=40, spelling_dim=3, deep_bilstm=True), bits=bits)
    first = load_parser(tmp_path / "first")
    save_parser(tmp_path / "second", first, bits=bits)
    for name, array in load_parser(tmp_path / "second").arrays.items():
        assert array.dtype == np.float32
        assert array.flags.writeable
        np.testing.assert_allclose(array, first.arrays[name], atol=1e-6)
    assert json.loads((tmp_path / "first" / "config.json").read_bytes())["format_version"] == (2 if bits == 8 else 1)
    with safe_open(tmp_path / "first" / "weights.safetensors", framework="np") as file:
        assert file.get_slice("words.project").get_dtype() == {32: "F32", 16: "F16", 8: "I8"}[bits]
