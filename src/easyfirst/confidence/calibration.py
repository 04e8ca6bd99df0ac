"""The calibration of a parser: logistic regressions that turn its margins into probabilities.

They are fitted on held-out sentences and stored beside the weights in ``confidence.json``, which has a checksum of
the weights and is ignored for any others. :mod:`easyfirst.confidence.estimates` defines the features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from easyfirst.json_values import number, numbers, table, whole_number

ARC_EXTRAS, ROOT_EXTRAS, LABEL_EXTRAS, TREE_FEATURES, FOUND_FEATURES = 4, 2, 1, 2, 2
"""The numbers of features; for arcs, root and labels those besides the segments of margins."""
Offsets = tuple[tuple[str, float, float], ...]
"""Relations, and what each adds to the log-odds of its arcs, and to those of its label if the arc is correct."""


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
    rivals: tuple[float, ...] = ()
    """The knots of the function of the margin over the best rival of the whole derivation; none in calibrations of
    earlier versions."""


@dataclass(frozen=True, slots=True)
class FittedOn:
    """The sentences that a calibration was fitted on."""

    file: str
    sentences: int
    words: int
    tags: str
    """``predicted`` or ``given``."""


@dataclass(frozen=True, slots=True)
class BeamCalibration:
    """What turns the scores of the trees that a beam finds into probabilities."""

    temperature: float
    """Scores are divided by it before their softmax."""
    found: Logistic
    """The regression for whether the right tree is among them."""
    width: int
    """The width of the beam that it was fitted with."""


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
    beam: BeamCalibration | None = None
    """For the trees of a beam, if it was fitted."""
    relations: Offsets = ()
    """Relations that were too rare are absent, and so are all in calibrations of earlier versions."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        return values | {"relations": {name: offsets for name, *offsets in self.relations}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """Undo :meth:`to_dict`; raise a :class:`ValueError` if something is missing or of the wrong type."""
        values = dict(values)
        beam = values.pop("beam", None)
        table(values, "it", keys=_KEYS)
        scales = table(values["scales"], "scales", keys=("margins", "rivals", "label_margins", "doubt"))
        facts = table(values["fitted_on"], "fitted_on", keys=("file", "sentences", "words", "tags"))
        margins, label_margins = _knots(scales["margins"], "margins"), _knots(scales["label_margins"], "label_margins")
        rivals = _knots(scales["rivals"], "rivals") if scales["rivals"] != [] else ()
        n_segments = len(margins) + len(rivals)
        doubt, root_label = number(scales["doubt"], "doubt"), number(values["root_label"], "root_label")
        if doubt <= 0 or not 0 < root_label <= 1:
            raise ValueError("doubt must be above 0, and root_label a probability")
        return cls(
            Scales(margins, label_margins, doubt, rivals),
            arc=_logistic(values["arc"], n_segments + ARC_EXTRAS, "arc"),
            root=_logistic(values["root"], n_segments + ROOT_EXTRAS, "root"),
            label=_logistic(values["label"], len(label_margins) + LABEL_EXTRAS, "label"),
            tree=_logistic(values["tree"], TREE_FEATURES, "tree"),
            root_label=root_label,
            fitted_on=FittedOn(
                str(facts["file"]),
                whole_number(facts["sentences"], "sentences"),
                whole_number(facts["words"], "words"),
                str(facts["tags"]),
            ),
            beam=None if beam is None else _beam(beam),
            relations=tuple(_offsets(values["relations"])),
        )


_KEYS = ("scales", "arc", "root", "label", "tree", "relations", "root_label", "fitted_on")


def _offsets(values: object) -> Iterator[tuple[str, float, float]]:
    for name, pair in table(values, "relations").items():
        offsets = numbers(pair, name)
        if len(offsets) != 2:
            raise ValueError(f"{name} must have two numbers, not {len(offsets)}")
        yield name, offsets[0], offsets[1]


def _beam(values: object) -> BeamCalibration:
    beam = table(values, "beam", keys=("temperature", "found", "width"))
    temperature = number(beam["temperature"], "temperature")
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    found = _logistic(beam["found"], FOUND_FEATURES, "found")
    return BeamCalibration(temperature, found, whole_number(beam["width"], "width"))


def _knots(values: object, name: str) -> tuple[float, ...]:
    knots = numbers(values, name)
    if not knots or any(low >= high for low, high in pairwise((0.0, *knots))):
        raise ValueError(f"{name} must rise from above 0")
    return knots


def _logistic(values: object, n_weights: int, name: str) -> Logistic:
    regression = table(values, name, keys=("bias", "weights"))
    weights = numbers(regression["weights"], "weights")
    if len(weights) != n_weights:
        raise ValueError(f"{name} has {len(weights)} weights for {n_weights} features")
    return Logistic(number(regression["bias"], "bias"), weights)
