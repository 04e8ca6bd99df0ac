"""The parser's loss with an optimizer: a small network learns a few sentences by heart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from easyfirst.model.parser_config import NetworkConfig, ParserConfig, TrainingConfig
from easyfirst.model.parser_store import TABLES, Sizes, initial_parser
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.actions import easiest
from easyfirst.parsing.loop import Loop
from easyfirst.training.attention import initial_attention
from easyfirst.training.corpus import ParserBatch
from easyfirst.training.optimizer import Optimizer
from easyfirst.training.parser_loss import BatchLoss, ParserLoss
from tests.derivations import derivation_of
from tests.nn import random_models
from tests.nn.random_models import N_TAGS, N_WORDS, Sample, gold_of, ids_of, lengths_of

SMALL = NetworkConfig(
    word_dim=16, tag_dim=4, relation_dim=4, vector_dim=24, tree_dim=16, hidden_dim=24, bilstm_layers=1, tree_layers=1
)
N_RELATIONS = 4


def random_sentences(config: NetworkConfig, n: int) -> list[Sample]:
    """Random words under random trees: there is no rule to find, only sentences to remember."""
    source = random_models.Model(config, seed=0, n_relations=N_RELATIONS)
    return source.sentences(np.random.default_rng(2).integers(1, 9, size=n).tolist(), seed=2)


class Model:
    """The parameters of a parser, their loss and their optimizer."""

    def __init__(self, config: ParserConfig) -> None:
        rng = np.random.default_rng(config.training.seed)
        sizes = Sizes(N_WORDS, dict.fromkeys(config.network.tag_kinds, N_TAGS), N_RELATIONS)
        self.arrays = initial_parser(config.network, sizes, rng)
        if config.training.attention:
            self.arrays |= initial_attention(config.network.vector_dim, N_RELATIONS, rng)
        self.parameters = {name: torch.from_numpy(array).requires_grad_() for name, array in self.arrays.items()}
        self.loss = ParserLoss(self.parameters, config, rng)
        self.loop = Loop(network_of(self.arrays, rnn=config.network.rnn))
        self._optimizer = Optimizer(self.parameters, config.training, sparse=TABLES)
        self._n_waiting = 0
        self._rnn = config.network.rnn

    def learn(self, batch: ParserBatch) -> BatchLoss:
        """Add the gradients of a batch to those that wait for an update."""
        with overflow_is_fine():
            found = self.loss.of(batch)
            if found.loss is not None:
                found.loss.backward()
        self._n_waiting += found.n_violations
        return found

    def update(self) -> None:
        self._optimizer.step(self._n_waiting)
        self._n_waiting = 0
        self.loss.weights_changed()
        self.loop = Loop(network_of(self.arrays, rnn=self._rnn))


def batch_of(samples: list[Sample]) -> ParserBatch:
    return ParserBatch(np.array(lengths_of(samples)), ids_of(samples), gold_of(samples))


def n_correct(loop: Loop, samples: list[Sample]) -> int:
    """How many words have their gold head and relation (the root: its head)."""
    lengths = lengths_of(samples)
    vectors = encode_words(NUMPY, loop.members[0].network.words, ids_of(samples), Packing.of(lengths))
    derivations = loop.run(vectors, lengths, easiest)
    names = tuple(map(str, range(N_RELATIONS)))
    correct = 0
    for number, sample in enumerate(samples):
        heads, relations = [0] * len(sample), [""] * len(sample)
        for a in derivation_of(derivations, number, names):
            heads[a.modifier - 1], relations[a.modifier - 1] = a.head, a.relation
        gold = zip(sample.heads, sample.relations, strict=True)
        found = zip(heads, relations, strict=True)
        correct += sum(h == g and (g == 0 or r == str(s)) for (h, r), (g, s) in zip(found, gold, strict=True))
    return correct


@pytest.mark.parametrize(
    "changes",
    [{}, {"rnn": "gru"}, {"bilstm_layers": 0}, {"tree_layers": 0, "rnn": "elman"}],
    ids=["paper", "gru", "htlstm", "bilstm-only"],
)
def test_thirty_sentences_are_learnt_by_heart(changes: dict[str, Any]) -> None:
    network = NetworkConfig(**{name: getattr(SMALL, name) for name in SMALL.__slots__} | changes)
    samples = random_sentences(network, 30)
    model = Model(ParserConfig(network=network, training=TrainingConfig(learning_rate=0.01)))
    n_words = sum(lengths_of(samples))
    assert n_correct(model.loop, samples) < 0.5 * n_words
    halves = [batch_of(samples[part::2]) for part in (0, 1)]
    for _ in range(60):
        for half in halves:
            if model.learn(half).n_violations:
                model.update()
        if n_correct(model.loop, samples) == n_words:
            break
    assert n_correct(model.loop, samples) == n_words  # the arrays hold what was learnt


def test_an_update_lowers_the_loss_it_is_for() -> None:
    samples = random_sentences(SMALL, 20)
    model = Model(ParserConfig(network=SMALL, training=TrainingConfig(use_dynamic_oracle=False)))
    losses: list[float] = []
    for _ in range(10):
        found = model.learn(batch_of(samples))
        assert found.loss is not None
        assert found.loss.item() == pytest.approx(found.hinge, rel=1e-4)  # exploration and replay agree
        model.update()
        losses.append(found.hinge)
    assert losses[-1] < 0.9 * losses[0]


def test_batches_explored_together_are_one_update() -> None:
    """The mean over all violations, however they are spread over batches."""
    samples = random_sentences(SMALL, 12)
    whole, parts = (Model(ParserConfig(network=SMALL, training=TrainingConfig(use_dynamic_oracle=False))) for _ in "12")
    whole.learn(batch_of(samples))
    whole.update()
    for part in (samples[:5], samples[5:]):
        parts.learn(batch_of(part))
    parts.update()
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(array, parts.arrays[name], atol=1e-5, err_msg=name)


def test_without_a_violation_there_is_no_loss() -> None:
    one_word = [sample for sample in random_sentences(SMALL, 30) if len(sample) == 1]
    assert Model(ParserConfig(network=SMALL)).learn(batch_of(one_word)) == BatchLoss(None, 0, 0.0)


def test_a_weight_that_is_not_finite_makes_a_loss_that_is_not() -> None:
    """The loop stops there: see test_loop.py."""
    model = Model(ParserConfig(network=SMALL))
    batch = batch_of(random_sentences(SMALL, 5))
    model.arrays["scorer.labelled"][:] = np.nan
    loss = model.loss.of(batch).loss
    assert loss is None or not torch.isfinite(loss)
