"""Fit a calibration to parses of sentences whose gold trees are known.

The sentences should be held out from training; a training run uses its dev treebank. The calibration is fitted on all
of them, and its reliability is measured by five-fold cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Protocol

import numpy as np

from easyfirst.confidence.calibration import Calibration, FittedOn, Logistic, Scales
from easyfirst.confidence.estimates import (
    Confidence,
    Decisions,
    confidence_of,
    features_of,
    require_confidence,
    rival_margins,
    tree_features,
)
from easyfirst.confidence.regression import fit_groups, fit_logistic
from easyfirst.confidence.reliability import ReliabilityReport
from easyfirst.confidence.tree_lists import RankedParse
from easyfirst.errors import InputError
from easyfirst.nn.arrays import Bools, Floats
from easyfirst.treebank.sentence import Sentence

N_FOLDS = 5
MARGIN_QUANTILES, LABEL_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95), (0.1, 0.5, 0.9)
"""The knots of the piecewise linear functions, as quantiles of the margins."""


class ParseWithSteps(RankedParse, Protocol):
    """A parse: its tree, derivation and confidence."""

    @property
    def confidence(self) -> Confidence | None: ...


@dataclass(frozen=True, slots=True)
class Example:
    """A derivation, and which of its heads and labels are correct."""

    steps: Decisions
    heads_right: Bools
    labels_right: Bools
    """Whether both the head and the relation are correct."""
    relations: tuple[str, ...]
    """Those of the tree."""

    def __len__(self) -> int:
        return len(self.heads_right)

    @classmethod
    def of(cls, parse: ParseWithSteps, gold: Sentence) -> Example:
        """Compare a parse with the gold tree."""
        heads_right = np.array([head == right for head, right in zip(parse.heads, gold.heads, strict=True)])
        same = np.array([name == right for name, right in zip(parse.relations, gold.relations, strict=True)])
        return cls(parse.steps, heads_right, heads_right & same, tuple(parse.relations))


def fit_calibration(examples: Sequence[Example], *, fitted_on: FittedOn) -> Calibration:
    """Fit all regressions. Sentences of one word are ignored, since they are certain; there must be a longer one."""
    examples = [example for example in examples if len(example) > 1]
    if not examples:
        raise InputError("a calibration needs sentences of two words or more")
    scales = _scales(examples)
    features = [features_of(example.steps, scales) for example in examples]
    arcs, labels = (np.concatenate([getattr(part, name) for part in features]) for name in ("arcs", "labels"))
    arc_right = np.concatenate([example.heads_right[example.steps.modifiers - 1] for example in examples])
    label_right = np.concatenate([example.labels_right[example.steps.modifiers - 1] for example in examples])
    roots = np.stack([part.root for part in features])
    root_right = np.array([example.heads_right[example.steps.root - 1] for example in examples])
    n_root_labels = sum(bool(example.labels_right[example.steps.root - 1]) for example in examples)
    relations = np.array([name for example in examples for name in example.steps.relations])
    signs, label_signs = [1] * len((*scales.margins, *scales.rivals)) + [-1], [1] * len(scales.label_margins)
    arc, arc_offsets = fit_groups(arcs, arc_right, signs, relations.tolist())
    label, label_offsets = fit_groups(
        labels[arc_right], label_right[arc_right], label_signs, relations[arc_right].tolist()
    )
    without_trees = Calibration(
        scales,
        arc=arc,
        root=fit_logistic(roots, root_right, signs),
        label=label,
        tree=Logistic(0.0, (1.0, 0.0)),  # as if words were independent
        root_label=(n_root_labels + 1) / (int(root_right.sum()) + 1),
        fitted_on=fitted_on,
        relations=tuple((name, offset, label_offsets.get(name, 0.0)) for name, offset in arc_offsets.items()),
    )
    found = [confidence_of(example.steps, without_trees).labels for example in examples]
    trees = np.stack([tree_features(np.array(labels)) for labels in found])
    tree_right = np.array([bool(example.labels_right.all()) for example in examples])
    return replace(without_trees, tree=fit_logistic(trees, tree_right, [1]))


def cross_validate(examples: Sequence[Example], *, fitted_on: FittedOn) -> ReliabilityReport | None:
    """Measure the reliability of calibrations on held-out folds; return None if there are too few sentences."""
    n_folds = min(N_FOLDS, len(examples))
    confidences: list[Confidence] = []
    held_out: list[Example] = []
    for fold in range(n_folds):
        others = [example for number, example in enumerate(examples) if number % n_folds != fold]
        if not any(len(example) > 1 for example in others):
            return None
        calibration = fit_calibration(others, fitted_on=fitted_on)
        held_out += examples[fold::n_folds]
        confidences += [confidence_of(e.steps, calibration) for e in examples[fold::n_folds]]
    return _report(confidences, held_out)


def evaluate_confidence(parses: Sequence[ParseWithSteps], gold: Sequence[Sentence]) -> ReliabilityReport:
    """Measure the reliability of the confidence of parses against gold trees."""
    examples = [Example.of(parse, tree) for parse, tree in zip(parses, gold, strict=True)]
    return _report([require_confidence(parse.confidence) for parse in parses], examples)


def _report(confidences: Sequence[Confidence], examples: Sequence[Example]) -> ReliabilityReport:
    right = [e.heads_right for e in examples], [e.labels_right for e in examples]
    return ReliabilityReport.of(confidences, *right, [e.relations for e in examples])


def calibrate(
    parses: Sequence[ParseWithSteps], gold: Sequence[Sentence], *, file: str, tags: str
) -> tuple[Calibration, ReliabilityReport | None]:
    """Fit a calibration to the parses of sentences with complete gold trees, and measure its reliability by
    cross-validation. ``tags``: ``predicted`` or ``given``."""
    complete = ((parse, tree) for parse, tree in zip(parses, gold, strict=True) if None not in tree.heads)
    examples = [Example.of(parse, tree) for parse, tree in complete]
    fitted_on = FittedOn(PurePath(file).name, len(examples), sum(map(len, examples)), tags)
    calibration = fit_calibration(examples, fitted_on=fitted_on)
    return calibration, cross_validate(examples, fitted_on=fitted_on)


def _scales(examples: Sequence[Example]) -> Scales:
    margins = np.concatenate([example.steps.margins for example in examples])
    label_margins = np.concatenate([example.steps.label_margins for example in examples])
    rivals = np.concatenate([rival_margins(example.steps) for example in examples])
    knots, rival_knots = (_place_knots(values, MARGIN_QUANTILES) for values in (margins, rivals))
    label_knots = _place_knots(label_margins, LABEL_QUANTILES)
    return Scales(knots, label_knots, knots[len(knots) // 2] / 2, rival_knots)


def _place_knots(margins: Floats, quantiles: Sequence[float]) -> tuple[float, ...]:
    """Return the distinct positive quantiles of the finite margins, or 1 if there are none."""
    finite = margins[np.isfinite(margins)].astype(np.float64)
    found = np.unique(np.quantile(finite, quantiles).round(6)) if len(finite) else np.ones(1)
    return tuple(found[found > 0].tolist()) or (1.0,)
