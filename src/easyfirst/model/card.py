"""The card of a model (its ``README.md``): what it is, what it learned from, how well it parses, how to use it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath

from easyfirst.model.parser_config import ParserConfig
from easyfirst.treebank.scores import Scores

NO_LICENCE = "not stated: ask whoever trained it"

_SCORES = re.compile(r"^\| ([^|]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9,]+) \|$", re.MULTILINE)
"""A line of the table of scores: convention, UAS, LAS, words."""
_LICENCE = re.compile(r"^- Licence: (.+)$", re.MULTILINE)
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
    config: ParserConfig
    data: Sequence[DataFacts]
    scores: Scores | None = None  # on the development data
    best_epoch: int | None = None
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """What is to be said of a parser that became a part of another one."""

    name: str
    members: int
    """How many networks it has itself."""
    seed: int
    card: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedFacts:
    """Everything that the card of parsers put together tells."""

    date: datetime.date
    easyfirst_version: str
    config: ParserConfig
    members: Sequence[MemberFacts]


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


def combined_card(facts: CombinedFacts) -> str:
    """The card of parsers put together; what it does not know itself, it takes from that of the first."""
    n_members, first = facts.config.members, facts.members[0]
    rows = [
        (f"`{_inline(member.name)}`", str(member.members), str(member.seed), *_full_scores(member.card))
        for member in facts.members
    ]
    licences = dict.fromkeys(licence_in(member.card) or NO_LICENCE for member in facts.members)
    sections = (
        [f"# {_inline(' + '.join(member.name for member in facts.members))}", "", _summary(facts.config)],
        [f"{n_members} networks of the same kind, its members, of which each has learnt alone, parse together: the"],
        ["score of an action is the mean of theirs.", ""],
        [f"- Put together: {facts.date.isoformat()}, with easyfirst {facts.easyfirst_version}"],
        [f"- Licence: {'; '.join(licences)}"],
        ["", "## Members", "", "Each by itself; in per cent, on the development data, all words, full relations.", ""],
        [*_table(("Model", "Networks", "Seed", "UAS", "LAS"), rows)],
        *(["", f"## {title}", "", *lines] for title, lines in _kept_sections(first.card)),
        ["", "## Scores", "", "Not measured; `easyfirst evaluate` tells them."],
        ["", "## Use", "", "```", *_commands("DIRECTORY"), "```"],
        ["", "## Network", "", "Of each member.", "", *_settings(asdict(facts.config.network).items())],
        ["", "## Training", "", "Of the first member.", "", *_settings(asdict(facts.config.training).items())],
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def _kept_sections(card: str) -> Iterator[tuple[str, list[str]]]:
    """What a card says that is also true of parsers put together: all but what they say of themselves, and scores."""
    _, *sections = re.split(r"^## ", re.sub(r"<!--.*?-->\n?", "", card, flags=re.DOTALL), flags=re.MULTILINE)
    for section in sections:
        title, _, text = section.partition("\n")
        if title not in ("Members", "Confidence", "Use", "Network", "Training") and "Scores" not in title:
            yield title, text.strip().splitlines()


def _full_scores(card: str) -> tuple[str, str]:
    """UAS and LAS by which a model is selected, if the card tells them."""
    for convention, uas, las, _ in scores_in(card):
        if convention == _CONVENTIONS["full"]:
            return f"{uas:.2f}", f"{las:.2f}"
    return "", ""


def with_scores(card: str, scores: Scores, data: str) -> str:
    """A card that tells these scores, on this data."""
    lines = [f"In per cent, on {_inline(data)}.", "", *_score_table(scores)]
    return with_section(card, "Scores", lines, before="Use")


def scores_in(card: str) -> list[tuple[str, float, float, int]]:
    """The scores that a card tells: convention, UAS, LAS, words."""
    return [
        (convention, float(uas), float(las), int(words.replace(",", "")))
        for convention, uas, las, words in _SCORES.findall(card)
    ]


def licence_in(card: str) -> str | None:
    """The licence that a card states."""
    found = _LICENCE.search(card)
    return found[1] if found else None


def _summary(config: ParserConfig) -> str:
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
    epoch = "" if best_epoch is None else f", after epoch {best_epoch}"
    return [
        f"In per cent, on the development data{epoch}. The model was chosen on the same data.",
        "",
        *_score_table(scores),
    ]


def _score_table(scores: Scores) -> list[str]:
    rows = [
        (label, f"{attachment.uas:.2f}", f"{attachment.las:.2f}", f"{attachment.words:,}")
        for label, attachment in zip(_CONVENTIONS.values(), (scores.ud, scores.conllx, scores.full), strict=True)
    ]
    return _table(("Convention", "UAS", "LAS", "Words"), rows)


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
