"""Changes of a model's card after training: calibration, scores, and the card of a package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from easyfirst.confidence.calibration import Calibration, FittedOn
from easyfirst.confidence.fitting import N_FOLDS
from easyfirst.confidence.reliability import ReliabilityReport, to_markdown
from easyfirst.model.calibration_store import save_calibration
from easyfirst.model.card import commands_for, with_fact, with_scores, with_section, with_title
from easyfirst.model.directory import CARD, replace_file
from easyfirst.treebank.scores import Scores

SECTION = "Confidence"


def store_calibration(directory: Path, calibration: Calibration, reliability: ReliabilityReport | None) -> None:
    """Write a calibration into a model's directory, and its figures into the model's card."""
    save_calibration(directory, calibration)
    card = directory / CARD
    if card.is_file():
        text = card.read_bytes().decode(errors="replace")
        section = _section(calibration.fitted_on, reliability)
        replace_file(card, with_section(text, SECTION, section, before="Use").encode())


def store_scores(directory: Path, scores: Scores, data: str) -> None:
    """Write scores, measured on this data, into a model's card."""
    card = (directory / CARD).read_text(encoding="utf-8")
    replace_file(directory / CARD, with_scores(card, scores, data).encode())


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
