"""The reliability of probabilities.

- *Expected calibration error* (ECE): answers are sorted by probability into 15 bins of equal size. The error is the
  mean of |mean probability - accuracy| over the bins, weighted by their sizes.
- *Calibration by relation*: the same for the words of each relation that the parser chose often enough. Their bins have
  100 answers or more, so that there may be fewer than 15, because the accuracy of a few answers says little. For the
  same reason an error remains if all probabilities are exact; it is reported beside what was found.
- *Risk and coverage*: the error rate of the most confident answers, for several shares of all answers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from easyfirst.confidence.estimates import Confidence
from easyfirst.nn.arrays import Bools, Floats

N_BINS = 15
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
LEAST_CONFIDENT = 0.1
"""The share of the sentences that ``least_sure_errors`` is about."""
BAR_WIDTH = 40
LEAST_CASES = 100
"""The fewest words of a relation that is reported, and the fewest answers of its bins."""


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
        bins = _bins(p, right, N_BINS)
        kept = [(share, max(round(share * len(p)), 1)) for share in COVERAGES]
        return cls(
            count=len(p),
            confidence=float(p.mean()),
            accuracy=float(right.mean()),
            ece=_error(bins),
            bins=bins,
            risks=tuple((share, 1 - float(right[-n:].mean())) for share, n in kept),
        )


def _bins(p: Floats, right: Floats, n: int) -> tuple[Bin, ...]:
    """Return bins of equal size, at most n of them, of sorted probabilities."""
    parts = [part for part in np.array_split(np.arange(len(p)), n) if len(part)]
    return tuple(Bin(len(part), float(p[part].mean()), float(right[part].mean())) for part in parts)


def _error(bins: Sequence[Bin]) -> float:
    return sum(b.count * abs(b.confidence - b.accuracy) for b in bins) / sum(b.count for b in bins)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How well the probabilities of one relation are calibrated."""

    confidence: float
    accuracy: float
    ece: float
    by_chance: float
    """The error to expect if every probability were exact."""

    @classmethod
    def of(cls, probabilities: Floats, is_right: Bools) -> Calibrated:
        """Measure the calibration of at least ``LEAST_CASES`` answers."""
        order = np.argsort(probabilities, kind="stable")
        p, right = probabilities[order], is_right[order].astype(np.float64)
        n_bins = min(len(p) // LEAST_CASES, N_BINS)
        # the mean distance of a normal variable from its mean is sqrt(2 / pi) times its standard deviation
        deviations = [math.sqrt(2 / math.pi * float((part * (1 - part)).sum())) for part in np.array_split(p, n_bins)]
        error = _error(_bins(p, right, n_bins))
        return cls(float(p.mean()), float(right.mean()), error, sum(deviations) / len(p))


@dataclass(frozen=True, slots=True)
class RelationReliability:
    """The reliability for the words that the parser gave one relation."""

    relation: str
    count: int
    arcs: Calibrated
    labels: Calibrated


@dataclass(frozen=True, slots=True)
class ReliabilityReport:
    """The reliability of a parser's confidence on some sentences."""

    arcs: Reliability
    labels: Reliability
    trees: Reliability
    least_sure_errors: float
    """The share of all wrong heads that are in the tenth of the sentences with the lowest tree confidence."""
    relations: tuple[RelationReliability, ...]
    """The calibration of each relation with ``LEAST_CASES`` words or more, the most frequent first."""

    @classmethod
    def of(
        cls,
        confidences: Sequence[Confidence],
        heads_right: Sequence[Bools],
        labels_right: Sequence[Bools],
        relations: Sequence[Sequence[str]],
    ) -> ReliabilityReport:
        """Compare the confidence of each sentence with the heads and labels that are correct. ``relations``: those that
        the parser chose."""
        arcs = np.concatenate([c.arcs for c in confidences]), np.concatenate(heads_right)
        labels = np.concatenate([c.labels for c in confidences]), np.concatenate(labels_right)
        trees = np.array([confidence.tree for confidence in confidences])
        n_wrong = np.array([np.count_nonzero(~right) for right in heads_right])
        least = np.argsort(trees, kind="stable")[: max(round(LEAST_CONFIDENT * len(trees)), 1)]
        return cls(
            arcs=Reliability.of(*arcs),
            labels=Reliability.of(*labels),
            trees=Reliability.of(trees, np.array([bool(right.all()) for right in labels_right])),
            least_sure_errors=float(n_wrong[least].sum() / max(n_wrong.sum(), 1)),
            relations=tuple(_by_relation(arcs, labels, np.concatenate(relations))),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def _by_relation(
    arcs: tuple[Floats, Bools], labels: tuple[Floats, Bools], names: npt.NDArray[np.str_]
) -> Iterator[RelationReliability]:
    all_names: list[str] = names.tolist()
    for name, count in Counter(all_names).most_common():
        if count >= LEAST_CASES:
            here = names == name
            of_arcs, of_labels = (Calibrated.of(p[here], right[here]) for p, right in (arcs, labels))
            yield RelationReliability(name, count, of_arcs, of_labels)


def relation_rows(report: ReliabilityReport) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table of all relations that are reported."""
    header = ["relation", "number", "arcs: right %", "mean confidence %", "ECE", "ECE by chance"]
    header += ["labels: right %", "mean confidence %", "ECE", "ECE by chance"]
    rows = [
        [each.relation, f"{each.count:,}", *_figures(each.arcs), *_figures(each.labels)] for each in report.relations
    ]
    return header, rows


def _figures(found: Calibrated) -> list[str]:
    shares = [f"{100 * share:.1f}" for share in (found.accuracy, found.confidence)]
    return [*shares, f"{found.ece:.3f}", f"{found.by_chance:.3f}"]


def to_markdown(report: ReliabilityReport) -> list[str]:
    """Return lines of Markdown: a table of all figures, the bins of arcs (also as a plot) and labels, and a table of
    relations."""
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
    if report.relations:
        header, rows = relation_rows(report)
        lines += ["", f"Relations that were chosen for {LEAST_CASES} words or more, in bins of at least as many words."]
        lines += ["By chance: the ECE to expect if all probabilities were exact.", ""]
        lines += [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]
    return lines


def _bar(share: float, mark: float) -> str:
    """Draw a bar of the length ``share`` with a mark."""
    cells = ["█" if (place + 0.5) / BAR_WIDTH <= share else "·" for place in range(BAR_WIDTH)]
    cells[min(int(mark * BAR_WIDTH), BAR_WIDTH - 1)] = "┃"
    return "".join(cells)
