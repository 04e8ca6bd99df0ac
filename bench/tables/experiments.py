"""Experiments as the TOML files of this folder declare them: tables of rows, and the training runs they need.

A row is a set of options of ``easyfirst train``; with a treebank and a seed it is a run. Rows with the same options, in
whatever tables, share a run: it is trained once. Another kind of row has the seeds of a row put together by
``easyfirst combine``: all of them are one run. A run's key comes from everything that decides its outcome but the
code, so a row whose options change asks for a new run and old results stay what they were.

Reading TOML needs Python 3.11; only these benchmarks do, not the package.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from declarations import DeclarationError, as_table, build, read_toml, tables_of
from options import VECTORS, check_options

FOLDER = Path(__file__).resolve().parent
FILES = tuple(FOLDER / name for name in ("paper.toml", "open.toml", "choices.toml", "strong.toml"))
TREEBANKS = FOLDER / "treebanks.toml"
PAPERS_LANGUAGES = ("en", "zh")
COST_TO_COMBINE = 0.1
"""As a multiple of the preset paper's training, guessed."""
COMMON = ("options", "settings", "seeds", "cost")
"""What a table may say for all its rows."""


@dataclass(frozen=True, slots=True)
class Treebank:
    """The data of a language, as paths below the folders given on the command line."""

    language: str
    name: str
    tags: str
    """In words: which tags the files have."""
    train: str
    dev: str
    test: str
    vectors: str
    licence: str
    minutes: float
    """Of the CPU for the preset paper, 20 epochs."""
    positional: str = ""
    """The same vectors with those of ``easyfirst vectors`` beside them."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of all rows on this treebank that say nothing else."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: something to train, a published result, or both."""

    id: str
    label: str
    options: Mapping[str, Any] | None = None
    """Of ``easyfirst train``, without dashes; true: a flag, false: left out. None: nothing to train."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What ``--set`` sets."""
    predicted_tags: bool = False
    """Score with tags predicted by the model's own tagger."""
    languages: Sequence[str] = ()
    seeds: Sequence[int] | Mapping[str, Sequence[int]] = (1,)
    """Of all languages, or by language."""
    cost: float = 1.0
    """CPU time, guessed, as a multiple of the preset paper's."""
    combines: str = ""
    """The id of a row of the same table, whose seeds are put together; this one has no options of its own."""
    paper: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict[str, Any])
    """Language -> dev, test -> the published UAS and LAS."""

    @property
    def is_ours(self) -> bool:
        """Whether there is something to run."""
        return self.options is not None or bool(self.combines)

    def seeds_of(self, language: str) -> Sequence[int]:
        return self.seeds.get(language, (1,)) if isinstance(self.seeds, Mapping) else self.seeds


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under one heading."""

    id: str
    title: str
    rows: Sequence[Row]
    languages: Sequence[str]
    note: str = ""
    test: bool = True
    """False: the test set is not looked at for these rows."""
    against: str = ""
    """The row that all others are compared with, on dev."""
    tags: str = ""
    """In words: which tags the rows have, if not those of the treebank."""

    def row(self, name: str) -> Row:
        """By its id."""
        for row in self.rows:
            if row.id == name:
                return row
        raise DeclarationError(f"there is no row {self.id}.{name}")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the paper found, and the pairs of rows, "table.row", that speak for or against it."""

    id: str
    claim: str
    pairs: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Reference:
    """Dev scores of another implementation after each epoch, to stand beside those of a row."""

    label: str
    row: str
    language: str
    epochs: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Run:
    """One training: options, treebank and seed; or several, put together."""

    treebank: Treebank
    options: Mapping[str, Any]
    settings: Mapping[str, Any]
    predicted_tags: bool
    seed: int
    places: tuple[str, ...]
    """The rows it stands in: "table.row.language.seed"."""
    wants_test: bool
    minutes: float
    """Of the CPU, guessed."""
    members: tuple[Run, ...] = ()
    """The trainings that are put together, whose first has the options of all; none: this is a training itself."""

    @property
    def name(self) -> str:
        return self.places[0]

    @property
    def vectors(self) -> dict[str, str]:
        """What stands for a file in the options -> the file, below the folder of the word vectors."""
        used = [value for value in self.options.values() if value in VECTORS]
        return {value: getattr(self.treebank, VECTORS[value]) for value in used}

    @property
    def family(self) -> str:
        """The same for runs that differ in the seed only."""
        return self._digest(None)

    @property
    def key(self) -> str:
        return self._digest(self.seed)

    def _digest(self, seed: int | None) -> str:
        treebank = self.treebank
        files = [treebank.name, treebank.train, treebank.dev, treebank.test, *self.vectors.values()]
        facts = [files, self.options, self.settings, self.predicted_tags, seed]
        facts += [[member.key for member in self.members]] if self.members else []
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is declared."""

    treebanks: Mapping[str, Treebank]
    tables: Sequence[Table]
    findings: Sequence[Finding]
    references: Sequence[Reference]
    files: Sequence[Path]
    """Which declare the tables."""

    @property
    def quotes_paper(self) -> bool:
        """Whether figures of the paper are to stand beside ours."""
        return any(row.paper for table in self.tables for row in table.rows)

    def row(self, place: str) -> Row:
        """By "table.row"."""
        name, _, row = place.partition(".")
        for table in self.tables:
            if table.id == name:
                return table.row(row)
        raise DeclarationError(f"there is no row {place}")

    def runs(self) -> list[Run]:
        """All that is to be trained, each once, in the order of the tables."""
        found: dict[str, Run] = {}
        for table in self.tables:
            for row in table.rows:
                for run in self.runs_of(table, row):
                    known = found.get(run.key)
                    found[run.key] = run if known is None else _merged(known, run)
        return list(found.values())

    def runs_of(self, table: Table, row: Row, language: str | None = None) -> list[Run]:
        """Those of one row, of all its languages or of one."""
        if not row.is_ours:
            return []
        languages = [name for name in row.languages if language in (None, name)]
        if row.combines:
            return [self._combined(table, row, name) for name in languages]
        return [self._run(table, row, self.treebanks[name], seed) for name in languages for seed in row.seeds_of(name)]

    def _run(self, table: Table, row: Row, treebank: Treebank, seed: int) -> Run:
        merged = {**treebank.options, **(row.options or {})}
        options = {name: value for name, value in sorted(merged.items()) if value is not False}
        return Run(
            treebank=treebank,
            options=options,
            settings=dict(sorted(row.settings.items())),
            predicted_tags=row.predicted_tags,
            seed=seed,
            places=(f"{table.id}.{row.id}.{treebank.language}.{seed}",),
            wants_test=table.test,
            minutes=treebank.minutes * row.cost,
        )

    def _combined(self, table: Table, row: Row, language: str) -> Run:
        members = self.runs_of(table, table.row(row.combines), language)
        seeds = "+".join(str(run.seed) for run in members)
        place = f"{table.id}.{row.id}.{language}.{seeds}"
        return replace(
            members[0], places=(place,), minutes=members[0].treebank.minutes * COST_TO_COMBINE, members=tuple(members)
        )


def _merged(run: Run, other: Run) -> Run:
    """The same run in two places."""
    return replace(run, places=run.places + other.places, wants_test=run.wants_test or other.wants_test)


def read_plan(files: Sequence[Path] = FILES, treebanks: Path = TREEBANKS) -> Plan:
    """All tables of some files, on the treebanks of another."""
    languages: dict[str, Treebank] = {}
    for language, values in read_toml(treebanks).items():
        where = f"{treebanks.name}: [{language}]"
        _check_id(language, where)
        languages[language] = build(Treebank, as_table(values, where), where, language=language)
    tables: list[Table] = []
    findings: list[Finding] = []
    references: list[Reference] = []
    for path in files:
        declared = read_toml(path)
        if unknown := {*declared} - {"table", "finding", "reference"}:
            raise DeclarationError(f"{path.name}: unknown {', '.join(sorted(unknown))}; it has [[table]]s")
        tables += [_table(values, path, languages) for values in tables_of(declared, "table", path.name)]
        for kind, known in ((Finding, findings), (Reference, references)):
            name = kind.__name__.lower()
            known += [build(kind, values, f"{path.name}: {name}") for values in tables_of(declared, name, path.name)]
    plan = Plan(languages, tables, findings, references, files)
    _check(plan)
    return plan


def _table(values: dict[str, Any], path: Path, treebanks: Mapping[str, Treebank]) -> Table:
    """``options``, ``settings``, ``seeds`` and ``cost`` of a table are those of its rows, which may change them."""
    where = f"{path.name}: table {values.get('id')}"
    values = dict(values)
    common = {name: values.pop(name) for name in COMMON if name in values}
    languages = values.setdefault("languages", list(treebanks))
    values["rows"] = [_row(row, common, languages, where) for row in tables_of(values, "row", where)]
    values.pop("row", None)
    return build(Table, values, where, {"row": "rows"}, COMMON)


def _row(values: Mapping[str, Any], common: Mapping[str, Any], languages: Sequence[str], where: str) -> Row:
    """``inherit = false``: the table's options and settings do not hold for this row."""
    row: dict[str, Any] = {"languages": languages, **values}
    shared: Mapping[str, Any] = common if row.pop("inherit", True) else {}
    for name in ("options", "settings"):
        if "options" in values or "settings" in values:
            each = [as_table(given.get(name, {}), f"{where}: {name}") for given in (shared, values)]
            row[name] = {**each[0], **each[1]}
    for name in ("seeds", "cost"):
        if name in common and "combines" not in row:
            row.setdefault(name, common[name])
    return build(Row, row, f"{where}: row {values.get('id')}", {}, ("inherit",))


