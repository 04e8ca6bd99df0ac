"""A copied state goes on like the original, and neither disturbs the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Ints
from easyfirst.parsing.actions import Actions, easiest
from easyfirst.parsing.nodes import Member
from easyfirst.parsing.state import State
from easyfirst.parsing.workspace import Workspace
from tests.nn.random_models import Model, lengths_of, models


def start(members: Sequence[Model], lengths: list[int], seed: int) -> State:
    batch = members[0].sentences(lengths, seed)
    vectors = np.concatenate([member.vectors(batch) for member in members], axis=1)
    prepared = [Member.of(member.network, len(members)) for member in members]
    with overflow_is_fine():
        return State.start(prepared, vectors, lengths_of(batch), Workspace())


def step(state: State, n: int) -> tuple[Ints, Ints, Actions]:
    """Take the easiest action in the first n sentences; return what was attached to what, counted from each start."""
    with overflow_is_fine():
        actions = easiest(state.candidates, n)
        h, m = state.arcs_of(actions)
        state.attach(h, m, actions)
    starts = state.pending.starts[:n]
    return h - starts, m - starts, actions


@settings(deadline=None, max_examples=40)
@given(
    models(),
    st.integers(1, 2),
    st.integers(3, 8),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
    st.data(),
)
def test_a_fork_goes_on_like_the_original(
    model: Model, n_members: int, length: int, n_sentences: int, seed: int, data: st.DataObject
) -> None:
    state = start([model] * n_members, [length] * n_sentences, seed)
    n_done = data.draw(st.integers(0, length - 3))
    for _ in range(n_done):
        step(state, n_sentences)
    chosen = np.array(data.draw(st.lists(st.integers(0, n_sentences - 1), min_size=1, max_size=4)))
    fork = state.select(chosen)
    rows = state.pending.rows_of(chosen)
    np.testing.assert_array_equal(fork.candidates.scores[:-1], state.candidates.scores[rows])
    for _ in range(length - n_done - 2):
        expected = step(state, n_sentences)
        found = step(fork, len(chosen))
        for of_state, of_fork in zip(expected[:2], found[:2], strict=True):
            np.testing.assert_array_equal(of_state[chosen], of_fork)
        np.testing.assert_array_equal(expected[2].relations[chosen], found[2].relations)
        np.testing.assert_allclose(expected[2].scores[chosen], found[2].scores, atol=1e-5)


@settings(deadline=None, max_examples=20)
@given(models(), st.integers(3, 8), st.integers(0, 2**32 - 1))
def test_a_fork_shares_no_memory(model: Model, length: int, seed: int) -> None:
    state = start([model], [length, length], seed)
    before = [array.copy() for array in arrays_of(state)]
    step(state.select(np.array([1, 0, 1])), 3)
    for array, old in zip(arrays_of(state), before, strict=True):
        np.testing.assert_array_equal(array, old)


def arrays_of(state: State) -> list[np.ndarray]:
    nodes = state.nodes[0]
    grids = state.candidates.copy_grid()
    return [state.pending.next, state.pending.previous, state.candidates.scores, *grids, nodes.c, nodes.projections]
