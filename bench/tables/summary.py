"""What several seeds say together: mean and spread, and whether two rows differ by more than the spread.

The spread of a row is the largest score of its seeds minus the smallest. A difference between two rows that is not
larger than the spread is called a tie. Where neither row has two seeds, the largest spread of the other rows of the
language stands in, and if there is none, nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from experiments import Plan
from results import Line

SCORES = ("UAS", "LAS")


@dataclass(frozen=True, slots=True)
class Score:
    """A score over seeds, in per cent."""

    mean: float
    spread: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Score:
        """Of at least one seed."""
        return cls(fmean(values), max(values) - min(values), len(values))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.n == 1 else f"{self.mean:.2f} [{self.spread:.2f}]"


def score(lines: Sequence[Line], part: str, convention: str, name: str) -> Score | None:
    """Of the runs of a row; ``part``: dev or test."""
    values = [line[part][convention][name] for line in lines if line.get(part)]
    return Score.of(values) if values else None


def largest_spread(plan: Plan, recorded: dict[str, Line], language: str, part: str, name: str) -> float | None:
    """Of all rows of a language that have several seeds, in the convention of the paper."""
    spreads: list[float] = []
    for table in plan.tables:
        for row in table.rows:
            lines = [recorded[run.key] for run in plan.runs_of(table, row, language) if run.key in recorded]
            found = score(lines, part, "conllx", name)
            if found is not None and found.n > 1:
                spreads.append(found.spread)
    return max(spreads, default=None)


def verdict(one: Score, other: Score, fallback: float | None) -> str:
    """What may be said of the difference."""
    spreads = [each.spread for each in (one, other) if each.n > 1]
    spread = max(spreads) if spreads else fallback
    if spread is None:
        return "one seed: spread not known"
    if abs(one.mean - other.mean) <= spread:
        return f"tie (spread {spread:.2f})"
    return f"differ (spread {spread:.2f})"
