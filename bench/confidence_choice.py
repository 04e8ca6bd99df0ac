"""Which features tell how sure an arc is: chosen on dev alone, each sentence judged by a fit on the others.

    python bench/confidence_choice.py --model en --treebank dev.conllu

Every form is fitted on four fifths of the sentences and judged on the last, five times over.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from pathlib import Path

import numpy as np
import report

import easyfirst
from easyfirst.confidence.estimates import features_of, probability
from easyfirst.confidence.fitting import Example, fit_calibration
from easyfirst.confidence.regression import fit_logistic
from easyfirst.text.tagging import without_tags

N_FOLDS = 5
EXTRAS = ("doubt in the rest of the sentence", "step", "length of the sentence", "length of the arc")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True, help="dev, not test")
    given = options.parse_args()
    nlp = easyfirst.load(given.model)
    gold = list(easyfirst.read_conllu(given.treebank))
    calibration = nlp.model.calibration
    assert calibration is not None
    parses = nlp.parse(without_tags(gold, nlp.tagger, given.model))
    examples = [e for e in map(Example.of, parses, gold) if len(e) > 1]
    scales = fit_calibration(examples, fitted_on=calibration.fitted_on).scales
    features = [features_of(e.steps, scales).arcs for e in examples]
    right = [e.heads_right[e.steps.modifiers - 1] for e in examples]
    n_pieces = len(scales.margins)
    losses: dict[str, float] = {}
    for n_extras in range(len(EXTRAS) + 1):
        name = "margin" if not n_extras else f"+ {EXTRAS[n_extras - 1]}"
        columns = [part[:, : n_pieces + n_extras] for part in features]
        signs = [*[1] * n_pieces, -1, 0, 0, 0][: n_pieces + n_extras]
        total = 0.0
        for fold in range(N_FOLDS):
            learnt = [n for n in range(len(examples)) if n % N_FOLDS != fold]
            logistic = fit_logistic(
                np.concatenate([columns[n] for n in learnt]), np.concatenate([right[n] for n in learnt]), signs
            )
            p = probability(np.concatenate(columns[fold::N_FOLDS]), logistic)
            total -= float(np.log(np.where(np.concatenate(right[fold::N_FOLDS]), p, 1 - p)).sum())
        losses[name] = total / sum(map(len, right))
    result = {"model": given.model, "treebank": given.treebank.name, "log_loss": losses}
    report.write("confidence_choice", result, ["features", "log loss"], [[k, f"{v:.4f}"] for k, v in losses.items()])


if __name__ == "__main__":
    main()
