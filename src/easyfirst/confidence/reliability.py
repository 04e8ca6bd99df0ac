"""The reliability of probabilities.

- *Expected calibration error* (ECE): answers are sorted by probability into 15 bins of equal size. The error is the
  mean of |mean probability - accuracy| over the bins, weighted by their sizes.
- *Risk and coverage*: the error rate of the most confident answers, for several shares of all answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from easyfirst.confidence.estimates import Confidence
from easyfirst.nn.arrays import Bools, Floats

N_BINS = 15
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
LEAST_CONFIDENT = 0.1
"""The share of the sentences that ``least_sure_errors`` is about."""
BAR_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar probability."""

    count: int
    confidence: float
    """The mean probability."""
    accuracy: float
    """The share of correct answers."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability of probabilities of one kind."""

    count: int
    confidence: float
    accuracy: float
    ece: float
    bins: tuple[Bin, ...]
    risks: tuple[tuple[float, float], ...]
    """Pairs of coverage and risk, the share of wrong answers among that share of the most confident."""

    @classmethod
    def of(cls, probabilities: Floats, is_right: Bools) -> Reliability:
        """Measure the reliability for one or more answers."""
        order = np.argsort(probabilities, kind="stable")
        p, right = probabilities[order], is_right[order].astype(np.float64)
        parts = [part for part in np.array_split(np.arange(len(p)), N_BINS) if len(part)]
        bins = tuple(Bin(len(part), float(p[part].mean()), float(right[part].mean())) for part in parts)
        kept = [(share, max(round(share * len(p)), 1)) for share in COVERAGES]
        return cls(
            count=len(p),
            confidence=float(p.mean()),
            accuracy=float(right.mean()),
            ece=sum(b.count * abs(b.confidence - b.accuracy) for b in bins) / len(p),
            bins=bins,
            risks=tuple((share, 1 - float(right[-n:].mean())) for share, n in kept),
        )


@dataclass(frozen=True, slots=True)
class ReliabilityReport:
    """The reliability of a parser's confidence on some sentences."""

    arcs: Reliability
    labels: Reliability
    trees: Reliability
    least_sure_errors: float
    """The share of all wrong heads that are in the tenth of the sentences with the lowest tree confidence."""

    @classmethod
    def of(
        cls, confidences: Sequence[Confidence], heads_right: Sequence[Bools], labels_right: Sequence[Bools]
    ) -> ReliabilityReport:
        """Compare the confidence of each sentence with the heads and labels that are correct."""
        trees = np.array([confidence.tree for confidence in confidences])
        n_wrong = np.array([np.count_nonzero(~right) for right in heads_right])
        least = np.argsort(trees, kind="stable")[: max(round(LEAST_CONFIDENT * len(trees)), 1)]
        return cls(
            arcs=Reliability.of(np.concatenate([c.arcs for c in confidences]), np.concatenate(heads_right)),
            labels=Reliability.of(np.concatenate([c.labels for c in confidences]), np.concatenate(labels_right)),
            trees=Reliability.of(trees, np.array([bool(right.all()) for right in labels_right])),
            least_sure_errors=float(n_wrong[least].sum() / max(n_wrong.sum(), 1)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def to_markdown(report: ReliabilityReport) -> list[str]:
    """Return lines of Markdown: a table of all figures, and the bins of arcs (also as a plot) and labels."""
    kinds = (("arcs", report.arcs), ("labels", report.labels), ("trees", report.trees))
    lines = ["| | number | right % | mean confidence % | ECE |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {name} | {r.count:,} | {100 * r.accuracy:.2f} | {100 * r.confidence:.2f} | {r.ece:.4f} |"
        for name, r in kinds
    ]
    lines += ["", "Of all wrong heads, the tenth of the sentences with the lowest tree confidence has "]
    lines[-1] += f"{100 * report.least_sure_errors:.1f} %."
    lines += ["", "| bin | arcs: confidence % | right % | labels: confidence % | right % | arcs: right █, sure ┃ |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for number, (arc, label) in enumerate(zip(report.arcs.bins, report.labels.bins, strict=True), 1):
        shares = (arc.confidence, arc.accuracy, label.confidence, label.accuracy)
        figures = " | ".join(f"{100 * share:.1f}" for share in shares)
        lines.append(f"| {number} | {figures} | `{_bar(arc.accuracy, arc.confidence)}` |")
    return lines


def _bar(share: float, mark: float) -> str:
    """Draw a bar of the length ``share`` with a mark."""
    cells = ["█" if (place + 0.5) / BAR_WIDTH <= share else "·" for place in range(BAR_WIDTH)]
    cells[min(int(mark * BAR_WIDTH), BAR_WIDTH - 1)] = "┃"
    return "".join(cells)
