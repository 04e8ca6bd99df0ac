"""Whether probabilities can be trusted, and whether they are of use.

- *Expected calibration error* (ECE): answers sorted by their probability and cut into 15 bins of as many answers each;
  the mean over the bins of |mean probability - share that is right|, weighted by the bins' sizes.
- *Risk and coverage*: if only the surest answers are kept, how many of them are wrong.
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
LEAST_SURE = 0.1
"""The share of the sentences whose mistakes are counted."""
BAR_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar probability."""

    count: int
    confidence: float
    """Their mean probability."""
    accuracy: float
    """The share of them that is right."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """How probabilities of one kind went with what turned out."""

    count: int
    confidence: float
    accuracy: float
    ece: float
    bins: tuple[Bin, ...]
    risks: tuple[tuple[float, float], ...]
    """(coverage, share of wrong answers among that share of the surest)"""

    @classmethod
    def of(cls, probabilities: Floats, is_right: Bools) -> Reliability:
        """Of at least one answer."""
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
class Judgement:
    """How far the confidence of a parser can be trusted on some sentences."""

    arcs: Reliability
    labels: Reliability
    trees: Reliability
    least_sure_errors: float
    """The share of all wrong heads that is in the tenth of the sentences with the lowest tree confidence."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)


def judge(confidences: Sequence[Confidence], heads_right: Sequence[Bools], labels_right: Sequence[Bools]) -> Judgement:
    """Compare with what is right: for each sentence, which of its heads are, and of its heads with relations."""
    trees = np.array([confidence.tree for confidence in confidences])
    n_wrong = np.array([np.count_nonzero(~right) for right in heads_right])
    least_sure = np.argsort(trees, kind="stable")[: max(round(LEAST_SURE * len(trees)), 1)]
    return Judgement(
        arcs=Reliability.of(_joined([c.arcs for c in confidences]), np.concatenate(heads_right)),
        labels=Reliability.of(_joined([c.labels for c in confidences]), np.concatenate(labels_right)),
        trees=Reliability.of(trees, np.array([bool(right.all()) for right in labels_right])),
        least_sure_errors=float(n_wrong[least_sure].sum() / max(n_wrong.sum(), 1)),
    )


def _joined(values: Sequence[Sequence[float]]) -> Floats:
    return np.concatenate([np.asarray(part) for part in values])


def to_markdown(judgement: Judgement) -> list[str]:
    """The figures as lines of Markdown: a table of all, and the reliability of arcs and labels bin by bin, that of arcs
    also as a plot."""
    kinds = (("arcs", judgement.arcs), ("labels", judgement.labels), ("trees", judgement.trees))
    lines = ["| | number | right % | mean confidence % | ECE |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {name} | {r.count:,} | {100 * r.accuracy:.2f} | {100 * r.confidence:.2f} | {r.ece:.4f} |"
        for name, r in kinds
    ]
    lines += ["", "Of all wrong heads, the tenth of the sentences with the lowest tree confidence has "]
    lines[-1] += f"{100 * judgement.least_sure_errors:.1f} %."
    lines += ["", "| bin | arcs: confidence % | right % | labels: confidence % | right % | arcs: right █, sure ┃ |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for number, (arc, label) in enumerate(zip(judgement.arcs.bins, judgement.labels.bins, strict=True), 1):
        shares = (arc.confidence, arc.accuracy, label.confidence, label.accuracy)
        figures = " | ".join(f"{100 * share:.1f}" for share in shares)
        lines.append(f"| {number} | {figures} | `{_bar(arc.accuracy, arc.confidence)}` |")
    return lines


def _bar(share: float, mark: float) -> str:
    """A bar as long as a share, with a mark."""
    cells = ["█" if (place + 0.5) / BAR_WIDTH <= share else "·" for place in range(BAR_WIDTH)]
    cells[min(int(mark * BAR_WIDTH), BAR_WIDTH - 1)] = "┃"
    return "".join(cells)
