"""The core's derivations against NumPy's, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.native.compiled import Members, Steps
from easyfirst.native.encoder import Given
from easyfirst.native.library import Core, CountsStruct
from easyfirst.nn.parser_network import Network
from easyfirst.parsing.engine import MarginRecorder
from easyfirst.parsing.loop import Loop
from tests.derivations import derivation_of
from tests.native.cores import ISAS, each_isa, the_core
from tests.native.networks import (
    LivelyModel,
    assert_right,
    ensemble,
    lstm_models,
    numpy_vectors,
    parse,
    random_ids,
    small_config,
)
from tests.nn.random_models import Model

LENGTHS = st.lists(st.integers(1, 14), min_size=1, max_size=20).map(lambda lengths: sorted(lengths, reverse=True))


@settings(max_examples=120, deadline=None)
@given(lstm_models(), st.integers(1, 3), LENGTHS, st.integers(0, 2**32 - 1), st.sampled_from(ISAS))
def test_every_kind_of_network(model: Model, n_members: int, lengths: list[int], seed: int, isa: str) -> None:
    networks, ids = ensemble(model, n_members), random_ids(model, sum(lengths), seed)
    steps = parse(the_core(isa), networks, ids, lengths)
    assert_right(networks, ids, lengths, steps)


@each_isa
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"window": 0, "tree_layers": 1},
        {"window": 3, "bilstm_layers": 0},
        {"tree_layers": 0, "spelling_dim": 0},
        {"deep_bilstm": True, "bilstm_layers": 3, "tree_layers": 3, "tags": "none"},
    ],
)
def test_where_nothing_nearly_ties_the_trees_are_equal(isa: str, changes: dict[str, object]) -> None:
    model = LivelyModel(small_config(**changes), 5, n_relations=7)
    networks, compared = ensemble(model, 2), 0
    for seed, length in enumerate([25, 20, 15, 10, 8, 6, 4, 3, 2]):
        ids = random_ids(model, length, seed)
        steps = parse(the_core(isa), networks, ids, [length])
        if min(assert_right(networks, ids, [length], steps)) > 1e-4:
            [expected] = numpy_derivations(networks, numpy_vectors(networks, ids, [length]), [length])
            arrays = (steps.heads, steps.modifiers, steps.relations)
            assert list(zip(*(array[:-1].tolist() for array in arrays), strict=True)) == expected
            compared += 1
    assert compared >= 3


def numpy_derivations(
    networks: list[Network], vectors: np.ndarray, lengths: list[int]
) -> list[list[tuple[int, int, int]]]:
    steps = Loop(*networks).run(vectors, lengths, MarginRecorder(sum(lengths)))
    names = [str(number) for number in range(networks[0].scorer.n_relations)]
    derivations = [derivation_of(steps, number, names) for number in range(len(lengths))]
    return [[(each.head, each.modifier, int(each.relation)) for each in found] for found in derivations]


def test_a_sentence_of_2000_words(core: Core) -> None:
    model, lengths = LivelyModel(small_config(), 6, n_relations=11), [2000, 700, 1]
    networks, ids = [model.network], random_ids(model, 2701, 6)
    steps = parse(core, networks, ids, lengths)
    assert_right(networks, ids, lengths, steps)
    assert sorted(set(range(1, 2001)) - set(steps.modifiers[:1999].tolist())) != []
    assert len(set(steps.modifiers[:1999].tolist())) == 1999


@each_isa
def test_a_wide_network(isa: str) -> None:
    """As wide as those that are trained, which small random networks are not."""
    config = small_config(word_dim=100, vector_dim=200, tree_dim=125, hidden_dim=98, relation_dim=30)
    model, lengths = LivelyModel(config, 7, n_relations=40), [18, 11, 3]
    networks, ids = [model.network], random_ids(model, sum(lengths), 7)
    assert_right(networks, ids, lengths, parse(the_core(isa), networks, ids, lengths), tolerance=3e-5)


def test_no_sentences_and_sentences_of_one_word(core: Core) -> None:
    model = LivelyModel(small_config(), 8)
    assert len(parse(core, [model.network], random_ids(model, 0, 8), []).heads) == 0
    steps = parse(core, [model.network], random_ids(model, 5, 8), [1] * 5)
    for array, untouched in zip(steps, Steps.empty(5, model.network.scorer.n_relations), strict=True):
        np.testing.assert_array_equal(array, untouched)  # nothing is written


def test_equal_actions_go_to_the_first_as_in_numpy(core: Core) -> None:
    """Output weights of zero leave the biases, so that the scores of an action are equal in all places. (Those of equal
    words need not be: the libraries of some processors round a row of a product by its place.)"""
    model = LivelyModel(small_config(), 9, n_relations=3)
    for name, array in model.arrays.items():
        if name in ("scorer.unlabelled", "scorer.labelled"):
            array[...] = 0
    ids = random_ids(model, 30, 9)
    steps = parse(core, [model.network], ids, [30])
    expected = numpy_derivations([model.network], numpy_vectors([model.network], ids, [30]), [30])
    columns = (steps.heads, steps.modifiers, steps.relations)
    assert list(zip(*(column[:29].tolist() for column in columns), strict=True)) == expected[0]


@pytest.mark.parametrize("rows", [1, 4, 12])
def test_what_is_counted(core: Core, rows: int) -> None:
    model, lengths = LivelyModel(small_config(), 10), [40, 20, 2, 1]
    counts = CountsStruct()
    given_words = Given.of_words(lengths, random_ids(model, sum(lengths), 10))
    Members(core, [model.network], "float32").parse(given_words, rows=rows, counts=counts)
    assert counts.attachments == 38 + 18  # the last attachment of a sentence is not worked out
    assert counts.passes <= counts.computed
    assert counts.computed >= counts.attachments
    if rows == 1:
        assert counts.computed == counts.attachments
