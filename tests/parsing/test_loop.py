"""The batched engine against a naive parser of one sentence, and against the recursive definition of the encoding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.nn import trees
from easyfirst.nn.namespace import NUMPY
from easyfirst.parsing.actions import easiest
from easyfirst.parsing.derivation import Attachment, BatchSteps
from easyfirst.parsing.loop import Loop
from tests.derivations import derivation_of, derive
from tests.nn.random_models import Model, Sample, kinds_of_models, lengths_of, models
from tests.twins import LEFT, RIGHT, Action, Scores, Step

KINDS = kinds_of_models()
batches = st.lists(st.integers(1, 9), min_size=1, max_size=6)
seeds = st.integers(0, 2**32 - 1)


def run(model: Model, batch: Sequence[Sample]) -> BatchSteps:
    return Loop(model.network).run(model.vectors(batch), lengths_of(batch), easiest)


def parse(model: Model, batch: Sequence[Sample]) -> list[list[Attachment]]:
    return derive([model.network], model.vectors(batch), lengths_of(batch), model.relation_names)


def assert_same_derivation(found: Sequence[Attachment], expected: Sequence[Step]) -> None:
    """The same actions up to the first that is too close to call, with the same scores and margins."""
    for number, (a, step) in enumerate(zip(found, expected, strict=True), 1):
        assert a.score == pytest.approx(step.score, abs=1e-4)
        if step.lead < 1e-3:
            return
        assert a.margin == pytest.approx(step.margin, abs=1e-4)
        assert a.label_margin == pytest.approx(step.label_margin, abs=1e-4)
        assert a.lost_margin == pytest.approx(step.lost_margin, abs=1e-4)
        assert (a.step, a.head, a.modifier, a.relation) == (number, step.h, step.m, str(step.relation))
        assert a.direction == ("left" if a.modifier < a.head else "right")


def assert_same_numbers(found: Sequence[Attachment], expected: Sequence[Step]) -> None:
    for name in ("score", "margin", "label_margin", "lost_margin"):
        of_found, of_expected = ([getattr(step, name) for step in steps] for steps in (found, expected))
        np.testing.assert_allclose(of_found, of_expected, atol=1e-4)


def followed(model: Model, sample: Sample, found: Sequence[Attachment]) -> list[Step]:
    """The naive parser made to take the very actions that the engine took."""
    todo = iter(found)

    def select(pend: list[int], _: Scores) -> Action:
        a = next(todo)
        i = min(pend.index(a.head), pend.index(a.modifier))
        assert sorted((a.head, a.modifier)) == pend[i : i + 2]
        return i, LEFT if a.modifier < a.head else RIGHT, int(a.relation)

    return model.twin.derive(model.twin_vectors(sample), select)[0]


@settings(deadline=None, max_examples=80)
@given(models(), batches, seeds)
def test_a_batch_is_parsed_like_the_naive_parser_does(model: Model, lengths: list[int], seed: int) -> None:
    batch = model.sentences(lengths, seed)
    for found, sample in zip(parse(model, batch), batch, strict=True):
        assert_same_derivation(found, model.twin.parse(model.twin_vectors(sample)))


@settings(deadline=None, max_examples=60)
@given(models(), st.lists(st.integers(1, 16), min_size=1, max_size=4), seeds)
def test_every_action_has_the_naive_score_and_leads_all_others(model: Model, lengths: list[int], seed: int) -> None:
    batch = model.sentences(lengths, seed)
    for found, sample in zip(parse(model, batch), batch, strict=True):
        expected = followed(model, sample, found)
        assert_same_numbers(found, expected)
        assert all(a.margin >= 0 and a.label_margin >= 0 for a in found)
        assert all(step.lead > -1e-4 for step in expected)


@settings(deadline=None, max_examples=40)
@given(models(), batches, seeds)
def test_neither_company_nor_order_changes_a_parse(model: Model, lengths: list[int], seed: int) -> None:
    batch = model.sentences(lengths, seed)
    together = parse(model, batch)
    expected = [followed(model, sample, found) for sample, found in zip(batch, together, strict=True)]
    order = sorted(np.random.default_rng(seed).permutation(len(batch)), key=lambda number: -len(batch[number]))
    shuffled = parse(model, [batch[number] for number in order])
    for place, number in enumerate(order):
        (alone,) = parse(model, [batch[number]])
        assert_same_derivation(alone, expected[number])
        assert_same_derivation(shuffled[place], expected[number])


@pytest.mark.parametrize("model", KINDS)
def test_a_large_batch_of_long_sentences(model: Model) -> None:
    batch = model.sentences([1, 30, 2, 25, 1, 18, 18, 3, 12, 30], seed=5)
    for found, sample in zip(parse(model, batch), batch, strict=True):
        assert_same_numbers(found, followed(model, sample, found))


@pytest.mark.parametrize("model", KINDS)
def test_scores_are_those_of_the_subtrees_encoded_recursively(model: Model) -> None:
    """What the engine keeps up to date step by step is, at every step, what section 3 defines from the trees."""
    (sample,) = batch = model.sentences([9], seed=6)
    vectors = model.twin_vectors(sample)
    heads, relations, pend = [0] * 9, [0] * 9, list(range(1, 10))
    for attachment in parse(model, batch)[0]:
        encoded = [model.twin.c_of_tree(t, vectors, heads, relations) for t in pend]
        i = min(pend.index(attachment.head), pend.index(attachment.modifier))
        d = LEFT if attachment.modifier < attachment.head else RIGHT
        score = model.twin.scores(encoded)[i, d, int(attachment.relation)]
        assert attachment.score == pytest.approx(score, abs=1e-4)
        heads[attachment.modifier - 1] = attachment.head
        relations[attachment.modifier - 1] = int(attachment.relation)
        pend.remove(attachment.modifier)


@pytest.mark.parametrize("model", KINDS)
def test_the_root_is_encoded_like_the_finished_tree(model: Model) -> None:
    """The derivation repeated with the package's incremental functions ends at the recursive encoding of its tree."""
    (sample,) = batch = model.sentences([9], seed=6)
    weights = model.network.trees
    states = trees.leaf_states(NUMPY, weights, model.vectors(batch))  # (2, n_words, state)
    heads, relations = [0] * 9, [0] * 9
    for a in parse(model, batch)[0]:
        heads[a.modifier - 1], relations[a.modifier - 1] = a.head, int(a.relation)
        if weights.layers:
            c = states[:, a.modifier - 1, -weights.output_dim :].reshape(1, -1)
            added = trees.relation_table(NUMPY, weights)[[int(a.relation)]]
            side = LEFT if a.modifier < a.head else RIGHT
            old = states[side, [a.head - 1]]
            encoded = trees.encode_modifiers(NUMPY, weights, c, added)
            states[side, a.head - 1] = trees.attach(NUMPY, weights, old, encoded, side=side)[0]
    root = heads.index(0) + 1
    expected = model.twin.c_of_tree(root, model.twin_vectors(sample), heads, relations)
    np.testing.assert_allclose(states[:, root - 1, -weights.output_dim :].reshape(-1), expected, atol=1e-5)


