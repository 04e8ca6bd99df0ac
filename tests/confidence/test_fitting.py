"""Fitting a calibration: on answers whose probabilities are known, and on next to nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from easyfirst.confidence.calibration import Calibration
from easyfirst.confidence.estimates import confidence_of
from easyfirst.confidence.fitting import Example, calibrate, cross_validate, evaluate_confidence, fit_calibration
from easyfirst.confidence.reliability import ReliabilityReport
from easyfirst.errors import InputError
from easyfirst.model.card_updates import store_calibration
from easyfirst.model.parser_store import save_parser
from easyfirst.parser import Parser, load
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.calibrations import BY_HAND, FITTED_ON, steps_of
from tests.small_models import TREEBANK, small_model


def examples(n: int, *, seed: int = 0, truth: Calibration = BY_HAND) -> list[Example]:
    """Chains of words with random margins, right as often as a calibration says."""
    rng = np.random.default_rng(seed)
    found: list[Example] = []
    for _ in range(n):
        length = int(rng.integers(1, 8))
        heads = (*range(2, length + 1), 0)
        arc_margins, label_margins, lost_margins = rng.exponential(2, (3, length))
        steps = steps_of(heads, range(1, length), arc_margins[:-1], label_margins[:-1], lost_margins)
        truly = confidence_of(steps, truth)
        arcs, labels = np.array(truly.arcs), np.array(truly.labels)
        heads_right = rng.random(length) < arcs
        labels_right = heads_right & (rng.random(length) < labels / arcs)
        found.append(Example(steps, heads_right, labels_right, (*steps.relations, steps.root_relation)))
    return found


def test_the_truth_is_found() -> None:
    fitted = fit_calibration(examples(3000), fitted_on=FITTED_ON)
    other = examples(1000, seed=1)
    for example in other[:200]:
        found, truth = (confidence_of(example.steps, c) for c in (fitted, BY_HAND))
        np.testing.assert_allclose(found.arcs, truth.arcs, atol=0.1)
        np.testing.assert_allclose(found.labels, truth.labels, atol=0.12)
    confidences = [confidence_of(example.steps, fitted) for example in other]
    right = [e.heads_right for e in other], [e.labels_right for e in other]
    reliability = ReliabilityReport.of(confidences, *right, [e.relations for e in other])
    assert reliability.arcs.ece < 0.03
    assert reliability.labels.ece < 0.03
    assert reliability.trees.ece < 0.06


def test_relations_have_offsets_if_they_are_frequent() -> None:
    """Half of the sentences have a relation whose arcs are wrong twice as often as they should be."""
    some = examples(400)
    for number, example in enumerate(some):
        names = ("obl" if number % 2 else "obj",) * len(example.steps.relations)
        wrong = np.zeros(len(example), bool) if number % 2 else np.arange(len(example)) % 2 == 0
        right = example.heads_right & ~wrong, example.labels_right & ~wrong
        some[number] = Example(replace(example.steps, relations=names), *right, (*names, "root"))
    last = some[-1]
    unseen = replace(last.steps, relations=("xcomp",) * len(last.steps.relations))
    rare = Example(unseen, last.heads_right, last.labels_right, last.relations)
    fitted = fit_calibration([*some, rare], fitted_on=FITTED_ON)
    [(first, obj, _), (second, obl, _)] = fitted.relations
    assert (first, second) == ("obj", "obl")
    assert obl > obj + 0.5


def test_it_never_falls_with_a_margin() -> None:
    """Also if answers were the righter, the smaller their margin."""
    turned = [
        replace(example, heads_right=example.heads_right & (np.array([*example.steps.margins, 0.0]) < 1))
        for example in examples(300)
    ]
    fitted = fit_calibration(turned, fitted_on=FITTED_ON)
    n = len(fitted.scales.margins) + len(fitted.scales.rivals)
    assert min(fitted.arc.weights[:n]) >= 0 >= fitted.arc.weights[n]
    assert min(fitted.root.weights[:n]) >= 0
    assert min(fitted.label.weights[: len(fitted.scales.label_margins)]) >= 0
    assert fitted.tree.weights[0] >= 0


@pytest.mark.parametrize("is_right", [True, False])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_next_to_nothing(n: int, is_right: bool) -> None:
    right = np.full(3, is_right)
    few = [Example(steps_of((2, 0, 2), [1, 3], [1.0, 1.0], [np.inf, np.inf]), right, right, ("dep",) * 3)] * n
    fitted = fit_calibration(few, fitted_on=FITTED_ON)
    found = confidence_of(few[0].steps, fitted)
    assert all(0.02 < p < 0.98 for p in found.arcs)
    assert (cross_validate(few, fitted_on=FITTED_ON) is None) == (n == 1)


def test_only_single_words() -> None:
    alone = Example(steps_of((0,), [], [], []), np.ones(1, bool), np.ones(1, bool), ("root",))
    with pytest.raises(InputError, match="two words or more"):
        fit_calibration([alone], fitted_on=FITTED_ON)


def test_each_sentence_is_held_out_once() -> None:
    some = examples(53)
    found = cross_validate(some, fitted_on=FITTED_ON)
    assert found is not None
    assert found.trees.count == 53
    assert found.arcs.count == sum(len(example) for example in some)
    assert found.arcs.accuracy == pytest.approx(np.concatenate([e.heads_right for e in some]).mean())


class TestModel:
    def test_it_is_stored_and_reported(self, tmp_path: Path) -> None:
        model = replace(small_model("upos"), card="# a card\n\n## Use\n\nRun it.\n")
        save_parser(tmp_path, model)
        parser, gold = Parser(model), list(read_conllu(TREEBANK))
        calibration, reliability = calibrate(parser.parse(gold), gold, file="some/dev.conllu", tags="given")
        store_calibration(tmp_path, calibration, reliability)
        again = load(tmp_path)
        facts = again.model.calibration
        assert facts is not None
        assert (facts.fitted_on.file, facts.fitted_on.sentences, facts.fitted_on.tags) == ("dev.conllu", 27, "given")
        assert reliability is not None
        assert f"{reliability.arcs.ece:.4f}" in again.model.card
        assert again.model.card.index("## Confidence") < again.model.card.index("## Use")
        assert evaluate_confidence(again.parse(gold), gold).arcs.count == sum(map(len, gold))
        store_calibration(tmp_path, *calibrate(parser.parse(gold), gold, file="dev.conllu", tags="predicted"))
        card = load(tmp_path).model.card
        assert card.count("## Confidence") == 1
        assert "tags predicted" in card

    def test_sentences_without_a_tree_are_left_out(self) -> None:
        gold = [*read_conllu(TREEBANK), Sentence.from_words(["a", "b"], heads=[None, 0])]
        calibration, _ = calibrate(Parser(small_model("none")).parse(gold), gold, file="x", tags="given")
        assert calibration.fitted_on.sentences == 27
