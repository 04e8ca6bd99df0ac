"""Fits a calibration: parses of sentences whose trees are known in, probabilities out.

The sentences should be none that the parser has learnt from; a training run takes its dev treebank. How good the result
is can only be seen on sentences it was not fitted on, so the figures come from five fits, each judged on the fifth of
the sentences that it has not seen; the calibration itself is fitted on all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import numpy as np

from easyfirst.confidence.calibration import (
    ARC_EXTRAS,
    LABEL_EXTRAS,
    ROOT_EXTRAS,
    Calibration,
    FittedOn,
    Logistic,
    Scales,
)
from easyfirst.confidence.estimates import (
    Confidence,
    confidence_of,
    features_of,
    require_confidence,
    tree_features,
)
from easyfirst.confidence.regression import fit_logistic
from easyfirst.confidence.reliability import Judgement, judge, to_markdown
from easyfirst.errors import InputError
from easyfirst.model.calibration_store import save_calibration
from easyfirst.model.card import with_section
from easyfirst.model.directory import CARD, replace_file
from easyfirst.nn.arrays import Bools, Floats
from easyfirst.parsing.derivation import Steps
from easyfirst.results.parses import Parse
from easyfirst.treebank.sentence import Sentence

N_FOLDS = 5
MARGIN_QUANTILES, LABEL_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95), (0.1, 0.5, 0.9)
"""Where the pieces of a margin end, among the margins that were met."""
SECTION = "Confidence"


@dataclass(frozen=True, slots=True)
class Example:
    """A parse, and what of it is right."""

    heads: tuple[int, ...]
    steps: Steps
    heads_right: Bools
    labels_right: Bools
    """The head and the relation."""

    @classmethod
    def of(cls, parse: Parse, gold: Sentence) -> Example:
        heads_right = np.array([head == right for head, right in zip(parse.heads, gold.heads, strict=True)])
        same = np.array([name == right for name, right in zip(parse.relations, gold.relations, strict=True)])
        return cls(parse.heads, parse.steps, heads_right, heads_right & same)


def fit_calibration(examples: Sequence[Example], *, fitted_on: FittedOn) -> Calibration:
    """Fit all regressions. Sentences of one word are certain anyway and teach nothing; of others there must be one."""
    examples = [example for example in examples if len(example.heads) > 1]
    if not examples:
        raise InputError("a calibration needs sentences of two words or more")
    scales = _scales(examples)
    features = [features_of(example.heads, example.steps, scales) for example in examples]
    arcs, labels = (np.concatenate([getattr(part, name) for part in features]) for name in ("arcs", "labels"))
    arc_right = np.concatenate([example.heads_right[example.steps.modifiers - 1] for example in examples])
    label_right = np.concatenate([example.labels_right[example.steps.modifiers - 1] for example in examples])
    roots = np.stack([part.root for part in features])
    root_right = np.array([example.heads_right[example.heads.index(0)] for example in examples])
    n_root_labels = sum(bool(example.labels_right[example.heads.index(0)]) for example in examples)
    rising, rising_labels = [1] * len(scales.margins), [1] * len(scales.label_margins)
    without_trees = Calibration(
        scales,
        arc=fit_logistic(arcs, arc_right, [*rising, -1, *[0] * (ARC_EXTRAS - 1)]),
        root=fit_logistic(roots, root_right, [*rising, -1, *[0] * (ROOT_EXTRAS - 1)]),
        label=fit_logistic(labels[arc_right], label_right[arc_right], [*rising_labels, *[0] * LABEL_EXTRAS]),
        tree=Logistic(0.0, (1.0, 0.0)),  # for now: as if words were right or wrong each for itself
        root_label=(n_root_labels + 1) / (int(root_right.sum()) + 1),
        fitted_on=fitted_on,
    )
    found = [confidence_of(example.heads, example.steps, without_trees).labels for example in examples]
    trees = np.stack([tree_features(np.array(labels)) for labels in found])
    tree_right = np.array([bool(example.labels_right.all()) for example in examples])
    return replace(without_trees, tree=fit_logistic(trees, tree_right, [1, 0]))


def cross_judge(examples: Sequence[Example], *, fitted_on: FittedOn) -> Judgement | None:
    """Each sentence judged by a calibration that was fitted on others; None if there are too few of them."""
    n_folds = min(N_FOLDS, len(examples))
    confidences: list[Confidence] = []
    judged: list[Example] = []
    for fold in range(n_folds):
        others = [example for number, example in enumerate(examples) if number % n_folds != fold]
        if not any(len(example.heads) > 1 for example in others):
            return None
        calibration = fit_calibration(others, fitted_on=fitted_on)
        judged += examples[fold::n_folds]
        confidences += [confidence_of(e.heads, e.steps, calibration) for e in examples[fold::n_folds]]
    return judge(confidences, [e.heads_right for e in judged], [e.labels_right for e in judged])


def judge_parses(parses: Sequence[Parse]) -> Judgement:
    """How far the confidence of parses can be trusted, whose sentences have the right trees."""
    examples = [Example.of(parse, parse.sentence) for parse in parses]
    confidences = [require_confidence(parse.confidence) for parse in parses]
    return judge(confidences, [e.heads_right for e in examples], [e.labels_right for e in examples])


def calibrate_model(
    directory: Path, parses: Sequence[Parse], gold: Sequence[Sentence], *, file: str, tags: str
) -> Judgement | None:
    """Fit a calibration to the model in a directory, by what it made of sentences whose trees are known (others are
    left out); write it there, and its figures into the model's card. ``tags``: ``predicted`` or ``given``."""
    known = ((parse, tree) for parse, tree in zip(parses, gold, strict=True) if None not in tree.heads)
    examples = [Example.of(parse, tree) for parse, tree in known]
    n_words = sum(len(example.heads) for example in examples)
    fitted_on = FittedOn(PurePath(file).name, len(examples), n_words, tags)
    calibration = fit_calibration(examples, fitted_on=fitted_on)
    judgement = cross_judge(examples, fitted_on=fitted_on)
    save_calibration(directory, calibration)
    card = directory / CARD
    if card.is_file():
        text = card.read_bytes().decode(errors="replace")
        replace_file(card, with_section(text, SECTION, _section(fitted_on, judgement), before="Use").encode())
    return judgement