def _check_id(name: str, where: str) -> None:
    if not re.fullmatch(r"[\w-]+", name):
        raise DeclarationError(f"{where}: {name!r} is part of the names of runs; take letters, digits, - and _ only")


def _check(plan: Plan) -> None:
    for table in plan.tables:
        for name in (table.id, *(row.id for row in table.rows)):
            _check_id(name, f"table {table.id}")
    if twice := [name for name, n in Counter(table.id for table in plan.tables).items() if n > 1]:
        raise DeclarationError(f"{', '.join(twice)}: two tables with one id; rename one")
    places = [f"{table.id}.{row.id}" for table in plan.tables for row in table.rows]
    if twice := [place for place, n in Counter(places).items() if n > 1]:
        raise DeclarationError(f"{', '.join(twice)}: two rows with one id; rename one")
    for table in plan.tables:
        if table.against:
            _require(plan, f"{table.id}.{table.against}", f"against, in table {table.id}")
            if table.rows[0].id != table.against:
                raise DeclarationError(f"{table.id}: against is {table.against}, which must be the table's first row")
        for row in table.rows:
            if row.combines:
                _check_combined(plan, table, row)
            if not row.is_ours and not row.paper:
                raise DeclarationError(
                    f"{table.id}.{row.id}: nothing to train; write options = {{}} for the table's own"
                )
            by_language = {*row.seeds} if isinstance(row.seeds, Mapping) else set[str]()
            unknown = {*row.languages} - {*plan.treebanks}
            unknown |= {*row.paper, *by_language} - {*plan.treebanks, *PAPERS_LANGUAGES}
            if unknown:
                raise DeclarationError(
                    f"{table.id}.{row.id}: unknown language {', '.join(sorted(unknown))}; "
                    f"there are {', '.join(plan.treebanks)}"
                )
            if wrong := {part for figures in row.paper.values() for part in figures} - {"dev", "test"}:
                raise DeclarationError(f"{table.id}.{row.id}: paper has dev and test, not {', '.join(sorted(wrong))}")
            for run in plan.runs_of(table, row):
                check_options(f"{table.id}.{row.id}", run.options, run.settings, predicted_tags=run.predicted_tags)
                for sign, name in run.vectors.items():
                    if not name:
                        lacks = f"[{run.treebank.language}] in the treebanks' TOML file has no {VECTORS[sign]}"
                        raise DeclarationError(f"{table.id}.{row.id}: its embeddings are {sign}, but {lacks}")
            if any(len({*row.seeds_of(name)}) < len(row.seeds_of(name)) for name in row.languages):
                raise DeclarationError(f"{table.id}.{row.id}: a seed stands twice")
    for finding in plan.findings:
        for pair in finding.pairs:
            if len(pair) != 2:
                raise DeclarationError(f"pairs, in finding {finding.id}: {list(pair)} is no pair of rows")
            for place in pair:
                _require(plan, place, f"pairs, in finding {finding.id}")
    for reference in plan.references:
        _require(plan, reference.row, f"row, in reference {reference.label}")
        if reference.language not in {*plan.treebanks, *PAPERS_LANGUAGES}:
            raise DeclarationError(f"reference {reference.label}: unknown language {reference.language}")


def _require(plan: Plan, place: str, where: str) -> None:
    try:
        plan.row(place)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error}") from None


def _check_combined(plan: Plan, table: Table, row: Row) -> None:
    """The row that is to be put together is trained with several seeds, and this one says nothing of trainings."""
    place = f"{table.id}.{row.id}"
    _require(plan, f"{table.id}.{row.combines}", f"combines, in {place}")
    other = table.row(row.combines)
    if row.options is not None or row.settings or row.predicted_tags or row.seeds != (1,):
        own = "options, settings, seeds or predicted_tags of its own"
        raise DeclarationError(f"{place}: combines {other.id}, so it has no {own}; take them out")
    if other.options is None or not {*row.languages} <= {*other.languages}:
        raise DeclarationError(f"{place}: {other.id} is not trained in all its languages")
    if any(len(other.seeds_of(language)) < 2 for language in row.languages):
        raise DeclarationError(f"{place}: {other.id} has not several seeds to put together")
