"""Select the features of arc confidence by five-fold cross-validation on dev.

    python -m bench.confidence_choice --model en --treebank dev.conllu

Reports the log loss of each set of features. For fewer sentences, as a small treebank has, the features of format 1 and
all features are fitted to parts of dev, and the log loss is the mean of those on the rest.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import easyfirst
from bench import report
from easyfirst.confidence.estimates import features_of, probability
from easyfirst.confidence.fitting import Example, fit_calibration
from easyfirst.confidence.regression import fit_groups
from easyfirst.nn.arrays import Bools, Floats
from easyfirst.text.tagging import without_tags

N_FOLDS = 5
SIZES = (50, 100, 200, 500)
MOST_PARTS = 10
EARLIER = "+ arc length"
"""The features of format 1."""


class Answers(NamedTuple):
    """The arcs of a sentence."""

    features: Floats
    relations: tuple[str, ...]
    right: Bools


class Regression(NamedTuple):
    """The features of a regression."""

    columns: Sequence[int]
    signs: Sequence[int]
    has_relations: bool

    def log_loss(self, learnt: Sequence[Answers], held_out: Sequence[Answers]) -> float:
        """Fit it to some sentences, and return the log loss of the arcs of others."""
        features, right = (np.concatenate([getattr(each, name) for each in learnt]) for name in ("features", "right"))
        groups = [name for each in learnt for name in each.relations] if self.has_relations else []
        logistic, offsets = fit_groups(features[:, self.columns], right, self.signs, groups)
        total = 0.0
        for each in held_out:
            added = np.array([offsets.get(name, 0.0) for name in each.relations])
            p = probability(each.features[:, self.columns], logistic, added)
            total -= float(np.log(np.where(each.right, p, 1 - p)).sum())
        return total / sum(len(each.right) for each in held_out)

    def mean_loss(self, sentences: Sequence[Answers], n_parts: int, *, is_fold: bool = True) -> float:
        """Return the mean log loss over parts, each held out while the others are learnt, or the other way round."""
        losses: list[float] = []
        for part in range(min(n_parts, MOST_PARTS)):
            others = [each for number, each in enumerate(sentences) if number % n_parts != part]
            here = sentences[part::n_parts]
            losses.append(self.log_loss(others, here) if is_fold else self.log_loss(here, others))
        return float(np.mean(losses))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True, help="dev, not test")
    given = options.parse_args()
    nlp = easyfirst.load(given.model, valid=False)
    gold = list(easyfirst.read_conllu(given.treebank))
    calibration = nlp.model.calibration
    assert calibration is not None
    parses = nlp.parse(without_tags(gold, nlp.tagger, given.model))
    examples = [e for e in map(Example.of, parses, gold) if len(e) > 1]
    scales = fit_calibration(examples, fitted_on=calibration.fitted_on).scales
    sentences = [
        Answers(features_of(e.steps, scales).arcs, tuple(e.steps.relations), e.heads_right[e.steps.modifiers - 1])
        for e in examples
    ]
    own, rivals = len(scales.margins), len(scales.rivals)
    others = own + rivals
    added = {
        "margin": range(own),
        "+ uncertainty of the rest of the sentence": [others],
        "+ step": [others + 1],
        "+ sentence length": [others + 2],
        EARLIER: [others + 3],
        "+ best rival of the whole derivation": range(own, others),
        "+ relation": [],
    }
    chosen: list[int] = []
    sets: dict[str, Regression] = {}
    for name, columns in added.items():
        chosen = [*chosen, *columns]
        signs = [1 if column < others else -1 if column == others else 0 for column in chosen]
        sets[name] = Regression(chosen, signs, has_relations=not columns)
    losses = {name: each.mean_loss(sentences, N_FOLDS) for name, each in sets.items()}
    names = EARLIER, "+ relation"
    smaller = {
        n: {name: sets[name].mean_loss(sentences, len(sentences) // n, is_fold=False) for name in names} for n in SIZES
    }
    result = {"model": given.model, "treebank": given.treebank.name, "log_loss": losses, "fewer_sentences": smaller}
    header = ["sentences", "up to arc length", "all features"]
    rows = [[n, *(f"{found[name]:.4f}" for name in names)] for n, found in smaller.items()]
    more = ["", *report.table(header, rows)]
    of_features = [[name, f"{loss:.4f}"] for name, loss in losses.items()]
    report.write("confidence_choice", result, ["features", "log loss"], of_features, more=more)


if __name__ == "__main__":
    main()
