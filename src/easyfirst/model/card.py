"""Model cards (``README.md``): what a model is, its data, its scores, how to use it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.part import installed_version
from easyfirst.treebank.columns import column_names
from easyfirst.treebank.scores import Scores

if TYPE_CHECKING:
    from easyfirst.model.parser_store import ParserModel

NO_LICENCE = "not stated (set it with --licence)"

_SCORES = re.compile(r"^\| ([^|]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9,]+) \|$", re.MULTILINE)
"""A row of the table of scores: convention, UAS, LAS, words."""
_LICENCE = re.compile(r"^- Licence: (.+)$", re.MULTILINE)
_LANGUAGES = re.compile(r"^- Languages?: (.+)$", re.MULTILINE)
_TREEBANK = re.compile(r"^\| training \|.*?`([a-z]{2,3})(?:_[a-z0-9]+)?-ud-", re.MULTILINE)
"""A training file with a name of Universal Dependencies, which begins with the code of the language."""
_CONVENTIONS = {
    "ud": "UD: all words, relation subtypes ignored (as the CoNLL 2018 scorer)",
    "conllx": "CoNLL-X: without punctuation, full relations (as the paper)",
    "full": "all words, full relations (selects the model)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts:
    """A file used to train or select the model; the card names it without its directory."""

    use: str  # "training", "development", "word vectors"
    file: str
    sentences: int | None = None
    words: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """The contents of a card."""

    name: str
    date: datetime.date
    easyfirst_version: str
    config: ParserConfig
    data: Sequence[DataFacts]
    scores: Scores | None = None  # on the development data
    best_epoch: int | None = None
    licence: str | None = None
    encoder: str | None = None  # the pretrained encoder, with its licence


def write_card(facts: CardFacts) -> str:
    """Return the card as Markdown."""
    sections = (
        [f"# {_inline(facts.name)}", "", _summary(facts.config)],
        [f"- Trained: {facts.date.isoformat()}, with easyfirst {facts.easyfirst_version}"],
        [f"- Licence: {_inline(facts.licence or NO_LICENCE)}"],
        [] if facts.encoder is None else [f"- Pretrained encoder: {_inline(facts.encoder)}"],
        _section("Data", _data(facts.data)),
        _section("Scores", _scores(facts.scores, facts.best_epoch)),
        _section("Use", ["```", *commands_for(facts.name), "```"]),
        _section("Network", _settings(asdict(facts.config.network))),
        _section("Training", _settings(asdict(facts.config.training))),
        [] if (tuning := facts.config.encoder) is None else _section("Encoder", _settings(asdict(tuning))),
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def with_section(card: str, title: str, lines: Sequence[str], *, before: str) -> str:
    """Replace the section of this title, or insert it before another section, or append it."""
    sections = re.split(r"^(?=## )", card, flags=re.MULTILINE)
    titles = [section.partition("\n")[0] for section in sections]
    place = next((titles.index(f"## {name}") for name in (title, before) if f"## {name}" in titles), len(sections))
    begin, end = "".join(sections[:place]), "".join(sections[place + (f"## {title}" in titles) :])
    begin = begin if begin.endswith("\n\n") else begin.rstrip("\n") + "\n\n"
    return begin + "\n".join([f"## {title}", "", *lines]) + (f"\n\n{end}" if end else "\n")


def ensemble_card(config: ParserConfig, names: Sequence[str], models: Sequence[ParserModel]) -> str:
    """Return the card of an ensemble. Sections about the data and the like are copied from the first model's card."""
    n_members = config.members
    rows = [
        (f"`{_inline(name)}`", str(model.config.members), str(model.config.training.seed), *_full_scores(model.card))
        for name, model in zip(names, models, strict=True)
    ]
    licences = dict.fromkeys(licence_in(model.card) or NO_LICENCE for model in models)
    sections = (
        [f"# {_inline(' + '.join(names))}", "", _summary(config)],
        [f"An ensemble of {n_members} networks with the same architecture, trained with different seeds. The score of"],
        ["an action is the mean of the members' scores.", ""],
        [f"- Combined: {datetime.date.today().isoformat()}, with easyfirst {installed_version()}"],
        [f"- Licence: {'; '.join(licences)}"],
        _section("Members", ["Each model alone, in per cent, on the development data, all words, full relations.", ""]),
        _table(("Model", "Networks", "Seed", "UAS", "LAS"), rows),
        *(_section(title, lines) for title, lines in _inherited_sections(models[0].card)),
        _section("Scores", ["Not measured; run `easyfirst evaluate`."]),
        _section("Use", ["```", *commands_for("DIRECTORY"), "```"]),
        _section("Network", ["The settings of every member.", "", *_settings(asdict(config.network))]),
        _section("Training", ["The settings of the first member.", "", *_settings(asdict(config.training))]),
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def _inherited_sections(card: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections of a member's card that hold for the ensemble: all but scores and those it writes itself."""
    _, *sections = re.split(r"^## ", re.sub(r"<!--.*?-->\n?", "", card, flags=re.DOTALL), flags=re.MULTILINE)
    for section in sections:
        title, _, text = section.partition("\n")
        if title not in ("Members", "Confidence", "Use", "Network", "Training") and "Scores" not in title:
            yield title, text.strip().splitlines()


def _full_scores(card: str) -> tuple[str, str]:
    """Return the UAS and LAS that selected the model, or empty strings if the card has none."""
    found = [(uas, las) for convention, uas, las, _ in scores_in(card) if convention == _CONVENTIONS["full"]]
    return (f"{found[0][0]:.2f}", f"{found[0][1]:.2f}") if found else ("", "")


def with_scores(card: str, scores: Scores, data: str) -> str:
    """Set the scores of a card, measured on this data."""
    lines = [f"In per cent, on {_inline(data)}.", "", *_score_table(scores)]
    return with_section(card, "Scores", lines, before="Use")


def scores_in(card: str) -> list[tuple[str, float, float, int]]:
    """Return the scores in a card: convention, UAS, LAS, words."""
    rows = _SCORES.findall(card)
    return [(name, float(uas), float(las), int(words.replace(",", ""))) for name, uas, las, words in rows]


def licence_in(card: str) -> str | None:
    """Return the licence in a card."""
    found = _LICENCE.search(card)
    return found[1].strip() if found else None


def languages_in(card: str) -> tuple[str, ...]:
    """Return the languages in a card, or else those in the names of the training files."""
    found = _LANGUAGES.search(card)
    names = found[1].split(",") if found else _TREEBANK.findall(card)
    return tuple(dict.fromkeys(name.strip() for name in names))


def with_fact(card: str, name: str, value: str) -> str:
    """Set a line of the list at the top of a card, such as ``- Licence: MIT``."""
    line = f"- {name}: {_inline(value)}"
    head, mark, rest = card.partition("\n## ")
    pattern = re.compile(rf"^- {name}: .*$", re.MULTILINE)
    if pattern.search(head):
        head = pattern.sub(lambda _: line, head, count=1)
    else:
        separator = "\n" if re.search(r"^- .*\n*\Z", head, re.MULTILINE) else "\n\n"
        head = head.rstrip("\n") + separator + line + "\n"
    return head + mark + rest


def with_title(card: str, title: str) -> str:
    """Replace the title of a card."""
    return re.sub(r"\A(# .*\n)?\n*", lambda _: f"# {_inline(title)}\n\n", card, count=1)


def _summary(config: ParserConfig) -> str:
    *others, last = ["words", *(column_names(config.network.tag_kinds) or ["no tags"])]
    reads = f"It reads {', '.join(others)} and {last}; preset `{config.preset}`."
    return (
        "A dependency parser for easyfirst: easy-first, bottom-up parsing with hierarchical tree LSTMs\n"
        f"(Kiperwasser & Goldberg, TACL 2016). {reads}\n"
    )


def _data(data: Iterable[DataFacts]) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for part in data:
        file, sentences = _inline(PurePath(part.file).name), "" if part.sentences is None else f"{part.sentences:,}"
        rows.append((part.use, f"`{file}`", sentences, f"{part.words:,}", _inline(part.note)))
    return _table(("Use", "File", "Sentences", "Words", "Note"), rows)


def _scores(scores: Scores | None, best_epoch: int | None) -> list[str]:
    if scores is None:
        return ["Not measured: there was no development data."]
    epoch = "" if best_epoch is None else f", after epoch {best_epoch}"
    line = f"In per cent, on the development data{epoch}. The model was chosen on the same data."
    return [line, "", *_score_table(scores)]


def _score_table(scores: Scores) -> list[str]:
    rows = [
        (label, f"{attachment.uas:.2f}", f"{attachment.las:.2f}", f"{attachment.words:,}")
        for label, attachment in zip(_CONVENTIONS.values(), (scores.ud, scores.conllx, scores.full), strict=True)
    ]
    return _table(("Convention", "UAS", "LAS", "Words"), rows)


def commands_for(name: str) -> list[str]:
    """Return commands that use a model."""
    model = f'"{name}"' if " " in name else name
    return [
        f"easyfirst parse --model {model} input.conllu -o output.conllu",
        f"easyfirst evaluate gold.conllu --model {model}",
        f"easyfirst info {model}",
    ]


def _settings(settings: Mapping[str, object]) -> list[str]:
    return _table(("Setting", "Value"), [(f"`{name}`", str(value)) for name, value in settings.items()])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _inline(text: str) -> str:
    """Put text on one line and escape what would break a table."""
    return " ".join(text.split()).replace("|", "\\|")
