"""Summarise several seeds: mean and spread, and whether two rows differ by more than the spread.

The spread of a row is the largest score of its seeds minus the smallest. Two rows whose difference does not exceed the
spread are tied. If one of the rows has fewer than three seeds, the largest spread of all rows of the language counts
too, because two seeds may be close by chance. If there is no spread at all, there is no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.tables.declarations import DeclarationError
from bench.tables.experiments import Plan, Row, Table
from bench.tables.records import Line

SCORES = ("UAS", "LAS")
ENOUGH_SEEDS = 3
"""The number of seeds from which a row's own spread is enough."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score over seeds, in per cent."""

    mean: float
    spread: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Score:
        """Summarise the scores of one or more seeds."""
        return cls(fmean(values), max(values) - min(values), len(values))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.n == 1 else f"{self.mean:.2f} [{self.spread:.2f}]"


def score(lines: Sequence[Line], part: str, convention: str, name: str) -> Score | None:
    """Summarise the runs of a row on ``part``, dev or test."""
    values = [line[part][convention][name] for line in lines if line.get(part)]
    return Score.of(values) if values else None


def lines_of(plan: Plan, table: Table, row: Row, language: str, recorded: dict[str, Line]) -> list[Line]:
    """Return the recorded results of a row's seeds, which must have the same settings and the same data."""
    lines = [recorded[run.key] for run in plan.runs_of(table, row, language) if run.key in recorded]
    for line in lines[1:]:
        parts = [*((line["config"][part], lines[0]["config"][part]) for part in ("network", "training"))]
        for ours, theirs in [*parts, (line["data"], lines[0]["data"])]:
            if different := [name for name in {*ours} & {*theirs} if ours[name] != theirs[name]]:
                names = ", ".join(sorted(different))
                raise DeclarationError(f"{table.id}.{row.id}: the recorded seeds differ in {names}")
    return lines


def largest_spread(
    plan: Plan, recorded: dict[str, Line], language: str, part: str, name: str, *, predicted_tags: bool
) -> float | None:
    """Return the largest spread (CoNLL-X convention) of all rows of a language with the given kind of tags."""
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
    """Return "tie" or "differ" with the spread that decides; ``fallback`` is the largest spread of the language."""
    spreads = [each.spread for each in (one, other) if each.n > 1]
    if min(one.n, other.n) < ENOUGH_SEEDS and fallback is not None:
        spreads.append(fallback)
    if not spreads:
        return "one seed: spread not known"
    spread = max(spreads)
    if abs(one.mean - other.mean) <= spread:
        return f"tie (spread {spread:.2f})"
    return f"differ (spread {spread:.2f})"
