"""Sequence-level training against an enumeration of all partial derivations, and as a run that can be resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ConfigError, DataError
from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import load_parser
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.words import encode_words
from easyfirst.parsing.oracle import NOT_ANNOTATED, Gold
from easyfirst.training.beam_exploration import BeamExploration
from easyfirst.training.data import Job
from easyfirst.training.parser_loss import hinge_losses
from easyfirst.training.torch_namespace import TORCH
from tests.nn.random_models import Model, Sample, gold_of, ids_of, kinds_of_models, lengths_of, models, packing_of
from tests.training.parser_runs import (
    TOY,
    Listener,
    StopHere,
    arrays_of,
    best_of,
    config_of,
    interrupt_in,
    train,
    without_times,
)
from tests.twins import head_and_modifier, is_correct

KINDS = kinds_of_models()
seeds = st.integers(0, 2**32 - 1)


class Prefixes:
    """The best score after every step, of all partial derivations and of those by correct actions only."""

    def __init__(self, model: Model, sample: Sample, margin: float) -> None:
        self._sample, self._margin = sample, margin
        self._twin, self._vectors = model.twin, model.twin_vectors(sample)
        self.free, self.correct = ([-np.inf] * len(sample) for _ in range(2))
        self._walk(list(range(1, len(sample) + 1)), {}, 0.0, 0.0, is_right=True)

    def _walk(
        self, pend: list[int], arcs: dict[int, tuple[int, int]], free: float, correct: float, *, is_right: bool
    ) -> None:
        step = len(arcs)
        self.free[step] = max(self.free[step], free)
        if is_right:
            self.correct[step] = max(self.correct[step], correct)
        if len(pend) == 1:
            return
        heads, relations = ([arcs.get(m, (0, 0))[i] for m in range(1, len(self._vectors) + 1)] for i in (0, 1))
        scores = self._twin.scores([self._twin.c_of_tree(t, self._vectors, heads, relations) for t in pend])
        sample = self._sample
        for action, score in scores.items():
            h, m = head_and_modifier(pend, action)
            is_gold = sample.heads[m - 1] == h and sample.relations[m - 1] == action[2]
            still = is_right and is_correct(sample.heads, sample.relations, pend, action)
            cost = 0.0 if is_gold else self._margin
            rest = [word for word in pend if word != m]
            self._walk(rest, arcs | {m: (h, action[2])}, free + score + cost, correct + score, is_right=still)


@pytest.mark.parametrize("number", [0, 1, 4])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_the_loss_is_the_greatest_violation_of_all_steps(number: int, margin: float) -> None:
    model = Model(KINDS[number].config, 7, 2, KINDS[number].has_external)
    batch = model.sentences([4, 3, 2, 1], seed=number)
    leads = []
    for sample in batch:
        prefixes = Prefixes(model, sample, margin)
        leads.append(max(free - right for free, right in zip(prefixes.free, prefixes.correct, strict=True)))
    explored = BeamExploration(model.network, 10_000, margin).explore(
        model.vectors(batch), lengths_of(batch), gold_of(batch)
    )
    assert explored is not None
    assert explored.loss == pytest.approx(sum(leads), abs=1e-3)


@settings(deadline=None, max_examples=30)
@given(models(), st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(2, 6), seeds)
def test_replay_computes_the_scores_of_both_paths(model: Model, lengths: list[int], width: int, seed: int) -> None:
    batch = model.sentences(lengths, seed)
    explored = BeamExploration(model.network, width, 0.0).explore(
        model.vectors(batch), lengths_of(batch), gold_of(batch)
    )
    if explored is None:
        return
    parameters = {name: torch.from_numpy(array).double() for name, array in model.arrays.items()}
    network = network_of(parameters, rnn=model.config.rnn)
    vectors = encode_words(TORCH, network.words, ids_of(batch), packing_of(batch))
    losses = hinge_losses(network, vectors, explored.attachments, explored.violations, margin=0.0)
    assert float(losses.sum()) == pytest.approx(explored.loss, abs=1e-3)
    assert len(losses) == explored.n_violations


def test_partial_trees_are_left_out() -> None:
    model = KINDS[0]
    batch = model.sentences([5, 4], seed=2)
    exploration = BeamExploration(model.network, 4, 1.0)
    partial = replace(batch[1], heads=[NOT_ANNOTATED, *batch[1].heads[1:]])
    both, one = gold_of([batch[0], partial]), gold_of(batch[:1])
    explored = exploration.explore(model.vectors(batch), [5, 4], both)
    alone = exploration.explore(model.vectors(batch[:1]), [5], one)
    assert explored is not None
    assert alone is not None
    assert explored.loss == pytest.approx(alone.loss, abs=1e-4)
    assert exploration.explore(model.vectors(batch[:1]), [5], Gold(one.heads * 0 + 6, one.relations)) is None


@pytest.fixture(scope="module")
def greedy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parser that has learnt a little."""
    out = tmp_path_factory.mktemp("greedy") / "model"
    train(Job(train=TOY, out=out, dev=TOY), config_of(epochs=4, learning_rate=0.01), Listener())
    return out


