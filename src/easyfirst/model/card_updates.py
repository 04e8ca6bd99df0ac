"""Changes of a model's card after training: its calibration, and the card of a package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from easyfirst.confidence.calibration import Calibration, FittedOn
from easyfirst.confidence.fitting import N_FOLDS
from easyfirst.confidence.reliability import ReliabilityReport, to_markdown
from easyfirst.model.calibration_store import write_calibration
from easyfirst.model.card import commands_for, with_fact, with_section, with_title
from easyfirst.model.directory import CARD, WEIGHTS, read_file
from easyfirst.model.transaction import replacing
from easyfirst.model.weight_files import stored_checksum

SECTION = "Confidence"


def store_calibration(directory: Path, calibration: Calibration, reliability: ReliabilityReport | None) -> None:
    """Write a calibration into a model's directory, and its figures into the model's card."""
    with replacing(directory) as changes:
        write_calibration(changes, calibration, stored_checksum(directory / WEIGHTS))
        card = directory / CARD
        if card.is_file():
            text = read_file(card).decode(errors="replace")
            changes.write(CARD, with_reliability(text, calibration, reliability).encode())


def with_reliability(card: str, calibration: Calibration, reliability: ReliabilityReport | None) -> str:
    """Set the section of a card on a calibration."""
    return with_section(card, SECTION, _section(calibration.fitted_on, reliability), before="Use")


def packaged_card(card: str, name: str, package: str, *, licence: str | None, languages: Sequence[str]) -> str:
    """Return the card of a model as the description of its package: under another name, with its licence and languages,
    and with commands that use it."""
    card = with_title(card, package)
    for fact, value in (("Licence", licence), ("Languages", ", ".join(languages))):
        card = with_fact(card, fact, value) if value else card
    return with_section(card, "Use", ["```", f"pip install {package}", *commands_for(name), "```"], before="Network")


def _section(facts: FittedOn, reliability: ReliabilityReport | None) -> list[str]:
    """Return the lines of the card's section on confidence."""
    lines = [
        f"Fitted on `{facts.file}` ({facts.sentences:,} sentences, {facts.words:,} words, tags {facts.tags}) with the",
        "weights of this directory. A label is right if head and relation are, a tree if all its labels are.",
    ]
    if reliability is None:
        return [*lines, "There were too few sentences to judge it."]
    return [
        *lines,
        f"The figures are of the same sentences, each judged by a fit on the others ({N_FOLDS} parts). If these",
        "sentences also chose the epoch, the parser is a little better on them than elsewhere.",
        "ECE: expected calibration error, 15 bins of equal size.",
        "",
        *to_markdown(reliability),
    ]
