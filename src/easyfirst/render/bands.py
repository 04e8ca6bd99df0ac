"""How sure an arc is, in five bands, each with a colour for a light and one for a dark background.

The colours go from red to blue, which eyes that confuse red and green tell apart as well. Colour never stands alone:
an arc under one half is dashed, and pictures name the number.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """A range of confidence, from ``least`` on, and how it looks."""

    name: str
    least: float
    light: str
    dark: str
    terminal: int  # of the 256 colours
    label: str


BANDS = (
    Band("c0", 0.0, "#b2182b", "#ff8a80", 203, "under 50 %"),
    Band("c1", 0.5, "#b35806", "#ffb74d", 215, "50 %"),
    Band("c2", 0.75, "#7b5a7d", "#d9b3dd", 182, "75 %"),
    Band("c3", 0.9, "#2166ac", "#90caf9", 117, "90 %"),
    Band("c4", 0.98, "#053061", "#4dc3ff", 75, "98 % and more"),
)


def band_of(confidence: float) -> Band:
    return next(band for band in reversed(BANDS) if confidence >= band.least)


def per_cent(confidence: float) -> str:
    """In whole per cent, but never 100 % for what is not certain, nor 0 % for what is possible."""
    rounded = min(max(round(100 * confidence), 0 if confidence == 0 else 1), 100 if confidence == 1 else 99)
    return f"{rounded} %"
