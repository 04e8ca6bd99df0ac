"""exp and tanh of the core against float64."""

from __future__ import annotations

import numpy as np
import pytest

from tests.native.cores import ISAS, activate, each_isa, the_core

EDGE = 29
"""Beyond plus or minus this, exp is that of the edge."""


def grid() -> np.ndarray:
    """A fine grid over all that is not clamped, with random points and every power of two."""
    rng = np.random.default_rng(0)
    powers = np.float32(2) ** np.arange(-149, 5, dtype=np.float32)
    points = np.concatenate([np.linspace(-EDGE, EDGE, 200_001), rng.uniform(-EDGE, EDGE, 50_000), powers, -powers, [0]])
    return points.astype(np.float32)


@each_isa
def test_exp_has_a_small_relative_error(isa: str) -> None:
    x = grid()
    exact = np.exp(x.astype(np.float64))
    error = np.abs(activate(the_core(isa), x, is_tanh=False) / exact - 1)
    assert error.max() < 2e-7, f"exp({x[error.argmax()]})"


@each_isa
def test_tanh_has_a_small_absolute_error(isa: str) -> None:
    x = np.concatenate([grid(), grid() / 8])
    error = np.abs(activate(the_core(isa), x, is_tanh=True) - np.tanh(x.astype(np.float64)))
    assert error.max() < 2e-7, f"tanh({x[error.argmax()]})"


@each_isa
def test_tanh_stays_within_its_bounds_and_is_odd_at_zero(isa: str) -> None:
    found = activate(the_core(isa), grid(), is_tanh=True)
    assert np.abs(found).max() <= 1
    assert activate(the_core(isa), np.zeros(1), is_tanh=True)[0] == 0


@each_isa
@pytest.mark.parametrize("sign", [1, -1])
def test_exp_is_clamped(isa: str, sign: int) -> None:
    beyond = sign * np.array([EDGE, 29.0001, 30, 88, 89, 1e4, 1e30, 3.4e38, np.inf], dtype=np.float32)
    found = activate(the_core(isa), beyond, is_tanh=False)
    assert (found == found[0]).all()
    assert found[0] == pytest.approx(np.exp(float(sign * EDGE)), rel=2e-7)


@each_isa
def test_tanh_of_infinities(isa: str) -> None:
    x = np.array([np.inf, -np.inf, 1e30, -1e30, 3.4e38, -3.4e38], dtype=np.float32)
    np.testing.assert_array_equal(activate(the_core(isa), x, is_tanh=True), np.sign(x))


@each_isa
@pytest.mark.parametrize("is_tanh", [False, True])
def test_any_nan_gives_nan_and_changes_no_other_number(isa: str, is_tanh: bool) -> None:
    """A NaN has 22 bits that mean nothing; those of a corrupted file are random."""
    payloads = np.concatenate([np.arange(1, 1024), np.random.default_rng(0).integers(1, 2**23, size=2000)])
    bits = np.concatenate([payloads | 0x7F800000, payloads | 0xFF800000]).astype(np.uint32)
    x = np.full(2 * len(bits), 0.5, dtype=np.float32)
    x[::2] = bits.view(np.float32)
    found = activate(the_core(isa), x, is_tanh=is_tanh)
    assert np.isnan(found[::2]).all()
    assert (found[1::2] == activate(the_core(isa), np.full(1, 0.5), is_tanh=is_tanh)[0]).all()


@pytest.mark.parametrize("is_tanh", [False, True])
def test_machines_with_fused_products_agree_to_the_bit(is_tanh: bool) -> None:
    fused = [isa for isa in ISAS if isa != "base"]
    results = [activate(the_core(isa), grid(), is_tanh=is_tanh).tobytes() for isa in fused]
    assert len(set(results)) <= 1
