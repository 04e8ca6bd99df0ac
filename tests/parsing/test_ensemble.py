"""An ensemble against the naive twins of its members: every score is the mean of theirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.nn.members import join_members
from easyfirst.parsing.derivation import Attachment
from easyfirst.parsing.engine import NumpyEngine
from easyfirst.parsing.workspace import Workspace
from easyfirst.treebank.sentence import Sentence
from tests.derivations import derive
from tests.nn.random_models import Model, Sample, lengths_of, models
from tests.small_models import small_model
from tests.twins import LEFT, RIGHT


def parse(members: list[Model], batch: list[Sample]) -> list[list[Attachment]]:
    vectors = np.concatenate([member.vectors(batch) for member in members], axis=1)
    networks = [member.network for member in members]
    return derive(networks, vectors, lengths_of(batch), members[0].relation_names)


def siblings(model: Model, n_members: int) -> list[Model]:
    """Networks of the same kind with other weights."""
    others = [
        Model(model.config, seed, len(model.relation_names), has_external="words.external" in model.arrays)
        for seed in range(1, n_members)
    ]
    return [model, *others]


@settings(deadline=None, max_examples=40)
@given(models(), st.integers(1, 3), st.lists(st.integers(1, 8), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_the_mean_of_all_members_decides(model: Model, n_members: int, lengths: list[int], seed: int) -> None:
    members = siblings(model, n_members)
    batch = model.sentences(lengths, seed)
    for sample, found in zip(batch, parse(members, batch), strict=True):
        n_words = len(sample)
        heads, relations, pend = [0] * n_words, [0] * n_words, list(range(1, n_words + 1))
        vectors = [member.twin_vectors(sample) for member in members]
        for a in found:
            of_members = [
                member.twin.scores([member.twin.c_of_tree(t, v, heads, relations) for t in pend])
                for member, v in zip(members, vectors, strict=True)
            ]
            mean = {action: np.mean([scores[action] for scores in of_members]) for action in of_members[0]}
            i = min(pend.index(a.head), pend.index(a.modifier))
            taken = (i, LEFT if a.modifier < a.head else RIGHT, int(a.relation))
            assert a.score == pytest.approx(mean[taken], abs=1e-4)
            assert a.score >= max(mean.values()) - 1e-4
            heads[a.modifier - 1], relations[a.modifier - 1] = a.head, int(a.relation)
            pend.remove(a.modifier)


@settings(deadline=None, max_examples=10)
@given(models(), st.integers(0, 2**32 - 1))
def test_a_member_three_times_is_the_member(model: Model, seed: int) -> None:
    batch = model.sentences([7, 5, 2], seed)
    for alone, thrice in zip(parse([model], batch), parse([model] * 3, batch), strict=True):
        np.testing.assert_allclose([a.score for a in alone[:1]], [a.score for a in thrice[:1]], atol=1e-4)


@pytest.mark.parametrize(("n_members", "sizes"), [(1, [6, 6]), (3, [2] * 6)])
def test_batches_take_as_much_memory_with_more_members(n_members: int, sizes: list[int]) -> None:
    model = small_model("none")
    arrays = join_members([model.arrays] * n_members)
    engine = NumpyEngine.of(arrays, replace(model.config, members=n_members), model.vocabulary)
    found: list[int] = []
    engine.derive(
        [Sentence.from_words(["a"] * 10)] * 12,
        max_words=60,
        wrap=lambda numbers, choose: found.append(len(numbers)) or choose,
    )
    assert found == sizes


def test_members_share_no_memory() -> None:
    workspace = Workspace()
    one, other = (workspace.part(number).array("c", (2, 3), np.float32) for number in range(2))
    assert not np.shares_memory(one, other)
    assert np.shares_memory(one, workspace.part(0).array("c", (2, 3), np.float32))
