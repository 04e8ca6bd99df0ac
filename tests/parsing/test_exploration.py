"""Exploration against Algorithm 4, followed naively along the derivation that the explorer took."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from easyfirst.nn.trees import LEFT
from easyfirst.parsing.actions import Actions, Choose
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.derivation import Attachment
from easyfirst.parsing.exploration import Explorer
from easyfirst.parsing.loop import Loop
from tests.derivations import derivation_of
from tests.nn.random_models import Model, Sample, gold_of, kinds_of_models, lengths_of, models
from tests.twins import NOWHERE, Action, Teacher

KINDS = kinds_of_models()
batches = st.lists(st.integers(1, 8), min_size=1, max_size=4)
seeds = st.integers(0, 2**32 - 1)
policies = st.fixed_dictionaries(
    {
        "use_dynamic_oracle": st.booleans(),
        "explore_prob": st.sampled_from([0.0, 0.3, 1.0]),
        "margin": st.sampled_from([0.2, 1.0, 3.0]),
    }
)


def explorer_of(model: Model, batch: Sequence[Sample], **changes: Any) -> Explorer:
    rng = np.random.default_rng(4)
    settings = {"margin": 1.0, "explore_prob": 0.1, "use_dynamic_oracle": True, "rng": rng, **changes}
    return Explorer(gold_of(batch), window=model.config.window, **settings)


def explore(model: Model, batch: Sequence[Sample], choose: Choose) -> list[list[Attachment]]:
    derivations = Loop(model.network).run(model.vectors(batch), lengths_of(batch), choose)
    return [derivation_of(derivations, number, model.relation_names) for number in range(len(batch))]


def taught(model: Model, sample: Sample, found: Sequence[Attachment], margin: float) -> tuple[Teacher, list[Action]]:
    """Algorithm 4 made to follow what the explorer followed: what it saw, and the actions as the paper writes them."""
    actions: list[Action] = []
    pend = list(range(1, len(sample) + 1))
    for a in found:
        i = min(pend.index(a.head), pend.index(a.modifier))
        actions.append((i, 0 if a.direction == "left" else 1, int(a.relation)))
        pend.remove(a.modifier)
    todo = iter(actions)
    teacher = Teacher(sample.heads, sample.relations, margin, follow=lambda *_: next(todo))
    model.twin.derive(model.twin_vectors(sample), teacher)
    return teacher, actions


@settings(deadline=None, max_examples=80)
@given(models(), batches, seeds, policies)
def test_the_policy_is_followed_at_every_step(model: Model, lengths: list[int], seed: int, policy: dict) -> None:
    batch = model.sentences(lengths, seed)
    for sample, found in zip(batch, explore(model, batch, explorer_of(model, batch, **policy)), strict=True):
        teacher, actions = taught(model, sample, found, policy["margin"])
        assume(teacher.closest > 1e-3)
        for action, (correct, wrong, lead) in zip(actions, teacher.seen, strict=True):
            if lead > policy["margin"] or not policy["use_dynamic_oracle"]:
                assert action == correct
            elif lead < 0 or policy["explore_prob"] == 1:
                assert action == wrong
            elif policy["explore_prob"] == 0:
                assert action == correct
            else:
                assert action in (correct, wrong)


@settings(deadline=None, max_examples=80)
@given(models(), batches, seeds, policies)
def test_violations_are_the_steps_inside_the_margin(model: Model, lengths: list[int], seed: int, policy: dict) -> None:
    batch = model.sentences(lengths, seed)
    explorer = explorer_of(model, batch, **policy)
    derivations = explore(model, batch, explorer)
    expected: list[tuple[float, int, int]] = []
    for sample, found in zip(batch, derivations, strict=True):
        teacher, _ = taught(model, sample, found, policy["margin"])
        assume(teacher.closest > 1e-3)
        close = [(correct, wrong) for correct, wrong, lead in teacher.seen if lead < policy["margin"]]
        for loss, pair in zip(teacher.losses, close, strict=True):
            expected.append((float(loss), *(d * model.n_relations + relation for _, d, relation in pair)))
    assert explorer.n_violations == len(expected)
    if not expected:
        assert explorer.loss == 0
        return
    violations = explorer.violations()
    order = np.argsort(violations.losses)
    expected.sort()
    np.testing.assert_allclose(violations.losses[order], [loss for loss, _, _ in expected], atol=1e-4)
    assert explorer.loss == pytest.approx(sum(loss for loss, _, _ in expected), abs=1e-3)
    if np.diff([loss for loss, _, _ in expected]).min(initial=1) > 1e-3:  # or their order is not certain
        assert violations.actions[order].tolist() == [[correct, wrong] for _, correct, wrong in expected]


@settings(deadline=None, max_examples=40)
@given(models(), batches, seeds)
def test_without_the_dynamic_oracle_every_derivation_builds_the_gold_tree(
    model: Model, lengths: list[int], seed: int
) -> None:
    batch = model.sentences(lengths, seed)
    explorer = explorer_of(model, batch, use_dynamic_oracle=False, explore_prob=1.0)
    for sample, found in zip(batch, explore(model, batch, explorer), strict=True):
        gold = {(h, m, str(r)) for m, (h, r) in enumerate(zip(sample.heads, sample.relations, strict=True), 1) if h}
        assert {(a.head, a.modifier, a.relation) for a in found} == gold


@pytest.mark.parametrize("model", [KINDS[0], KINDS[4]])
def test_versions_count_the_attachments_to_each_side_of_a_head(model: Model) -> None:
    """The windows of a violation hold, for every slot and side, the number of the last attachment there."""
    (sample,) = batch = model.sentences([10], seed=2)
    explorer = explorer_of(model, batch, margin=50.0, explore_prob=0.5)
    (found,) = explore(model, batch, explorer)
    teacher, actions = taught(model, sample, found, 50.0)
    k, outside = model.config.window, len(sample)
    versions = {(m, side): m for m in range(outside + 1) for side in (0, 1)}  # row, side -> version
    pend = list(range(outside))
    windows: list[list[list[list[int]]]] = []
    attachments: list[tuple[int, int, list[int], int]] = []
    for number, (action, (correct, wrong, lead)) in enumerate(zip(actions, teacher.seen, strict=True)):
        padded = [outside] * k + pend + [outside] * k
        if lead < 50.0:
            windows.append(
                [
                    [[versions[row, 0], versions[row, 1]] for row in padded[i : i + 2 * k + 2]]
                    for i, _, _ in (correct, wrong)
                ]
            )
        i, d, relation = action
        h, m = (pend[i + 1], pend[i]) if d == LEFT else (pend[i], pend[i + 1])
        attachments.append((d, versions[h, d], [versions[m, 0], versions[m, 1]], relation))
        versions[h, d] = outside + 1 + number
        pend.remove(m)
    assert explorer.violations().windows.tolist() == windows
    made = explorer.attachments()
    assert [made.sides.tolist(), made.before.tolist(), made.modifiers.tolist(), made.relations.tolist()] == [
        list(column) for column in zip(*attachments, strict=True)
    ]


def test_where_every_action_is_correct_there_is_nothing_to_violate() -> None:
    """Two words whose heads are gone: no action is wrong, so the lead has no bound and the margin cannot be missed."""
    model = KINDS[0]
    some_were_free = 0
    for seed in range(40):
        (sample,) = batch = model.sentences([4], seed)
        explorer = explorer_of(model, batch, explore_prob=1.0, margin=1000.0)
        (found,) = explore(model, batch, explorer)
        teacher, _ = taught(model, sample, found, 1000.0)
        n_free = sum(wrong == NOWHERE for _, wrong, _ in teacher.seen)
        assert explorer.n_violations == 3 - n_free
        some_were_free += n_free
    assert some_were_free


class Watched:
    """An explorer that tells what it chose from."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.leads: list[np.ndarray] = []
        self.used_wrong: list[np.ndarray] = []

    def __call__(self, candidates: Candidates, n_active: int) -> Actions:
        correct, wrong = self.explorer.best_of_each(candidates, n_active)
        chosen = self.explorer(candidates, n_active)
        same = [
            (chosen.left == one.left) & (chosen.directions == one.directions) & (chosen.relations == one.relations)
            for one in (correct, wrong)
        ]
        lead = correct.scores - wrong.scores
        has_wrong = lead < np.inf
        assert np.array_equal(same[0][has_wrong], ~same[1][has_wrong])
        self.leads.append(lead)
        self.used_wrong.append(~same[0])
        return chosen


