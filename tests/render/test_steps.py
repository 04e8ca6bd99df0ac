"""The table of steps: its lines, its columns, and what it leaves out."""

from __future__ import annotations

import math

from easyfirst.render.steps import StepRow, draw_steps
from easyfirst.render.terminal import display_width


def test_pending_list_and_notes() -> None:
    forms = [f"w{m}" for m in range(1, 13)]
    row = StepRow(7, 6, "det", (1, math.inf), 0.994, pending=tuple(range(1, 13)), notes=("a\tb", "c"))
    assert draw_steps(forms, [row], ("score", "margin")).splitlines() == [
        "step  modifier  relation  head  score  margin  confidence",
        "   1  w6 6      det       w7 7   1.00       -        99 %",
        "      … w2 w3 w4 w5 [w6 w7] w8 w9 w10 w11 …",
        "        a␣b",
        "        c",
    ]


def test_no_steps() -> None:
    assert draw_steps(["Yes"], []) == "step  modifier  relation  head"


def test_wide_characters_and_narrow_terminals() -> None:
    forms = ["日本語", "the", "\u202e"]
    rows = [StepRow(2, 1, "compound", pending=(1, 2, 3)), StepRow(2, 3, "punct", pending=(2, 3))]
    lines = draw_steps(forms, rows).splitlines()
    assert display_width(lines[1][: lines[1].index("compound")]) == display_width(lines[3][: lines[3].index("punct")])
    assert "\u202e" not in "".join(lines)
    assert all(display_width(line) <= 24 for line in draw_steps(forms, rows, width=24).splitlines())
