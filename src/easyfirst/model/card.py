"""The card of a model (its ``README.md``): what it is, what it learned from, how well it parses, how to use it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath

from easyfirst.model.config import Config
from easyfirst.treebank.scores import Scores

NO_LICENCE = "not stated: ask whoever trained it"

_CONVENTIONS = {
    "ud": "UD: all words, relation subtypes ignored (as the CoNLL 2018 scorer)",
    "conllx": "CoNLL-X: without punctuation, full relations (as the paper)",
    "full": "all words, full relations (selects the model)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts:
    """One file the model was trained or chosen with; the card names it without its directory."""

    use: str  # "training", "development", "word vectors"
    file: str
    sentences: int | None = None
    words: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """Everything a card tells."""

    name: str
    date: datetime.date
    easyfirst_version: str
    config: Config
    data: Sequence[DataFacts]
    scores: Scores | None = None  # on the development data
    best_epoch: int | None = None
    licence: str | None = None


def write_card(facts: CardFacts) -> str:
    """The card as Markdown."""
    sections = (
        [f"# {_inline(facts.name)}", "", _summary(facts.config)],
        [f"- Trained: {facts.date.isoformat()}, with easyfirst {facts.easyfirst_version}"],
        [f"- Licence: {_inline(facts.licence or NO_LICENCE)}"],
        ["", "## Data", "", *_data(facts.data)],
        ["", "## Scores", "", *_scores(facts.scores, facts.best_epoch)],
        ["", "## Use", "", "```", *_commands(facts.name), "```"],
        ["", "## Network", "", *_settings(asdict(facts.config.network).items())],
        ["", "## Training", "", *_settings(asdict(facts.config.training).items())],
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def with_section(card: str, title: str, lines: Sequence[str], *, before: str) -> str:
    """A card with a section of this title, in the place of one that was there, else before another, else at the end."""
    sections = re.split(r"^(?=## )", card, flags=re.MULTILINE)
    titles = [section.partition("\n")[0] for section in sections]
    place = next((titles.index(f"## {name}") for name in (title, before) if f"## {name}" in titles), len(sections))
    begin, end = "".join(sections[:place]), "".join(sections[place + (f"## {title}" in titles) :])
    begin = begin if begin.endswith("\n\n") else begin.rstrip("\n") + "\n\n"
    return begin + "\n".join([f"## {title}", "", *lines]) + (f"\n\n{end}" if end else "\n")


def _summary(config: Config) -> str:
    tags = {"none": "no tags", "upos": "UPOS tags", "xpos": "XPOS tags", "both": "UPOS and XPOS tags"}
    return (
        "A dependency parser for easyfirst: easy-first, bottom-up parsing with "
        "hierarchical tree LSTMs\n(Kiperwasser & Goldberg, TACL 2016). "
        f"It reads words and {tags[config.network.tags]}; preset `{config.preset}`.\n"
    )


def _data(data: Iterable[DataFacts]) -> list[str]:
    rows = [
        (
            part.use,
            f"`{_inline(PurePath(part.file).name)}`",
            "" if part.sentences is None else f"{part.sentences:,}",
            f"{part.words:,}",
            _inline(part.note),
        )
        for part in data
    ]
    return _table(("Use", "File", "Sentences", "Words", "Note"), rows)


def _scores(scores: Scores | None, best_epoch: int | None) -> list[str]:
    if scores is None:
        return ["Not measured: there was no development data."]
    rows = [
        (label, f"{attachment.uas:.2f}", f"{attachment.las:.2f}", f"{attachment.words:,}")
        for label, attachment in zip(_CONVENTIONS.values(), (scores.ud, scores.conllx, scores.full), strict=True)
    ]
    epoch = "" if best_epoch is None else f", after epoch {best_epoch}"
    return [
        f"In per cent, on the development data{epoch}. The model was chosen on the same data.",
        "",
        *_table(("Convention", "UAS", "LAS", "Words"), rows),
    ]


def _commands(name: str) -> list[str]:
    model = f'"{name}"' if " " in name else name
    return [
        f"easyfirst parse --model {model} input.conllu -o output.conllu",
        f"easyfirst evaluate gold.conllu --model {model}",
        f"easyfirst info {model}",
    ]


def _settings(settings: Iterable[tuple[str, object]]) -> list[str]:
    return _table(("Setting", "Value"), [(f"`{name}`", str(value)) for name, value in settings])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _inline(text: str) -> str:
    """Text on one line that breaks no table."""
    return " ".join(text.split()).replace("|", "\\|")