@pytest.mark.parametrize("explore_prob", [0.0, 0.1, 0.5, 1.0])
def test_a_close_wrong_action_is_followed_as_often_as_it_should_be(explore_prob: float) -> None:
    model = KINDS[0]
    batch = model.sentences([12] * 300, seed=3)
    watched = Watched(explorer_of(model, batch, explore_prob=explore_prob))
    explore(model, batch, watched)
    lead, used_wrong = np.concatenate(watched.leads), np.concatenate(watched.used_wrong)
    assert used_wrong[lead < 0].all()
    assert not used_wrong[lead > 1].any()
    close = used_wrong[(lead > 0) & (lead < 1)]
    assert len(close) > 400
    deviation = 4.5 * np.sqrt(explore_prob * (1 - explore_prob) / len(close))
    assert abs(close.mean() - explore_prob) <= deviation
    assert watched.explorer.n_violations == (lead < 1).sum()


def test_the_same_seed_explores_the_same_way() -> None:
    model = KINDS[0]
    batch = model.sentences([9, 9, 7, 3], seed=3)
    runs = [explore(model, batch, explorer_of(model, batch, explore_prob=0.5, margin=9.0)) for _ in range(2)]
    other = explorer_of(model, batch, explore_prob=0.5, margin=9.0, rng=np.random.default_rng(5))
    assert runs[0] == runs[1]
    assert list(chain(*runs[0])) != list(chain(*explore(model, batch, other)))