def _section(facts: FittedOn, judgement: Judgement | None) -> list[str]:
    """What the card says."""
    lines = [
        f"Fitted on `{facts.file}` ({facts.sentences:,} sentences, {facts.words:,} words, tags {facts.tags}) with the",
        "weights of this directory. A label is right if head and relation are, a tree if all its labels are.",
    ]
    if judgement is None:
        return [*lines, "There were too few sentences to judge it."]
    return [
        *lines,
        f"The figures are of the same sentences, each judged by a fit on the others ({N_FOLDS} parts). If these",
        "sentences also chose the epoch, the parser is a little better on them than elsewhere.",
        "ECE: expected calibration error, 15 bins of equal size.",
        "",
        *to_markdown(judgement),
    ]


def _scales(examples: Sequence[Example]) -> Scales:
    margins = np.concatenate([example.steps.margins for example in examples])
    label_margins = np.concatenate([example.steps.label_margins for example in examples])
    ends = _ends(margins, MARGIN_QUANTILES)
    return Scales(ends, _ends(label_margins, LABEL_QUANTILES), doubt=ends[len(ends) // 2] / 2)


def _ends(margins: Floats, quantiles: Sequence[float]) -> tuple[float, ...]:
    """Quantiles of the finite margins above 0, each once; 1 if there is none."""
    finite = margins[np.isfinite(margins)].astype(np.float64)
    found = np.unique(np.quantile(finite, quantiles).round(6)) if len(finite) else np.ones(1)
    return tuple(found[found > 0].tolist()) or (1.0,)
