"""Learning as a whole: a small network learns a few sentences by heart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from easyfirst.model.parser_config import NetworkConfig, ParserConfig, TrainingConfig
from easyfirst.model.parser_weights import Sizes, initial_parser
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.actions import easiest
from easyfirst.parsing.loop import Loop
from easyfirst.training.corpus import ParserBatch
from easyfirst.training.learner import Learner
from tests.derivations import derivation_of
from tests.nn.random_models import N_TAGS, N_WORDS, Model, Sample, gold_of, ids_of, lengths_of

SMALL = NetworkConfig(
    word_dim=16, tag_dim=4, relation_dim=4, vector_dim=24, tree_dim=16, hidden_dim=24, bilstm_layers=1, tree_layers=1
)
N_RELATIONS = 4


def random_sentences(config: NetworkConfig, n: int) -> list[Sample]:
    """Random words under random trees: there is no rule to find, only sentences to remember."""
    source = Model(config, seed=0, n_relations=N_RELATIONS)
    return source.sentences(np.random.default_rng(2).integers(1, 9, size=n).tolist(), seed=2)


def learner_of(config: ParserConfig) -> Learner:
    sizes = Sizes(N_WORDS, dict.fromkeys(config.network.tag_kinds, N_TAGS), N_RELATIONS)
    arrays = initial_parser(config.network, sizes, np.random.default_rng(config.training.seed))
    return Learner(arrays, config, np.random.default_rng(config.training.seed))


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
    learner = learner_of(ParserConfig(network=network, training=TrainingConfig(learning_rate=0.01)))
    n_words = sum(lengths_of(samples))
    assert n_correct(learner.loop, samples) < 0.5 * n_words
    halves = [batch_of(samples[part::2]) for part in (0, 1)]
    for _ in range(60):
        for half in halves:
            learner.learn(learner.explore(half))
            learner.update()
        if n_correct(learner.loop, samples) == n_words:
            break
    assert n_correct(learner.loop, samples) == n_words
    parser = Loop(network_of({name: array.copy() for name, array in learner.arrays.items()}, rnn=network.rnn))
    assert n_correct(parser, samples) == n_words  # what is learnt is in the arrays, for anyone to parse with


def test_an_update_lowers_the_loss_it_is_for() -> None:
    samples = random_sentences(SMALL, 20)
    learner = learner_of(ParserConfig(network=SMALL, training=TrainingConfig(use_dynamic_oracle=False)))
    losses = []
    for _ in range(10):
        explored = learner.explore(batch_of(samples))
        learner.learn(explored)
        assert learner.n_waiting == explored.explorer.n_violations
        learner.update()
        assert learner.n_waiting == 0
        losses.append(explored.explorer.loss)
    assert losses[-1] < 0.9 * losses[0]


def test_batches_explored_together_are_one_update() -> None:
    """The mean over all violations, however they are spread over batches."""
    samples = random_sentences(SMALL, 12)
    whole, parts = (
        learner_of(ParserConfig(network=SMALL, training=TrainingConfig(use_dynamic_oracle=False))) for _ in "12"
    )
    whole.learn(whole.explore(batch_of(samples)))
    whole.update()
    for part in (samples[:5], samples[5:]):
        parts.learn(parts.explore(batch_of(part)))
    parts.update()
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(array, parts.arrays[name], atol=1e-5, err_msg=name)


def test_without_a_violation_nothing_changes() -> None:
    learner = learner_of(ParserConfig(network=SMALL))
    kept = {name: array.copy() for name, array in learner.arrays.items()}
    one_word = [sample for sample in random_sentences(SMALL, 30) if len(sample) == 1]
    learner.learn(learner.explore(batch_of(one_word)))
    learner.update()
    assert all(np.array_equal(array, kept[name]) for name, array in learner.arrays.items())


def test_a_loss_that_is_not_finite_stops_training() -> None:
    samples = random_sentences(SMALL, 5)
    learner = learner_of(ParserConfig(network=SMALL))
    explored = learner.explore(batch_of(samples))
    learner.arrays["scorer.labelled"][:] = np.nan
    with pytest.raises(FloatingPointError, match="not a finite number"):
        learner.learn(explored)