def test_every_sentence_of_n_words_takes_n_minus_1_steps_and_keeps_one_root() -> None:
    model = KINDS[0]
    batch = model.sentences([7, 7, 4, 1, 1], seed=7)
    derivations = run(model, batch)
    assert [len(modifiers) for modifiers in derivations.modifiers] == [3, 3, 3, 2, 2, 2]
    for sample, found in zip(batch, parse(model, batch), strict=True):
        assert len({a.modifier for a in found}) == len(found) == len(sample) - 1


@pytest.mark.parametrize("lengths", [[], [1], [1, 1, 1]])
def test_where_there_is_nothing_to_attach_nothing_happens(lengths: list[int]) -> None:
    model = KINDS[0]
    vectors = np.ones((len(lengths), model.config.vector_dim), dtype=np.float32)
    derivations = Loop(model.network).run(vectors, lengths, easiest)
    assert derivations.actions == []
    assert all(derivation_of(derivations, number, ()) == [] for number in range(len(lengths)))


def test_a_loop_can_be_used_again() -> None:
    model = KINDS[0]
    loop = Loop(model.network)
    batch = model.sentences([8, 5, 5], seed=8)
    vectors = model.vectors(batch)
    kept = vectors.copy()
    first, second = (loop.run(vectors, lengths_of(batch), easiest) for _ in range(2))
    assert np.array_equal(vectors, kept)
    for one, other in zip(first.actions, second.actions, strict=True):
        assert np.array_equal(one.scores, other.scores)
        assert np.array_equal(one.left, other.left)
