"""A calibration made up by hand, and one fitted to what a small parser makes of the toy treebank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from easyfirst.confidence.calibration import Calibration, FittedOn, Logistic, Scales
from easyfirst.parsing.derivation import Derivation

FITTED_ON = FittedOn("dev.conllu", 12, 100, "given")
BY_HAND = Calibration(
    Scales((1.0, 3.0), (2.0,), 1.5, (1.5,)),
    arc=Logistic(0.1, (1.0, 0.5, 0.7, -0.4, -0.3, 0.1, -0.2)),
    root=Logistic(-0.2, (0.8, 0.6, 0.2, -0.5, 0.05)),
    label=Logistic(0.3, (0.9, -0.1)),
    tree=Logistic(0.2, (0.8, -0.1)),
    root_label=0.98,
    fitted_on=FITTED_ON,
    relations=(("dep", 0.25, -0.15), ("obl", -0.5, 0.0)),
)

FORMAT_1: dict[str, Any] = {
    "scales": {"margins": [1.0, 3.0], "label_margins": [2.0], "doubt": 1.5},
    "arc": {"bias": 0.1, "weights": [1.0, 0.5, -0.4, -0.3, 0.1, -0.2]},
    "root": {"bias": -0.2, "weights": [0.8, 0.6, -0.5, 0.05]},
    "label": {"bias": 0.3, "weights": [0.9, -0.1]},
    "tree": {"bias": 0.2, "weights": [0.8, -0.1]},
    "root_label": 0.98,
    "fitted_on": {"file": "dev.conllu", "sentences": 12, "words": 100, "tags": "given"},
}
"""The values of a calibration as the first versions of easyfirst stored them."""


def steps_of(
    heads: Sequence[int],
    modifiers: Sequence[int],
    margins: Sequence[float],
    label_margins: Sequence[float],
    lost_margins: Sequence[float] | None = None,
    relation: str = "dep",
) -> Derivation:
    """Return a derivation by the head of each word, and the modifiers in the order they were attached. No word lost a
    head before, unless ``lost_margins`` has the margin of each word."""
    scores = np.zeros(len(modifiers), dtype=np.float32)
    lost_margins = [np.inf] * len(heads) if lost_margins is None else lost_margins
    *arrays, lost = (np.array(values, dtype=np.float32) for values in (margins, label_margins, lost_margins))
    of_steps = np.array([heads[m - 1] for m in modifiers], dtype=np.int32)
    order = np.array(modifiers, dtype=np.int32)
    return Derivation(of_steps, order, (relation,) * len(order), "root", scores, *arrays, lost_margins=lost)
