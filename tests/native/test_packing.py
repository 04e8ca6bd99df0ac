"""Matrices filled from blocks, and views of them, against the products of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ModelError
from easyfirst.native.layout import GATES, Block, Places, blocks_of, exponents, gate_blocks, spread
from easyfirst.native.library import PRECISIONS, Core, find_core
from easyfirst.native.matrix import Filled, Matrix, View

CORE = find_core()
each_precision = pytest.mark.parametrize("precision", tuple(PRECISIONS))
sizes = st.lists(st.integers(1, 20), min_size=1, max_size=3)


def core() -> Core:
    assert CORE is not None
    return CORE


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@settings(deadline=None, max_examples=60)
@given(sizes, sizes, st.sampled_from(tuple(PRECISIONS)), st.booleans())
def test_blocks_fill_what_spread_would(rows: list[int], columns: list[int], precision: str, is_part: bool) -> None:
    down, across = Places.of(*rows), Places.of(*columns)
    whole = numbers(sum(rows), sum(columns) + 3, seed=1)
    array = whole[:, 3:] if is_part else whole[:, 3:].copy()  # rows that are not side by side
    bias = numbers(1, sum(columns), seed=2)
    blocks = blocks_of(array, across, down, factor=-2) + blocks_of(
        bias, across, Places.of(1, padded=False), row=down.size
    )
    filled = Filled(core(), (down.size, across.size), blocks, precision)
    expected = Matrix(core(), spread(array * np.float32(-2), across, down), spread(bias[0], across), precision)
    x = numbers(5, down.size)
    np.testing.assert_array_equal(filled.product(x), expected.product(x))


def test_gates_go_to_their_places_as_exponents() -> None:
    weights = numbers(5, 12)
    dim, rows = 3, Places.of(5)
    filled = Filled(core(), (rows.size, 32), gate_blocks(weights, dim, rows), "float32")
    expected = Matrix(core(), spread(exponents(weights, dim), Places.of(*[dim] * 4), rows))
    x = numbers(4, rows.size)
    np.testing.assert_array_equal(filled.product(x), expected.product(x))
    assert GATES[-1] == 0  # the forget gate, which views of leaves leave out


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 3), st.integers(1, 4), st.integers(0, 3), st.integers(1, 70), st.data())
def test_a_view_is_its_matrix_with_zeros_elsewhere(
    before: int, own: int, after: int, n: int, data: st.DataObject
) -> None:
    precision, has_bias = data.draw(st.sampled_from(tuple(PRECISIONS))), data.draw(st.booleans())
    k, wanted = 8 * (before + own + after), data.draw(st.integers(1, n))
    weights, bias = numbers(k, n), numbers(n, seed=1)
    matrix = Matrix(core(), weights, bias, precision)
    view = View(matrix, row=8 * before, shape=(8 * own, wanted), has_bias=has_bias)
    x = numbers(7, 8 * own, seed=2)
    padded = np.pad(x, ((0, 0), (8 * before, 8 * after)))
    whole = matrix if has_bias else Matrix(core(), weights, None, precision)
    np.testing.assert_array_equal(view.product(x), whole.product(padded)[:, :wanted])


@each_precision
def test_a_view_keeps_the_memory_of_its_matrix(precision: str) -> None:
    weights, x = numbers(16, 40), numbers(3, 8)
    view = View(Matrix(core(), weights, None, precision), row=8, shape=(8, 40), has_bias=False)
    others = [Matrix(core(), numbers(16, 40, seed=seed), None, precision) for seed in range(20)]
    np.testing.assert_allclose(view.product(x), x @ weights[8:], atol=0.3)
    assert others


def test_refilling_reads_arrays_again_and_views_see_it() -> None:
    weights = numbers(16, 40)
    filled = Filled(core(), (16, 40), [Block(weights, 0, 0)], "float32")
    view = View(filled, row=8, shape=(8, 40), has_bias=True)
    weights[:] = numbers(16, 40, seed=5)
    filled.refill()
    x = numbers(3, 16)
    np.testing.assert_array_equal(filled.product(x), Matrix(core(), weights).product(x))
    np.testing.assert_array_equal(view.product(x[:, 8:]), Matrix(core(), weights[8:]).product(x[:, 8:]))


@each_precision
def test_what_cannot_be_filled_or_viewed_is_refused(precision: str) -> None:
    weights = numbers(16, 40)
    for row, column in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="out of range"):
            Filled(core(), (15, 40), [Block(weights, row, column)], precision)
    matrix = Matrix(core(), weights, None, precision)
    for row, shape in ((4, (8, 40)), (16, (8, 40)), (8, (9, 40)), (0, (8, 41)), (0, (0, 40)), (-8, (8, 40))):
        with pytest.raises(ValueError, match="out of range"):
            View(matrix, row=row, shape=shape, has_bias=True)
    for place in ((3, 5), (15, 39)):
        weights[place] = np.nan if place[0] == 3 else np.inf
        with pytest.raises(ModelError, match="not finite"):
            Filled(core(), (16, 40), [Block(weights, 0, 0)], precision)
