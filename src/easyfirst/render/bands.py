"""Five bands of confidence, each with a colour for light and for dark backgrounds.

The colours run from red to blue, which colour-blind readers can tell apart. Colour is never the only sign: arcs under
50 % are dashed, and pictures also give the number.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """A range of confidence that starts at ``least``, and its colours."""

    name: str
    least: float
    light: str
    dark: str
    terminal: int  # one of the 256 colours
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
    """Round to whole per cent, but to 100 % only if ``confidence`` is 1, and to 0 % only if it is 0."""
    rounded = min(max(round(100 * confidence), 0 if confidence == 0 else 1), 100 if confidence == 1 else 99)
    return f"{rounded} %"
