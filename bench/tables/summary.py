"""What several seeds say together: mean and spread, and whether two rows differ by more than the spread.

The spread of a row is the largest score of its seeds minus the smallest. A difference between two rows that is not
larger than the spread is called a tie. Where one of the rows has fewer than three seeds, the largest spread of all rows
of the language counts too, because two seeds may be close by chance; if there is none, nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from experiments import DeclarationError, Plan, Row, Table
from results import Line

SCORES = ("UAS", "LAS")
ENOUGH_SEEDS = 3
"""For a row's spread to stand alone."""


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


def lines_of(plan: Plan, table: Table, row: Row, language: str, recorded: dict[str, Line]) -> list[Line]:
    """What is recorded of a row's seeds. Only trainings with the same settings and on the same data have a mean."""
    lines = [recorded[run.key] for run in plan.runs_of(table, row, language) if run.key in recorded]
    for line in lines[1:]:
        parts = [*((line["config"][part], lines[0]["config"][part]) for part in ("network", "training"))]
        for ours, theirs in [*parts, (line["data"], lines[0]["data"])]:
            if different := [name for name in {*ours} & {*theirs} if ours[name] != theirs[name]]:
                names = ", ".join(sorted(different))
                raise DeclarationError(f"{table.id}.{row.id}: its seeds differ in {names}, as recorded")
    return lines


def largest_spread(
    plan: Plan, recorded: dict[str, Line], language: str, part: str, name: str, *, predicted_tags: bool
) -> float | None:
    """Of all rows of a language that have several seeds, and tags of the same kind, in the convention of the paper."""
    spreads: list[float] = []
    for table in plan.tables:
        for row in table.rows:
            if row.predicted_tags != predicted_tags:
                continue
            found = score(lines_of(plan, table, row, language, recorded), part, "conllx", name)
            if found is not None and found.n > 1:
                spreads.append(found.spread)
    return max(spreads, default=None)


def verdict(one: Score, other: Score, fallback: float | None) -> str:
    """What may be said of the difference."""
    spreads = [each.spread for each in (one, other) if each.n > 1]
    if min(one.n, other.n) < ENOUGH_SEEDS and fallback is not None:
        spreads.append(fallback)
    if not spreads:
        return "one seed: spread not known"
    spread = max(spreads)
    if abs(one.mean - other.mean) <= spread:
        return f"tie (spread {spread:.2f})"
    return f"differ (spread {spread:.2f})"
