"""Beam search against the greedy loop, and against an enumeration of all derivations."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ModelError
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.parsing.actions import easiest
from easyfirst.parsing.beam import SHARPNESS, Measure, log_probabilities, search, sums
from easyfirst.parsing.loop import Loop
from easyfirst.parsing.n_best import Scored, best_derivations
from easyfirst.parsing.nodes import Member
from easyfirst.parsing.subtrees import Subtrees
from easyfirst.treebank.lifting import Label
from tests.derivations import derive
from tests.nn.random_models import Model, Sample, kinds_of_models, lengths_of, models
from tests.twins import Scores, head_and_modifier

KINDS = kinds_of_models()
MEASURES = [sums, log_probabilities]
Arcs = frozenset[tuple[int, int, int]]  # head and modifier from 1, relation
seeds = st.integers(0, 2**32 - 1)


def n_best(
    model: Model, batch: Sequence[Sample], width: int, measure: Measure, *, n_members: int = 1
) -> list[list[Scored]]:
    members = [Member.of(model.network, n_members)] * n_members
    vectors = np.concatenate([model.vectors(batch)] * n_members, axis=1)
    labels = [Label(name) for name in model.relation_names]
    return best_derivations(members, vectors, lengths_of(batch), width, measure, labels, "root")


def arcs_of(scored: Scored) -> Arcs:
    steps = scored.derivation
    return frozenset(zip(steps.heads.tolist(), steps.modifiers.tolist(), map(int, steps.relations), strict=True))


@settings(deadline=None, max_examples=40)
@given(models(), st.lists(st.integers(1, 9), min_size=1, max_size=4), seeds, st.sampled_from(MEASURES))
def test_a_beam_of_one_is_the_greedy_parser(model: Model, lengths: list[int], seed: int, measure: Measure) -> None:
    batch = model.sentences(lengths, seed)
    greedy = derive([model.network], model.vectors(batch), lengths_of(batch), model.relation_names)
    for expected, [found] in zip(greedy, n_best(model, batch, 1, measure), strict=True):
        steps = found.derivation.attachments()
        assert [(a.head, a.modifier, a.relation) for a in steps] == [(a.head, a.modifier, a.relation) for a in expected]
        for name in ("score", "margin", "label_margin", "lost_margin"):
            one, other = ([getattr(a, name) for a in each] for each in (steps, expected))
            np.testing.assert_allclose(one, other, atol=1e-4)


class Enumeration:
    """All derivations of a sentence, by the naive network and the recursive definition of the encoding."""

    def __init__(self, model: Model, sample: Sample, *, normalised: bool) -> None:
        self._twin, self._vectors = model.twin, model.twin_vectors(sample)
        self._normalised = normalised
        self._known: dict[Arcs, Scores] = {}
        self.totals: dict[Arcs, list[float]] = defaultdict(list)  # the scores of all derivations of each tree
        self._walk(list(range(1, len(sample) + 1)), frozenset(), 0.0)

    def _walk(self, pend: list[int], arcs: Arcs, total: float) -> None:
        if len(pend) == 1:
            self.totals[arcs].append(total)
            return
        for action, score in self._scores(pend, arcs).items():
            h, m = head_and_modifier(pend, action)
            self._walk([word for word in pend if word != m], arcs | {(h, m, action[2])}, total + score)

    def _scores(self, pend: list[int], arcs: Arcs) -> Scores:
        if arcs not in self._known:
            heads, relations = [0] * len(self._vectors), [0] * len(self._vectors)
            for h, m, relation in arcs:
                heads[m - 1], relations[m - 1] = h, relation
            scores = self._twin.scores([self._twin.c_of_tree(t, self._vectors, heads, relations) for t in pend])
            if self._normalised:
                scores = {action: float(SHARPNESS) * score for action, score in scores.items()}
            total = math.log(sum(math.exp(score) for score in scores.values())) if self._normalised else 0.0
            self._known[arcs] = {action: float(score) - total for action, score in scores.items()}
        return self._known[arcs]


@pytest.mark.parametrize("measure", MEASURES, ids=["sums", "log_probabilities"])
@pytest.mark.parametrize(("n_words", "n_relations"), [(1, 2), (2, 3), (3, 3), (4, 2), (5, 1)])
@pytest.mark.parametrize("number", [0, 2, 5])
def test_a_wide_beam_finds_what_enumerating_all_derivations_finds(
    number: int, n_words: int, n_relations: int, measure: Measure
) -> None:
    kind = KINDS[number]
    model = Model(kind.config, kind.seed, n_relations, kind.has_external)
    [sample] = batch = model.sentences([n_words], seed=n_words)
    every = Enumeration(model, sample, normalised=measure is log_probabilities)
    if measure is log_probabilities:
        expected = {arcs: math.log(sum(map(math.exp, scores))) for arcs, scores in every.totals.items()}
        assert sum(map(math.exp, expected.values())) == pytest.approx(1)
    else:
        expected = {arcs: max(scores) for arcs, scores in every.totals.items()}
    assert n_words < 4 or max(map(len, every.totals.values())) > 1, "no tree has several derivations"
    [found] = n_best(model, batch, 10_000, measure)
    assert len(found) == len(expected)
    assert {arcs_of(each): each.score for each in found} == pytest.approx(expected, abs=1e-4)
    for width in (2, 5):  # every hypothesis of a narrow beam has the score of one of its derivations, or less
        for each in n_best(model, batch, width, measure)[0]:
            assert each.score <= expected[arcs_of(each)] + 1e-4


@settings(deadline=None, max_examples=30)
@given(
    models(), st.lists(st.integers(1, 8), min_size=1, max_size=3), st.integers(1, 12), seeds, st.sampled_from(MEASURES)
)
def test_trees_are_different_sorted_and_whole(
    model: Model, lengths: list[int], width: int, seed: int, measure: Measure
) -> None:
    batch = model.sentences(lengths, seed)
    for sample, found in zip(batch, n_best(model, batch, width, measure), strict=True):
        assert 1 <= len(found) <= width
        assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
        assert len({arcs_of(each) for each in found}) == len(found)
        for each in found:
            heads = {m: h for h, m, _ in arcs_of(each)}
            assert sorted([*heads, each.derivation.root]) == list(range(1, len(sample) + 1))
            for word in heads:
                seen = {word}
                while word in heads:
                    word = heads[word]
                    assert word not in seen
                    seen.add(word)
        if measure is sums:
            for each in found:
                assert each.score == pytest.approx(float(each.derivation.scores.sum(dtype=np.float64)), abs=1e-3)


@settings(deadline=None, max_examples=20)
@given(models(), st.lists(st.integers(2, 7), min_size=2, max_size=3), seeds, st.integers(2, 6))
def test_sentences_do_not_affect_each_other(model: Model, lengths: list[int], seed: int, width: int) -> None:
    batch = model.sentences(lengths, seed)
    together = n_best(model, batch, width, sums)
    for sample, found in zip(batch, together, strict=True):
        [alone] = n_best(model, [sample], width, sums)
        np.testing.assert_allclose([each.score for each in found], [each.score for each in alone], atol=1e-3)


@settings(deadline=None, max_examples=20)
@given(models(), st.integers(3, 6), seeds)
def test_orders_that_lead_to_the_same_arcs_are_merged(model: Model, length: int, seed: int) -> None:
    batch = model.sentences([length], seed)
    with overflow_is_fine():
        subtrees = Subtrees([Member.of(model.network, 1)], model.vectors(batch))
        [steps] = search(subtrees, [length], 400, [sums])
    for step, hypotheses in enumerate(steps):
        assert len(set(hypotheses.keys.tolist())) == len(hypotheses)
        assert hypotheses.pending.shape[1] == length - step
    rows = [subtrees.attachments[row - length - 1] for row in range(length + 1, length + 1 + len(subtrees.attachments))]
    assert len(set(rows)) == len(rows), "a subtree was encoded twice"


@pytest.mark.parametrize("n_members", [1, 2])
def test_an_ensemble_of_equal_members_is_one_of_them(n_members: int) -> None:
    model = KINDS[0]
    batch = model.sentences([6, 4], seed=3)
    one, found = n_best(model, batch, 4, sums), n_best(model, batch, 4, sums, n_members=n_members)
    for a, b in itertools.zip_longest(itertools.chain(*one), itertools.chain(*found)):
        assert arcs_of(a) == arcs_of(b)
        assert a.score == pytest.approx(b.score, abs=1e-4)


def test_a_wider_beam_may_find_a_better_tree() -> None:
    gains: list[float] = []
    for seed in range(40):
        model = Model(KINDS[0].config, seed)
        batch = model.sentences([7], seed)
        [[one], [best, *_]] = (n_best(model, batch, width, sums)[0] for width in (1, 32))
        gains.append(best.score - one.score)
    assert max(gains) > 0.1
    assert min(gains) > -1e-3


def test_weights_that_are_not_numbers_are_refused() -> None:
    model = Model(KINDS[0].config, 1)
    model.arrays["scorer.labelled"][...] = np.nan
    with pytest.raises(ModelError, match="not finite numbers"):
        n_best(model, model.sentences([3], 1), 2, sums)


def test_the_loop_and_the_beam_read_the_same_scores() -> None:
    model = KINDS[3]
    batch = model.sentences([5], seed=9)
    steps = Loop(model.network).run(model.vectors(batch), [5], easiest)
    [[found]] = n_best(model, batch, 1, sums)
    np.testing.assert_allclose(found.score, sum(float(a.scores[0]) for a in steps.actions), rtol=1e-5)