def beam_config(**training: object) -> dict[str, object]:
    return {"beam": 4, "batch_sentences": 6, "learning_rate": 0.003, **training}


class TestRuns:
    def test_it_learns_from_where_it_starts(self, greedy: Path, tmp_path: Path) -> None:
        config = preset("beam", training=beam_config(epochs=6, dropout=0.0, averaging=0.0, learning_rate=0.01))
        job = Job(train=TOY, out=tmp_path / "beam", dev=TOY, init=greedy)
        history = train(job, config, Listener())
        before = load_parser(greedy)
        after = load_parser(job.out)
        assert after.vocabulary.words == before.vocabulary.words
        assert after.config.network == before.config.network
        assert history[-1]["loss"] < history[0]["loss"]
        assert best_of(history)["dev"]["full"]["LAS"] > history[0]["dev"]["full"]["LAS"]
        assert after.calibration is not None
        assert after.calibration.beam is not None

    def test_resumed_as_if_never_interrupted(self, greedy: Path, tmp_path: Path) -> None:
        config = preset("beam", training=beam_config(epochs=2))
        whole, parts = (Job(train=TOY, out=tmp_path / name, dev=TOY, init=greedy) for name in ("whole", "parts"))
        history = train(whole, config, Listener())
        with pytest.raises(StopHere):
            train(parts, config, interrupt_in(2))
        assert without_times(train(parts, config, Listener(), resume=True)) == without_times(history)
        assert arrays_of(whole.out) == arrays_of(parts.out)

    def test_not_resumed_from_another_model(self, greedy: Path, tmp_path: Path) -> None:
        config = preset("beam", training=beam_config(epochs=2))
        job = Job(train=TOY, out=tmp_path / "parts", dev=TOY, init=greedy)
        with pytest.raises(StopHere):
            train(job, config, interrupt_in(2))
        train(Job(train=TOY, out=tmp_path / "other", dev=TOY), config_of(), Listener())
        with pytest.raises(ConfigError, match="data"):
            train(replace(job, init=tmp_path / "other"), config, Listener(), resume=True)

    def test_unknown_relations_are_named(self, greedy: Path, tmp_path: Path) -> None:
        changed = tmp_path / "changed.conllu"
        changed.write_text(TOY.read_text(encoding="utf-8").replace("\tdet\t", "\tnever\t"), encoding="utf-8")
        job = Job(train=changed, out=tmp_path / "beam", dev=TOY, init=greedy)
        with pytest.raises(DataError, match=r"changed.conllu:\d+: the relation 'never' is unknown to the parser"):
            train(job, preset("beam", training=beam_config(epochs=1)), Listener())
