"""Bundles of features: as attributes, as numbers, by similarity, and by score."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.model.features import MIN_COUNT, OTHER, Features, attributes_of, bundle_of, nearest_bundle
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.treebank.sentence import Sentence

VALUES = {"Case": ["Nom", "Acc", "Acc,Dat"], "Number": ["Sing", "Plur"], "Number[psor]": ["Plur"], "Foreign": ["Yes"]}
ATTRIBUTES = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()})
BUNDLES = ATTRIBUTES.map(bundle_of)
TREEBANKS = st.lists(BUNDLES, min_size=1, max_size=20).filter(lambda bundles: set(bundles) != {"_"})


def features_of(bundles: list[str]) -> Features:
    features = Features.of(bundles)
    assert features is not None
    return features


@given(ATTRIBUTES)
def test_attributes_become_a_bundle_and_come_back(attributes: dict[str, str]) -> None:
    assert attributes_of(bundle_of(attributes)) == attributes


def test_bundles_are_written_as_in_ud() -> None:
    assert bundle_of({}) == "_"
    assert (
        bundle_of({"number": "Sing", "Case": "Nom", "Number[psor]": "Plur"}) == "Case=Nom|number=Sing|Number[psor]=Plur"
    )
    assert attributes_of("_") == attributes_of(OTHER) == {}
    assert attributes_of("Foreign|Case=Nom") == {"Foreign": "Yes", "Case": "Nom"}


def test_a_treebank_without_features_has_none() -> None:
    assert Features.of([]) is None
    assert Features.of(["_", "_"]) is None


def test_rare_bundles_have_values_but_no_row() -> None:
    features = features_of(["_", "_", "_", "A=x|B=y", "A=x|B=y", "A=z"])
    assert features.bundles == (OTHER, "_", "A=x|B=y")
    assert features.names == ("A=", "A=x", "A=z", "B=", "B=y")
    assert features.bundle_ids(["A=z", "_", "A=x|B=y", "C=c"]).tolist() == [0, 1, 2, 0]
    assert features.value_ids(["A=z", "_", "A=x|B=y", "A=q|C=c"]).tolist() == [[2, 0], [0, 0], [1, 1], [0, 0]]


def test_a_treebank_may_contain_the_name_of_the_rest() -> None:
    features = features_of([OTHER, OTHER, "A=x"])
    assert features.bundles == (OTHER,)


@given(TREEBANKS)
def test_features_are_stored_as_names(bundles: list[str]) -> None:
    features = features_of(bundles)
    assert Features.from_names(features.bundles, features.names) == features
    assert all(bundles.count(bundle) >= MIN_COUNT for bundle in features.bundles[1:])
    for bundle, number in zip(bundles, features.bundle_ids(bundles).tolist(), strict=True):
        assert features.bundles[number] == (bundle if bundles.count(bundle) >= MIN_COUNT else OTHER)


@pytest.mark.parametrize(
    ("bundles", "values", "message"),
    [
        (["_"], ["A=", "A=x"], "start with <other>"),
        ([], ["A=", "A=x"], "start with <other>"),
        ([OTHER], ["A=x", "A="], "'A=x' must be Name=value"),
        ([OTHER], ["A=", "A=x", "B"], "'B' must be Name=value"),
        ([OTHER], ["A=", "B=", "A=x"], "side by side"),
        ([OTHER], ["A=", "A="], "'A=' must be Name=value"),
    ],
)
def test_names_that_are_no_features_are_refused(bundles: list[str], values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Features.from_names(bundles, values)


@given(TREEBANKS)
def test_membership_says_which_values_a_bundle_has(bundles: list[str]) -> None:
    features = features_of(bundles)
    expected = [
        [bundle != OTHER and attributes_of(bundle).get(name, "") == value for bundle in features.bundles]
        for name, values in features.values.items()
        for value in values
    ]
    assert features.membership.tolist() == expected


@given(TREEBANKS, st.data())
def test_the_best_of_all_combinations_is_chosen(bundles: list[str], data: st.DataObject) -> None:
    """The twin scores every combination of values: with its own score if it has one, or with that of the others."""
    features = features_of(bundles)
    scores = st.integers(-9, 9)
    own = data.draw(st.lists(scores, min_size=len(features.bundles), max_size=len(features.bundles)))
    of_values = data.draw(st.lists(scores, min_size=len(features.names), max_size=len(features.names)))
    value_scores = dict(zip(features.names, of_values, strict=True))
    totals: dict[str, int] = {}
    for values in product(*features.values.values()):
        pairs = list(zip(features.values, values, strict=True))
        bundle = bundle_of({name: value for name, value in pairs if value})
        best = max(own[0], own[features.bundles.index(bundle)] if bundle in features.bundles else own[0])
        totals[bundle] = best + sum(value_scores[f"{name}={value}"] for name, value in pairs)
    folded = np.array(own) + np.array(of_values) @ features.membership
    [found] = features.choose(np.array([folded], dtype=np.float32), np.array([of_values], dtype=np.float32))
    assert totals[found] == max(totals.values())


def test_each_word_has_its_own_bundle() -> None:
    features = features_of(["A=x", "A=x", "_", "_", "B=y"])
    bundles = np.array([[0, 5, 0], [0, 0, 5], [5, 0, 0]], dtype=np.float32)
    values = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 9, 0, 9]], dtype=np.float32)
    assert features.bundles == (OTHER, "A=x", "_")
    assert features.choose(bundles, values) == ["A=x", "_", "A=x|B=y"]
    assert bundles[2, 0] == 5


@given(BUNDLES, st.lists(BUNDLES, min_size=1, max_size=8, unique=True))
def test_the_nearest_bundle_differs_in_the_fewest_values(bundle: str, known: list[str]) -> None:
    def difference(one: str, other: str) -> int:
        left, right = attributes_of(one), attributes_of(other)
        return sum(left.get(name) != right.get(name) for name in VALUES)

    found = nearest_bundle(bundle, tuple(known))
    distances = [difference(bundle, other) for other in known]
    assert known.index(found) == distances.index(min(distances))
    assert nearest_bundle(known[-1], tuple(known)) == known[-1]


def test_a_parser_reads_unseen_bundles_as_similar_ones() -> None:
    sentence = Sentence.from_words(["a", "b", "c"], heads=[2, 0, 2], relations=["x", "root", "x"])
    train = sentence.with_tags(feats=["Case=Nom|Number=Sing", "_", "_"])
    vocabulary = ParserVocabulary.of([train], tag_kinds=["feats"])
    assert vocabulary.tags == {"feats": {"_": 1, "Case=Nom|Number=Sing": 2}}
    seen = train.with_tags(feats=["Case=Nom|Number=Plur", "Tense=Past", "Case=Nom|Number=Sing"])
    assert [rows.tolist() for rows in vocabulary.encode([train, seen]).tags] == [[2, 1, 1, 2, 1, 2]]
    nothing = ParserVocabulary.of([], tag_kinds=["feats"])
    assert nothing.tag_ids("feats", ["_", "Case=Nom"]).tolist() == [0, 0]
