"""The products of the core against naive ones, for every shape of tile and every instruction set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ModelError
from easyfirst.native.matrix import Matrix
from tests.native.cores import ALL_PRECISIONS, BYTES, ISAS, each_isa, each_precision, the_core

ROUNDING = np.float32(12582912)  # 1.5 * 2^23: adding it to a float rounds it to an integer, half to even


def twin_product(x: np.ndarray, weights: np.ndarray, bias: np.ndarray, precision: str) -> np.ndarray:
    """The product with 8-bit weights in plain NumPy: float32 wherever the core has it, exact sums of integers."""
    largest = np.abs(weights).max(axis=0)
    inverse = np.where(largest > 1e-30, np.float32(127) / np.maximum(largest, np.float32(1e-30)), np.float32(0))
    integers = np.floor(weights * inverse + np.float32(128.5)).astype(np.int64) - 128
    assert np.abs(integers).max() <= 127
    k = len(weights)
    levels = np.float32(63 if precision == "int8-fast" else min(8191, (2**31 - 1) // 127 // k - 1))
    of_rows = np.maximum(np.abs(x).max(axis=1, keepdims=True), np.float32(1e-30))
    activations = (x * (levels / of_rows) + ROUNDING - ROUNDING).astype(np.int64)
    assert np.abs(activations).max() <= levels
    sums = activations.astype(np.float64) @ integers  # exact: far below 2^53
    assert np.abs(sums).max() < 2**31
    return sums.astype(np.float32) * ((of_rows / levels) * (largest / np.float32(127))) + bias


def random_case(k: int, n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, weights and a bias. Rows and columns differ in scale, and some are zero."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, k)) * np.exp(rng.normal(size=(m, 1)) * 2)
    weights = rng.normal(size=(k, n)) * np.exp(rng.normal(size=n))
    x[rng.random(m) < 0.1] = 0
    weights[:, rng.random(n) < 0.1] = 0
    return x.astype(np.float32), weights.astype(np.float32), rng.normal(size=n).astype(np.float32)


def assert_right(isa: str, precision: str, k: int, n: int, m: int, seed: int = 0) -> None:
    x, weights, bias = random_case(k, n, m, seed)
    found = Matrix(the_core(isa), weights, bias, precision).product(x)
    assert found.shape == (m, n)
    assert found.dtype == np.float32
    if precision in BYTES:
        np.testing.assert_array_equal(found, twin_product(x, weights, bias, precision))
    else:
        exact = x.astype(np.float64) @ weights + bias
        scale = np.abs(x).astype(np.float64) @ np.abs(weights) + np.abs(bias)
        assert (np.abs(found - exact) <= 1e-7 * (k + 2) * scale + 1e-30).all()


@each_isa
@each_precision
@pytest.mark.parametrize(("k", "n"), [(37, 45), (64, 64), (400, 800), (100, 98), (5, 1), (1, 5)])
def test_every_number_of_rows(isa: str, precision: str, k: int, n: int) -> None:
    few = k * n < 10_000
    for m in [*range(1, 31), 95, 96, 97, *([191, 193, 300] if few else [])]:
        assert_right(isa, precision, k, n, m, seed=m)


@each_isa
@each_precision
def test_every_number_of_columns(isa: str, precision: str) -> None:
    for n in range(1, 71):
        for m in (1, 2, 3, 7):
            assert_right(isa, precision, 13, n, m, seed=n)


@each_isa
@each_precision
def test_every_number_of_summands(isa: str, precision: str) -> None:
    for k in range(1, 71):
        for m in (1, 5):
            assert_right(isa, precision, k, 35, m, seed=k)


@settings(max_examples=150, deadline=None)
@given(
    isa=st.sampled_from(ISAS),
    precision=st.sampled_from(ALL_PRECISIONS),
    k=st.integers(1, 70),
    n=st.integers(1, 70),
    m=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape(isa: str, precision: str, k: int, n: int, m: int, seed: int) -> None:
    assert_right(isa, precision, k, n, m, seed)


@each_isa
@pytest.mark.parametrize("precision", BYTES)
def test_long_sums_of_extreme_integers_do_not_overflow(isa: str, precision: str) -> None:
    """Every weight and every activation is the largest or the smallest integer there is."""
    for k in (2063, 2064, 2065, 5001):
        for sign in (1, -1):
            weights, x = np.ones((k, 3), dtype=np.float32), np.full((2, k), sign, dtype=np.float32)
            weights[::2, 2] = -1
            bias = np.zeros(3, dtype=np.float32)
            found = Matrix(the_core(isa), weights, bias, precision).product(x)
            np.testing.assert_array_equal(found, twin_product(x, weights, bias, precision))
            np.testing.assert_allclose(found[:, 0], k * sign, rtol=1e-6)


@each_isa
@each_precision
@pytest.mark.parametrize(("k", "n"), [(40, 33), (100, 98), (7, 130)])
def test_a_row_does_not_depend_on_the_rows_beside_it(isa: str, precision: str, k: int, n: int) -> None:
    x, weights, bias = random_case(k, n, 120, seed=k)
    matrix = Matrix(the_core(isa), weights, bias, precision)
    alone = np.concatenate([matrix.product(row[None]) for row in x])
    for m in [*range(2, 31), 96, 97, 120]:
        for first in {0, 1, 120 - m}:
            found = matrix.product(x[first : first + m])
            assert found.tobytes() == alone[first : first + m].tobytes(), (m, first)
    backwards = matrix.product(x[::-1])
    assert backwards[::-1].tobytes() == alone.tobytes()


@pytest.mark.parametrize("precision", BYTES)
@pytest.mark.parametrize(("k", "n", "m"), [(41, 77, 29), (400, 100, 13), (3, 9, 100)])
def test_products_with_8_bit_weights_are_the_same_on_every_machine(precision: str, k: int, n: int, m: int) -> None:
    x, weights, bias = random_case(k, n, m, seed=1)
    results = [Matrix(the_core(isa), weights, bias, precision).product(x).tobytes() for isa in ISAS]
    assert len(set(results)) == 1


@each_isa
@each_precision
def test_without_a_bias_and_without_rows(isa: str, precision: str) -> None:
    x, weights, _ = random_case(11, 13, 5, seed=0)
    matrix = Matrix(the_core(isa), weights, None, precision)
    zeros = np.zeros(13, dtype=np.float32)
    np.testing.assert_array_equal(matrix.product(x), Matrix(the_core(isa), weights, zeros, precision).product(x))
    assert matrix.product(x[:0]).shape == (0, 13)


@each_isa
@each_precision
def test_numbers_of_any_scale(isa: str, precision: str) -> None:
    for x_scale, scale in [(1e-20, 1e-20), (1e-38, 1), (1e-45, 1), (1, 1e-38), (1, 1e-45), (1e25, 1e-25), (1e18, 1e18)]:
        x, weights, bias = (array.copy() for array in random_case(9, 10, 4, seed=2))
        x, weights = (x * np.float32(x_scale)).astype(np.float32), (weights * np.float32(scale)).astype(np.float32)
        found = Matrix(the_core(isa), weights, bias, precision).product(x)
        exact = x.astype(np.float64) @ weights + bias
        size = np.abs(x).max(axis=1, keepdims=True).astype(np.float64) * np.abs(weights).max(axis=0) * 9
        assert (np.abs(found - exact) <= size * 0.02 + 1e-6 * np.abs(exact) + 1e-30).all(), (x_scale, scale)


@each_isa
@each_precision
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_with_a_number_that_is_not_finite_has_no_finite_result(isa: str, precision: str, bad: float) -> None:
    """Wherever the number stands, and only in that row."""
    x, weights, bias = random_case(21, 5, 3, seed=3)
    x, weights = x + np.float32(0.1), weights + np.float32(0.1)  # no zeros
    matrix = Matrix(the_core(isa), weights, bias, precision)
    expected = matrix.product(x)
    for place in range(21):
        changed = x.copy()
        changed[1, place] = bad
        found = matrix.product(changed)
        assert not np.isfinite(found[1]).any(), place
        assert found[[0, 2]].tobytes() == expected[[0, 2]].tobytes()


@each_isa
@each_precision
def test_weights_that_are_not_finite_are_refused(isa: str, precision: str) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        for array in (0, 1):
            given_arrays = [np.ones((3, 4), dtype=np.float32), np.ones(4, dtype=np.float32)]
            given_arrays[array].flat[-1] = bad
            with pytest.raises(ModelError, match="not finite"):
                Matrix(the_core(isa), *given_arrays, precision)


@each_precision
def test_wrong_shapes_are_refused(precision: str) -> None:
    core = the_core()
    for shape in [(0, 3), (3, 0), (3,), (2, 2, 2)]:
        with pytest.raises(ValueError, match=r"weights must be|out of range"):
            Matrix(core, np.ones(shape), None, precision)
    with pytest.raises(ValueError, match="bias must have"):
        Matrix(core, np.ones((3, 4)), np.ones(3), precision)
    matrix = Matrix(core, np.ones((3, 4)), None, precision)
    for rows in (np.ones((2, 4)), np.ones(3), np.ones((1, 2, 3))):
        with pytest.raises(ValueError, match="rows must have 3 numbers"):
            matrix.product(rows)
