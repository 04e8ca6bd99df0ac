"""Exploration in the core against the explorer in NumPy: the same attachments and violations, up to rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.parser_config import NetworkConfig
from easyfirst.native.backend import Backend
from easyfirst.native.library import Core, CountsStruct, find_core
from easyfirst.parsing.actions import Actions, head_and_modifier
from easyfirst.parsing.batch_exploration import NumpyExploration, make_exploration
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.exploration import Explored, Explorer, Policy
from easyfirst.parsing.loop import Loop
from easyfirst.parsing.native_exploration import NativeExploration
from easyfirst.parsing.oracle import NOT_ANNOTATED, Gold
from tests.nn.random_models import Model, Sample, gold_of, kinds_of_models, lengths_of, models

CORE = find_core()
KINDS = [model for model in kinds_of_models() if model.config.rnn == "lstm"]
seeds = st.integers(0, 2**32 - 1)
policies = st.builds(
    Policy,
    margin=st.sampled_from([0.2, 1.0, 3.0]),
    explore_prob=st.sampled_from([0.0, 0.3, 1.0]),
    use_dynamic_oracle=st.booleans(),
)
OFTEN = Policy(margin=3.0, explore_prob=0.5, use_dynamic_oracle=True)


def core() -> Core:
    assert CORE is not None
    return CORE


class Close(Explorer):
    """An explorer that measures how near its comparisons are to turning out otherwise."""

    closest = math.inf

    def best_of_each(self, candidates: Candidates, n_active: int) -> tuple[Actions, Actions]:
        correct, wrong = super().best_of_each(candidates, n_active)
        lead = correct.scores - wrong.scores
        gaps = [*np.abs(lead), *np.abs(lead - self._margin)]
        best = candidates.best(n_active)
        for sentence, cells in enumerate(best > -np.inf):
            scores: dict[bool, list[float]] = {True: [], False: []}
            for cell in np.flatnonzero(cells):
                left = candidates.pending.starts[[sentence]] + (cell >> 1)
                h, m = head_and_modifier(left, candidates.pending.next[left], np.array([cell & 1]))
                (is_gold,), (is_free,) = self._oracle.judge(h, m)
                for r, score in enumerate(candidates.scores_of(left, np.array([cell & 1]))[0]):
                    scores[bool(is_free or (is_gold and r == self._oracle.gold.relations[m[0]]))].append(float(score))
            for each in scores.values():
                gaps += [b - a for a, b in zip(sorted(each)[:-1], sorted(each)[1:], strict=True)][-1:]
        self.closest = min(self.closest, *map(float, gaps))
        return correct, wrong


def closeness(
    model: Model, vectors: np.ndarray, lengths: Sequence[int], gold: Gold, policy: Policy, seed: int
) -> float:
    settings: dict[str, Any] = {
        name: getattr(policy, name) for name in ("margin", "explore_prob", "use_dynamic_oracle")
    }
    explorer = Close(gold, window=model.config.window, rng=np.random.default_rng(seed), **settings)
    Loop(model.network).run(vectors, lengths, explorer)
    return explorer.closest


def partial_gold(batch: Sequence[Sample], share: float, seed: int) -> Gold:
    """Forget a share of the heads, and of the relations."""
    rng = np.random.default_rng(seed)
    heads = [[NOT_ANNOTATED if rng.random() < share else h for h in sample.heads] for sample in batch]
    relations = [[NOT_ANNOTATED if rng.random() < share else r for r in sample.relations] for sample in batch]
    return Gold.of(heads, relations)


def assert_same(found: Explored | None, expected: Explored | None) -> None:
    assert (found is None) == (expected is None)
    if found is None or expected is None:
        return
    for name in ("sides", "before", "modifiers", "relations"):
        a, b = getattr(found.attachments, name), getattr(expected.attachments, name)
        np.testing.assert_array_equal(a, b, err_msg=name)
        assert a.dtype == b.dtype
    for name in ("windows", "actions"):
        a, b = getattr(found.violations, name), getattr(expected.violations, name)
        np.testing.assert_array_equal(a, b, err_msg=name)
        assert a.dtype == b.dtype
    np.testing.assert_allclose(found.violations.losses, expected.violations.losses, atol=1e-4)
    assert found.n_violations == expected.n_violations
    assert found.loss == pytest.approx(expected.loss, abs=1e-4 * found.n_violations)


@settings(deadline=None, max_examples=150)
@given(
    models().filter(lambda model: model.config.rnn == "lstm"),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    seeds,
    policies,
    st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    st.sampled_from([1, 4, 16]),
)
def test_the_core_explores_as_numpy_does(
    model: Model, lengths: list[int], seed: int, policy: Policy, share: float, rows: int
) -> None:
    batch = model.sentences(lengths, seed)
    vectors, sizes, gold = model.vectors(batch), lengths_of(batch), partial_gold(batch, share, seed)
    assume(closeness(model, vectors, sizes, gold, policy, seed) > 1e-4)
    generators = [np.random.default_rng(seed) for _ in "12"]
    expected = NumpyExploration(model.network, policy, generators[0]).explore(vectors, sizes, gold)
    found = NativeExploration(core(), model.network, policy, generators[1]).explore(vectors, sizes, gold, rows=rows)
    assert_same(found, expected)
    assert generators[0].bit_generator.state == generators[1].bit_generator.state


@pytest.mark.parametrize(
    "policy", [OFTEN, Policy(1.0, 0.1, True), Policy(1.0, 0.1, False)], ids=["often", "paper", "static"]
)
@pytest.mark.parametrize("seed", range(3))
def test_networks_wider_than_a_panel(seed: int, policy: Policy) -> None:
    config = NetworkConfig(word_dim=20, vector_dim=44, tree_dim=27, hidden_dim=36, relation_dim=9, bilstm_layers=1)
    model = Model(config, seed, n_relations=37)
    batch = model.sentences([38, 30, 30, 12, 12, 7, 3, 1, 1], seed)
    vectors, sizes, gold = model.vectors(batch), lengths_of(batch), gold_of(batch)
    if closeness(model, vectors, sizes, gold, policy, seed) < 1e-5:
        pytest.skip("two actions are too close to tell which is the better one")
    rngs = [np.random.default_rng(seed) for _ in "12"]
    expected = NumpyExploration(model.network, policy, rngs[0]).explore(vectors, sizes, gold)
    assert expected is not None
    assert_same(NativeExploration(core(), model.network, policy, rngs[1]).explore(vectors, sizes, gold), expected)


def test_the_best_wrong_action_may_be_the_gold_arc_under_another_relation() -> None:
    model = KINDS[0]
    batch = model.sentences([2] * 200, seed=3)
    vectors, sizes, gold = model.vectors(batch), lengths_of(batch), gold_of(batch)
    policy = Policy(margin=50.0, explore_prob=0.5, use_dynamic_oracle=True)
    explorations = [
        make_exploration(model.network, policy, np.random.default_rng(1), Backend(c)) for c in (core(), None)
    ]
    found, expected = (exploration.explore(vectors, sizes, gold) for exploration in explorations)
    assert expected is not None
    sides = expected.violations.actions // model.n_relations
    assert (sides[:, 0] == sides[:, 1]).sum() > 20
    assert_same(found, expected)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("model", KINDS)
def test_looking_ahead_changes_nothing(model: Model, seed: int) -> None:
    batch = model.sentences([30, 30, 9], seed)
    found: list[Explored] = []
    computed: list[int] = []
    for rows in (1, 4, 40):
        exploration, counts = NativeExploration(core(), model.network, OFTEN, np.random.default_rng(1)), CountsStruct()
        arguments = model.vectors(batch), lengths_of(batch), gold_of(batch)
        explored = exploration.explore(*arguments, rows=rows, counts=counts)
        assert explored is not None
        found.append(explored)
        computed.append(counts.computed)
    for other in found[1:]:
        assert_same(other, found[0])
        assert other.violations.losses.tobytes() == found[0].violations.losses.tobytes()
    assert computed[0] == 29 + 29 + 8 - 3  # the last attachments are not worked out
    assert computed[0] < computed[1] < computed[2]


@pytest.mark.parametrize("model", KINDS)
def test_new_weights_are_read_when_they_are_said_to_have_changed(model: Model) -> None:
    model = Model(model.config, model.seed)  # with arrays of its own
    network, batch = model.network, model.sentences([9, 8, 5], seed=3)
    arguments = model.vectors(batch), lengths_of(batch), gold_of(batch)

    def explore(exploration: NativeExploration) -> Explored:
        exploration._rng = np.random.default_rng(1)
        explored = exploration.explore(*arguments)
        assert explored is not None
        return explored

    exploration = NativeExploration(core(), network, OFTEN, np.random.default_rng(1))
    before = explore(exploration)
    for name, array in model.arrays.items():
        if not name.startswith("words."):
            array[:] = np.random.default_rng(len(name)).normal(size=array.shape) * 0.7
    assert_same(explore(exploration), before)
    exploration.weights_changed()
    after = explore(exploration)
    assert_same(after, explore(NativeExploration(core(), network, OFTEN, np.random.default_rng(1))))
    assert after.loss != before.loss


def test_weights_that_diverge_are_reported_as_in_training() -> None:
    model = Model(KINDS[0].config, seed=4)
    batch = model.sentences([5, 4], seed=3)
    vectors, rest = model.vectors(batch), (lengths_of(batch), gold_of(batch))
    exploration = NativeExploration(core(), model.network, OFTEN, np.random.default_rng(1))
    with pytest.raises(ConfigError, match="not finite numbers; try a smaller learning_rate"):
        exploration.explore(vectors * np.float32(np.nan), *rest)
    model.arrays["scorer.labelled"][0, 0] = np.inf
    with pytest.raises(ConfigError, match="not finite numbers; try a smaller learning_rate"):
        exploration.weights_changed()


def test_what_does_not_fit_together_is_refused() -> None:
    model, batch = KINDS[0], KINDS[0].sentences([5, 4], seed=3)
    vectors, gold = model.vectors(batch), gold_of(batch)
    exploration = NativeExploration(core(), model.network, OFTEN, np.random.default_rng(1))
    for lengths in ([5, 3], [4, 5], [9, 0], [5, 4, 1], []):
        with pytest.raises(ValueError, match=r"add up|out of range"):
            exploration.explore(vectors, lengths, gold)
    for heads, relations in (
        (gold.heads + 20, gold.relations),
        (gold.heads - 20, gold.relations),
        (gold.heads, gold.relations + model.n_relations),
        (gold.heads[:3], gold.relations),
    ):
        with pytest.raises(ValueError, match=r"add up|out of range"):
            exploration.explore(vectors, [5, 4], Gold(heads, relations))


def test_the_core_explores_with_lstms_only() -> None:
    for rnn in ("lstm", "gru", "elman"):
        network = Model(NetworkConfig(vector_dim=4, rnn=rnn), seed=1).network
        arguments = network, OFTEN, np.random.default_rng(1)
        expected = NativeExploration if rnn == "lstm" else NumpyExploration
        assert isinstance(make_exploration(*arguments, Backend(core())), expected)
        assert isinstance(make_exploration(*arguments, Backend(None)), NumpyExploration)
        if rnn != "lstm":
            with pytest.raises(ModelError, match=f"this model has {rnn.upper()} cells"):
                make_exploration(*arguments, Backend(core(), is_required=True))
