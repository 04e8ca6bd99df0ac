"""Derivations for the terminal: a line for each step and, below it, the pending list around the pair, and notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from easyfirst.render.bands import per_cent
from easyfirst.render.terminal import cut, pad, visible

AROUND = 4  # words of the pending list shown on either side of the pair


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of a derivation. Words are numbered from 1."""

    head: int
    modifier: int
    relation: str
    numbers: Sequence[float] = ()  # scores, one for each of the titles given to :func:`draw_steps`
    confidence: float | None = None
    pending: Sequence[int] = ()  # the pending list before the step
    notes: Sequence[str] = ()


def draw_steps(
    forms: Sequence[str], rows: Sequence[StepRow], titles: Sequence[str] = (), *, width: int | None = None
) -> str:
    """Return a table of the steps, in lines of at most ``width`` columns.

    >>> rows = [StepRow(2, 1, "det", [5.5]), StepRow(3, 2, "nsubj", [4])]
    >>> print(draw_steps(["The", "fox", "jumps"], rows, ["score"]))
    step  modifier  relation  head     score
       1  The 1     det       fox 2     5.50
       2  fox 2     nsubj     jumps 3   4.00
    """
    has_confidence = any(row.confidence is not None for row in rows)
    heads = ["step", "modifier", "relation", "head", *titles, *["confidence"] * has_confidence]
    table = [heads, *(_cells(forms, number, row, has_confidence) for number, row in enumerate(rows, 1))]
    columns = [
        pad(list(cells), right=title in ("step", "confidence", *titles))
        for title, cells in zip(heads, zip(*table, strict=True), strict=True)
    ]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    drawn = [lines[0]]
    for line, row in zip(lines[1:], rows, strict=True):
        drawn.append(line)
        if row.pending:
            drawn.append(f"      {_pending(forms, row)}")
        drawn += [f"        {visible(note)}" for note in row.notes]
    return "\n".join(cut(line, width) for line in drawn)


def _cells(forms: Sequence[str], number: int, row: StepRow, has_confidence: bool) -> list[str]:
    named = [f"{visible(forms[word - 1])} {word}" for word in (row.modifier, row.head)]
    numbers = [f"{value:.2f}" if math.isfinite(value) else "-" for value in row.numbers]
    percentage = "" if row.confidence is None else per_cent(row.confidence)
    return [str(number), named[0], visible(row.relation), named[1], *numbers, *[percentage] * has_confidence]


def _pending(forms: Sequence[str], row: StepRow) -> str:
    """Return the words around the pair, which is in brackets."""
    first = min(row.pending.index(row.head), row.pending.index(row.modifier))
    begin, end = max(first - AROUND, 0), first + 2 + AROUND
    shown = [visible(forms[word - 1]) for word in row.pending]
    pair = f"[{shown[first]} {shown[first + 1]}]"
    words = [*shown[begin:first], pair, *shown[first + 2 : end]]
    return " ".join(["…"] * (begin > 0) + words + ["…"] * (end < len(shown)))
