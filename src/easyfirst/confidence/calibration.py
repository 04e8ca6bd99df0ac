"""The calibration of a parser: logistic regressions that turn its margins into probabilities.

They are fitted on held-out sentences and stored beside the weights in ``confidence.json``, which has a checksum of
the weights and is ignored for any others. :mod:`easyfirst.confidence.estimates` defines the features.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, cast

from easyfirst.errors import ModelError

ARC_EXTRAS, ROOT_EXTRAS, LABEL_EXTRAS, TREE_FEATURES = 4, 2, 1, 2
"""The numbers of features; for arcs, root and labels those besides the segments of the margin."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression: the log-odds of a correct answer are ``bias + weights · features``."""

    bias: float
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of a parser's margins."""

    margins: tuple[float, ...]
    """The knots of the piecewise linear function of an arc's margin: increasing and positive."""
    label_margins: tuple[float, ...]
    doubt: float
    """The margin at which the doubt about a step is 1/e."""


@dataclass(frozen=True, slots=True)
class FittedOn:
    """The sentences that a calibration was fitted on."""

    file: str
    sentences: int
    words: int
    tags: str
    """``predicted`` or ``given``."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Regressions for correct arcs, correct roots, correct relations of correct arcs, and correct trees."""

    scales: Scales
    arc: Logistic
    root: Logistic
    label: Logistic
    tree: Logistic
    root_label: float
    """The probability that the relation of a correct root is correct."""
    fitted_on: FittedOn

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """Invert :meth:`to_dict`. Raise a :class:`ModelError` if a value is missing or invalid."""
        _require_keys(values, ("scales", "arc", "root", "label", "tree", "root_label", "fitted_on"), "it")
        scales, facts = values["scales"], values["fitted_on"]
        _require_keys(scales, ("margins", "label_margins", "doubt"), "scales")
        _require_keys(facts, ("file", "sentences", "words", "tags"), "fitted_on")
        margins, label_margins = _knots(scales["margins"]), _knots(scales["label_margins"])
        doubt, root_label = _number(scales["doubt"]), _number(values["root_label"])
        if doubt <= 0 or not 0 < root_label <= 1:
            raise ModelError("doubt must be above 0, and root_label a probability")
        return cls(
            Scales(margins, label_margins, doubt),
            arc=_logistic(values["arc"], len(margins) + ARC_EXTRAS, "arc"),
            root=_logistic(values["root"], len(margins) + ROOT_EXTRAS, "root"),
            label=_logistic(values["label"], len(label_margins) + LABEL_EXTRAS, "label"),
            tree=_logistic(values["tree"], TREE_FEATURES, "tree"),
            root_label=root_label,
            fitted_on=FittedOn(
                str(facts["file"]), _count(facts["sentences"]), _count(facts["words"]), str(facts["tags"])
            ),
        )


def _require_keys(values: object, keys: tuple[str, ...], name: str) -> None:
    found = set(cast("dict[str, Any]", values)) if isinstance(values, dict) else set[str]()
    if found != set(keys):
        raise ModelError(f"{name} must have {', '.join(keys)} and nothing else")


def _number(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(cast(float, value)):
        raise ModelError(f"{value!r} is not a number")
    return float(cast(float, value))


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ModelError(f"{value!r} is not a number of sentences or words")
    return value


def _numbers(values: object) -> tuple[float, ...]:
    if not isinstance(values, list):
        raise ModelError(f"{values!r} is not a list of numbers")
    return tuple(_number(value) for value in cast("list[object]", values))


def _knots(values: object) -> tuple[float, ...]:
    knots = _numbers(values)
    if not knots or any(low >= high for low, high in pairwise((0.0, *knots))):
        raise ModelError("the ends of a margin's pieces must rise from above 0")
    return knots


def _logistic(values: object, n_weights: int, name: str) -> Logistic:
    _require_keys(values, ("bias", "weights"), name)
    table = cast("dict[str, Any]", values)
    weights = _numbers(table["weights"])
    if len(weights) != n_weights:
        raise ModelError(f"{name} has {len(weights)} weights for {n_weights} features")
    return Logistic(_number(table["bias"]), weights)
